/* firefox.h: processed profile of the Firefox Profiler, with allocations over time. */
#ifndef INTERCHANGE_FIREFOX_H
#define INTERCHANGE_FIREFOX_H

#include "export/exporter.h"

/* Writes bytes allocated and bytes in use at the profile's snapshots; without a history, everything
 * at the end. Refuses other metrics and cut profiles. */
export_fn export_firefox;

#endif
