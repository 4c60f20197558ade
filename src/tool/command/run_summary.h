/* run_summary.h: the summary that `heaptap run` prints when the program has ended. */
#ifndef COMMAND_RUN_SUMMARY_H
#define COMMAND_RUN_SUMMARY_H

#include "launch/run.h"
#include "launch/run_notes.h"
#include "profile/control.h"
#include "util/arena.h"

/* A run that has ended, and its profiles. */
struct run_summary {
    const struct run_process *processes;
    size_t count;
    size_t head; // Index of the main process; valid unless `why` is HEAD_NONE.
    enum run_head why;
    struct profile *p; // Profile of the main process; NULL = unreadable.
    bool named;        // P has symbols.
    const char *directory; // Directory of the other processes' profiles.
    const struct run_notes *notes;
    size_t running;   // Number of processes that still write their profile.
    bool interrupted; // The user interrupted the run, so its profiles were not packed.
    int status;       // Status of the first process, as from wait.
    bool oom_killed;  // See launch/run.h.
};

/* Print the summary on stderr, in about ten lines. */
void run_summary(const struct run_summary *s);

/* --- cmd_pack.c: `heaptap pack`. */

/* Pack the profile PATH in place, and print its size. Returns the exit code; errors have been
 * printed. */
int pack_file(const char *path);

/* --- process_requests.c: send requests to the recorders of running processes. */

/* A kind of request: the functions that send and report such a request, and their argument
 * `what`. */
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
