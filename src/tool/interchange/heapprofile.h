/* heapprofile.h: the sampling heap profile of Chromium's DevTools. */
#ifndef INTERCHANGE_HEAPPROFILE_H
#define INTERCHANGE_HEAPPROFILE_H

#include "export/exporter.h"

/* Writes one metric, which readers take for bytes. Skips stacks whose value is not positive and
 * puts their sum into the title. */
export_fn export_heapprofile;

#endif
