/* heapprofile.h: the sampling heap profile of Chromium's DevTools. */
#ifndef LINES_HEAPPROFILE_H
#define LINES_HEAPPROFILE_H

#include "export/exporter.h"

/* One metric, which its readers take for bytes; stacks of which it is not positive are left out,
 * and their sum is in the title. */
export_fn export_heapprofile;

#endif
