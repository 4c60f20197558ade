/* pprof_proto.h: the format of pprof, gzipped. */
#ifndef PPROF_PPROF_PROTO_H
#define PPROF_PPROF_PROTO_H

#include "export/exporter.h"

/* Writes all metrics; pprof shows the chosen one first. */
export_fn export_pprof;

#endif
