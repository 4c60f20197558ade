/* heaptrack.h: event stream whose sums equal the counters, for heaptrack_print and
 * heaptrack_gui. */
#ifndef INTERCHANGE_HEAPTRACK_H
#define INTERCHANGE_HEAPTRACK_H

#include "export/exporter.h"

/* Writes allocations, temporary ones, peak and final live amounts, and bytes in use over time,
 * whatever the metric. Requires a whole run, because only that has a peak. */
export_fn export_heaptrack;

#endif
