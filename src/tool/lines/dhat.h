/* dhat.h: what dh_view.html reads, the viewer of valgrind's DHAT. */
#ifndef LINES_DHAT_H
#define LINES_DHAT_H

#include "export/exporter.h"

/* What was allocated, live at the peak and live in the end, whatever the metric; negative values
 * count as 0. The peak is of a whole run only. */
export_fn export_dhat;

#endif
