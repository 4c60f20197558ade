/* pprof_text.h: the heap profile of gperftools, as text. */
#ifndef PPROF_PPROF_TEXT_H
#define PPROF_PPROF_TEXT_H

#include "export/exporter.h"

/* Write live and allocated blocks and bytes; the metric does not matter. */
export_fn export_pprof_text;

#endif
