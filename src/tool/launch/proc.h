/* proc.h: current state of processes. A process may end at any time, so no function here fails. */
#ifndef LAUNCH_PROC_H
#define LAUNCH_PROC_H

#include <sys/types.h>

#include "base/base.h"
#include "util/arena.h"

/* Return the bytes of PID's anonymous, private memory without the main thread's stack; 0 if the
 * process is gone. */
int64_t proc_anonymous_bytes(pid_t pid);

/* Return the bytes of PID's resident memory; 0 if the process is gone. */
int64_t proc_resident_bytes(pid_t pid);

/* Return the path of PID's executable, from ARENA; NULL = unknown. */
const char *proc_executable(pid_t pid, struct arena *arena);

/* Return the value of the variable NAME in the environment with which PID was executed, from ARENA;
 * NULL = not set, or the process is gone. */
const char *proc_variable(pid_t pid, const char *name, struct arena *arena);

/* Add the files of PID's code mappings to the COUNT in FILES: only new ones, up to MAX in all.
 * Returns the new count. Texts are from ARENA. */
size_t proc_add_code_files(pid_t pid, struct arena *arena, const char **files, size_t count,
                           size_t max);

enum { PROC_CHILDREN_MAX = 256 };

/* Store the children of PID in RET, at most PROC_CHILDREN_MAX. Returns their number. */
size_t proc_children(pid_t pid, pid_t ret[PROC_CHILDREN_MAX]);

/* --- periodic.c: request snapshots from all processes of a run at regular intervals. */

struct periodic {
    uint64_t session_id;
    uint64_t period_ns;         // 0 = never.
    const char *directories[2]; // Directories of the profiles; NULL = none. They may not exist.
    uint64_t start_ns, turns;   // Time of the first call, and number of snapshots due since then.
};

/* Request snapshots if they are due. Requires P->period_ns != 0. Returns the ns until the next. */
uint64_t periodic_poll(struct periodic *p);

#endif
