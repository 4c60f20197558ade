/* callgrind.h: call graph in callgrind's format, for kcachegrind and callgrind_annotate. */
#ifndef INTERCHANGE_CALLGRIND_H
#define INTERCHANGE_CALLGRIND_H

#include "export/exporter.h"

/* Writes all known metrics, the requested one first. Negative values count as 0. */
export_fn export_callgrind;

#endif
