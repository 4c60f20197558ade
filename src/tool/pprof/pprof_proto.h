/* pprof_proto.h: pprof's format, gzipped. */
#ifndef PPROF_PPROF_PROTO_H
#define PPROF_PPROF_PROTO_H

#include "export/exporter.h"

/* Write all metrics; pprof shows the chosen one first. */
export_fn export_pprof;

#endif
