/* pprof_text.h: the heap profile of gperftools, as text. */
#ifndef PPROF_PPROF_TEXT_H
#define PPROF_PPROF_TEXT_H

#include "export/exporter.h"

/* Writes live and allocated blocks and bytes, whatever the metric. */
export_fn export_pprof_text;

#endif
