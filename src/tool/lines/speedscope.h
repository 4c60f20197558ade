/* speedscope.h: the file format of speedscope. */
#ifndef LINES_SPEEDSCOPE_H
#define LINES_SPEEDSCOPE_H

#include "export/exporter.h"

/* All metrics that are known, the one asked for shown first. Stacks of which a metric is not
 * positive are left out there, and their sum is in its name. */
export_fn export_speedscope;

#endif
