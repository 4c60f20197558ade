/* worker.h: a child of the server that reads profiles and symbols. */
#ifndef SERVE_WORKER_H
#define SERVE_WORKER_H

#include <sys/types.h>

#include "util/strbuf.h"

struct worker {
    pid_t pid;
    int fd;             // Its output; -1 = closed.
    uint64_t end_ns;    // Monotonic time at which it is killed.
    struct strbuf output;
};

enum worker_state { WORKER_RUNS, WORKER_DONE, WORKER_FAILED };

/* Start a child that calls JOB with ARG and a descriptor for its output, and exits. It may live for
 * SECONDS. Return false with errno set if that fails. */
bool worker_start(struct worker *w, void (*job)(void *arg, int fd), void *arg, unsigned seconds);

/* Read what W has written. WORKER_DONE: all of it is in W->output, and W has ended well. Kills a
 * child that is late or writes too much. After WORKER_RUNS call again when W->fd is readable. */
enum worker_state worker_read(struct worker *w);

/* End W, whatever its state, and release its output. */
void worker_end(struct worker *w);

/* In a child: write SIZE_BYTES at DATA to FD, or exit. */
void worker_write(int fd, const void *data, size_t size_bytes);

/* In a child: wait until no other child reads a profile, and hold them off until the next call of
 * worker_leave, or the end. */
void worker_enter(void);
void worker_leave(void);

#endif
