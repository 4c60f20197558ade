/* pprof_proto.h: the format of pprof, gzipped. */
#ifndef PPROF_PPROF_PROTO_H
#define PPROF_PPROF_PROTO_H

#include "export/exporter.h"

/* All metrics; the chosen one is what pprof shows first. */
export_fn export_pprof;

#endif
