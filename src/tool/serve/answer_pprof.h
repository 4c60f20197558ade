/* answer_pprof.h: the answers below /debug/pprof. */
#ifndef SERVE_ANSWER_PPROF_H
#define SERVE_ANSWER_PPROF_H

#include "serve/targets.h"

/* Size of a body that servers accept everywhere. */
#define SERVE_BODY_BYTES ((size_t)4 << 20)

/* The output of a child begins with this; the body follows. */
struct answer_head {
    uint32_t status;
    char type[64]; // Content type.
};

struct answer_job {
    const struct serve_options *options;
    struct serve_request request;
    int64_t since; // Wall clock when the server started.
};

/* Job of a worker, with a struct answer_job: answer a request below /debug/pprof. */
void answer_pprof(void *job, int fd);

#endif
