/* pprof.h: pprof's two formats. */
#ifndef PPROF_PPROF_H
#define PPROF_PPROF_H

#include "export/exporter.h"

/* --- pprof_proto.c: pprof's format, gzipped. */

/* Write all metrics; pprof shows the chosen one first. */
export_fn export_pprof;

/* --- pprof_text.c: the heap profile of gperftools, as text. */

/* Write live and allocated blocks and bytes; the metric does not matter. */
export_fn export_pprof_text;

#endif
