/* asking.h: asking the recorders of running processes for something. */
#ifndef COMMAND_ASKING_H
#define COMMAND_ASKING_H

#include "profile/control.h"
#include "util/arena.h"

/* What is asked for. */
struct asking {
    // Ask one process for WHAT; control_finish follows if that gives 0.
    int (*ask)(struct control *c, const void *what, uint64_t wait_ns, struct err *err);
    // It was taken. Returns the exit code.
    int (*tell)(const struct control *c, const void *what, struct arena *a);
    const void *what;
    uint64_t wait_s; // How long to wait for all answers.
};

/* Ask the processes of COUNT profiles or pids, of several only those that live. Says what has gone
 * wrong; returns the exit code: 1 if a request was not taken yet. */
int ask_processes(const char **paths, size_t count, const struct asking *asking, struct arena *a);

#endif
