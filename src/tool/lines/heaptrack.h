/* heaptrack.h: a list of events that comes to what was counted, for heaptrack_print and
 * heaptrack_gui. */
#ifndef LINES_HEAPTRACK_H
#define LINES_HEAPTRACK_H

#include "export/exporter.h"

/* Allocations, temporary ones, what was live at the peak and in the end, and bytes in use over
 * time, whatever the metric. The peak is of a whole run only. */
export_fn export_heaptrack;

#endif
