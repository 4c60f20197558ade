/* dhat.h: the format of dh_view.html, the viewer of valgrind's DHAT. */
#ifndef INTERCHANGE_DHAT_H
#define INTERCHANGE_DHAT_H

#include "export/exporter.h"

/* Writes allocated, peak and final live amounts, whatever the metric; negative values count as 0.
 * Only a whole run has a peak. */
export_fn export_dhat;

#endif
