/* collapsed.h: collapsed stacks, one line each. */
#ifndef LINES_COLLAPSED_H
#define LINES_COLLAPSED_H

#include "export/exporter.h"

/* One metric; stacks of which it is not positive are left out. */
export_fn export_collapsed;

#endif
