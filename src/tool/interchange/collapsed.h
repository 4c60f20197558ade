/* collapsed.h: collapsed stacks, one line each. */
#ifndef INTERCHANGE_COLLAPSED_H
#define INTERCHANGE_COLLAPSED_H

#include "export/exporter.h"

/* Writes one metric; skips stacks whose value is not positive. */
export_fn export_collapsed;

#endif
