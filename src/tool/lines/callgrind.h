/* callgrind.h: the call graph in callgrind's format, for kcachegrind and callgrind_annotate. */
#ifndef LINES_CALLGRIND_H
#define LINES_CALLGRIND_H

#include "export/exporter.h"

/* All metrics that are known, the chosen one first; values that are negative count as 0. */
export_fn export_callgrind;

#endif
