/* run_process.h: processes of a run, by their profiles, and the choice of the main process. */
#ifndef LAUNCH_RUN_PROCESS_H
#define LAUNCH_RUN_PROCESS_H

#include <sys/types.h>

#include "profile/profile.h"

/* A process between two execs, which has its own profile. The owner of the struct owns its
 * texts. */
struct run_process {
    const char *path; // Path of its profile.
    uint32_t pid;
    uint64_t start_unix_ns;
    const char *executable, *command, *comm; // As in struct profile and session_who.
    struct counters totals;
    struct profile_losses losses;
    bool running; // The process lives and still writes its profile.
};

/* Reason for the choice of the main process. */
enum run_head {
    HEAD_NONE,   // There is no profile.
    HEAD_FIRST,  // The process that was started.
    HEAD_BECAME, // The process that was started, after its last exec.
    HEAD_MOST,   // The process that allocated most: the started one did little itself.
};

/* Choose the main process of the run of FIRST_PID among the COUNT processes V, and store its index
 * in *RET. */
enum run_head run_process_head(const struct run_process *v, size_t count, pid_t first_pid,
                               size_t *ret);

/* Return the index in V of process PID after its last exec, or COUNT. */
size_t run_process_last(const struct run_process *v, size_t count, pid_t pid);

#endif
