/* run_process.h: the processes of a run, by their profiles, and the choice of the main process.
 */
#ifndef LAUNCH_RUN_PROCESS_H
#define LAUNCH_RUN_PROCESS_H

#include <sys/types.h>

#include "profile/profile.h"

/* An image of a process: one that calls exec is several. Texts are its owner's. */
struct run_process {
    const char *path; // Path of its profile.
    uint32_t pid;
    uint64_t start_unix_ns;
    const char *executable, *command, *comm; // As in struct profile and session_who.
    struct counters totals;
    struct profile_losses losses;
    bool running; // The profile is still being written.
};

/* Why a process is the main one. */
enum run_head {
    HEAD_NONE,   // There is no profile.
    HEAD_FIRST,  // The process that was started,
    HEAD_BECAME, // or its latest program after exec.
    HEAD_MOST,   // The started process did little itself: the process that allocated most.
};

/* Choose the main process of the run of FIRST_PID among the COUNT processes V. Store its index in
 * *RET. */
enum run_head run_process_head(const struct run_process *v, size_t count, pid_t first_pid,
                               size_t *ret);

/* Return the last image of process PID among those in V, or COUNT. */
size_t run_process_last(const struct run_process *v, size_t count, pid_t pid);

#endif
