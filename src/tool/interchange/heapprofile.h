/* heapprofile.h: sampling heap profile for Chromium's DevTools. */
#ifndef INTERCHANGE_HEAPPROFILE_H
#define INTERCHANGE_HEAPPROFILE_H

#include "export/exporter.h"

/* Writes one metric, which readers take for bytes. Skips stacks whose value is not positive, and
 * names their sum in the title. */
export_fn export_heapprofile;

#endif
