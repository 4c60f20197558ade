/* firefox.h: a processed profile of the Firefox Profiler, with allocations over time. */
#ifndef LINES_FIREFOX_H
#define LINES_FIREFOX_H

#include "export/exporter.h"

/* Bytes allocated and bytes in use, at the moments of the profile's snapshots; of a profile without
 * a history all at its end. Refuses other metrics, and a profile that was cut. */
export_fn export_firefox;

#endif
