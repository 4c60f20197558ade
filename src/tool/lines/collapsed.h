/* collapsed.h: collapsed stacks, one line each. */
#ifndef LINES_COLLAPSED_H
#define LINES_COLLAPSED_H

#include "export/exporter.h"

/* Writes one metric; skips stacks whose value is not positive. */
export_fn export_collapsed;

#endif
