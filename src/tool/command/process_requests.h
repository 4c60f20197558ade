/* process_requests.h: send requests to the recorders of running processes. */
#ifndef COMMAND_PROCESS_REQUESTS_H
#define COMMAND_PROCESS_REQUESTS_H

#include "profile/control.h"
#include "util/arena.h"

/* A kind of request, and its argument `what`. */
struct process_request {
    // Send WHAT to one process. If it returns 0, the caller waits for the answer by control_finish.
    int (*ask)(struct control *c, const void *what, uint64_t wait_ns, struct err *err);
    // Report that the process accepted the request. Returns the exit code.
    int (*report)(const struct control *c, const void *what, struct arena *a);
    const void *what;
    uint64_t wait_s; // Total time to wait for all answers.
};

/* Send the request to the processes of COUNT profiles or pids. If there are several, skip ended
 * processes. Reports failures. Returns the exit code: 1 if a process has not accepted its request
 * yet. */
int process_requests_send(const char **paths, size_t count,
                          const struct process_request *process_request, struct arena *a);

#endif
