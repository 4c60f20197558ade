/* interchange.h: the formats of this room, one exporter each. */
#ifndef INTERCHANGE_INTERCHANGE_H
#define INTERCHANGE_INTERCHANGE_H

#include "export/exporter.h"

/* --- callgrind.c: call graph in callgrind's format, for kcachegrind and callgrind_annotate. */

/* Writes all known metrics, the requested one first. Negative values count as 0. */
export_fn export_callgrind;

/* --- collapsed.c: collapsed stacks, one line each. */

/* Writes one metric; skips stacks whose value is not positive. */
export_fn export_collapsed;

/* --- csv.c: one row per stack, for spreadsheets and data frames. */

/* Writes all known counters, including negative values. The requested metric sorts the rows. */
export_fn export_csv;

/* --- dhat.c: format of dh_view.html, the viewer of valgrind's DHAT. */

/* Writes allocated, peak and final live amounts, whatever the metric. Negative values count as 0.
 * Requires a whole run, because only that has a peak. */
export_fn export_dhat;

/* --- firefox.c: processed profile of the Firefox Profiler, with allocations over time. */

/* Writes bytes allocated and bytes in use at the profile's snapshots; without a history, everything
 * at the end. Refuses other metrics and cut profiles. */
export_fn export_firefox;

/* --- heapprofile.c: sampling heap profile for Chromium's DevTools. */

/* Writes one metric, which readers take for bytes. Skips stacks whose value is not positive, and
 * names their sum in the title. */
export_fn export_heapprofile;

/* --- heaptrack.c: event stream whose sums equal the counters, for heaptrack_print and
 * heaptrack_gui. */

/* Writes allocations, temporary ones, peak and final live amounts, and bytes in use over time,
 * whatever the metric. Requires a whole run, because only that has a peak. */
export_fn export_heaptrack;

/* --- massif.c: live bytes over time in massif's format, for ms_print and massif-visualizer. */

/* Writes live bytes, whatever the metric; without a history, at the peak and the end. Negative
 * stacks count as 0. */
export_fn export_massif;

/* --- speedscope.c: file format of speedscope. */

/* Writes all known metrics, the requested one first. Each metric skips stacks whose value is not
 * positive, and names their sum in its title. */
export_fn export_speedscope;

#endif
