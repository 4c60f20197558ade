/* massif.h: live bytes over time in massif's format, for ms_print and massif-visualizer. */
#ifndef INTERCHANGE_MASSIF_H
#define INTERCHANGE_MASSIF_H

#include "export/exporter.h"

/* Writes live bytes, whatever the metric; without a history, at the peak and the end. Negative
 * stacks count as 0. */
export_fn export_massif;

#endif
