/* dhat.h: format of dh_view.html, the viewer of valgrind's DHAT. */
#ifndef INTERCHANGE_DHAT_H
#define INTERCHANGE_DHAT_H

#include "export/exporter.h"

/* Writes allocated, peak and final live amounts, whatever the metric. Negative values count as 0.
 * Requires a whole run, because only that has a peak. */
export_fn export_dhat;

#endif
