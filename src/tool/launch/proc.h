/* proc.h: current state of processes. A process may end at any time, so no function here fails. */
#ifndef LAUNCH_PROC_H
#define LAUNCH_PROC_H

#include <sys/types.h>

#include "util/arena.h"

/* How many bytes of PID's memory are of no file and not shared, without the main thread's stack; 0
 * if it is gone. */
int64_t proc_anonymous_bytes(pid_t pid);

/* Return the path of PID's executable, in ARENA; NULL = unknown. */
const char *proc_executable(pid_t pid, struct arena *arena);

/* Add the files that PID has code mapped from to the COUNT that are in FILES, as far as they are
 * new and no more than MAX; returns how many there are then. Texts are from ARENA. */
size_t proc_add_code_files(pid_t pid, struct arena *arena, const char **files, size_t count,
                           size_t max);

enum { PROC_CHILDREN_MAX = 256 };

/* Processes that PID has started, the first of them if there are many; returns how many are in
 * RET. */
size_t proc_children(pid_t pid, pid_t ret[PROC_CHILDREN_MAX]);

#endif
