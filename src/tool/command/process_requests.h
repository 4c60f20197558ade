/* process_requests.h: send requests to the recorders of running processes. */
#ifndef COMMAND_PROCESS_REQUESTS_H
#define COMMAND_PROCESS_REQUESTS_H

#include "profile/control.h"
#include "util/arena.h"

/* The request. */
struct process_request {
    // Ask one process for WHAT; control_finish follows if this returns 0.
    int (*ask)(struct control *c, const void *what, uint64_t wait_ns, struct err *err);
    // The request was taken. Returns the exit code.
    int (*report)(const struct control *c, const void *what, struct arena *a);
    const void *what;
    uint64_t wait_s; // How long to wait for all answers.
};

/* Send the request to the processes of COUNT profiles or pids; if there are several, only to those
 * that live. Reports failures. Returns the exit code: 1 if a process has not taken its request
 * yet. */
int process_requests_send(const char **paths, size_t count,
                          const struct process_request *process_request, struct arena *a);

#endif
