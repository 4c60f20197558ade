/* memprof_raw.h: the raw memory profile of LLVM. */
#ifndef MEMPROF_MEMPROF_RAW_H
#define MEMPROF_MEMPROF_RAW_H

#include "export/exporter.h"

/* Write the use of blocks; the metric does not matter. Returns HEAPTAP_USAGE if no accesses were
 * counted. */
export_fn export_memprof;

#endif
