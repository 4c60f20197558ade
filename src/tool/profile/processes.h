/* processes.h: facts from /proc about a running process. */
#ifndef PROFILE_PROCESSES_H
#define PROFILE_PROCESSES_H

#include "util/arena.h"

/* Return the time when process PID started, in clock ticks since boot; 0 if it is not alive. */
uint64_t processes_start(uint32_t pid);

/* Return the id of process PID in its innermost pid namespace; PID itself if that is our namespace,
 * 0 if the process is gone. */
uint32_t processes_inner_pid(uint32_t pid);

/* Return a thread of process PID through which /proc shows its memory and its root: PID itself, or
 * another if the first thread has ended. */
uint32_t processes_thread(uint32_t pid);

/* Return true if process PID was executed with the variable NAME in its environment. */
bool processes_has_variable(uint32_t pid, const char *name);

/* Return our path to the root directory of process PID, from ARENA. Return NULL if it is our own
 * root directory, or unknown. */
const char *processes_root(uint32_t pid, struct arena *arena);

/* A process in another pid namespace. */
struct processes_stranger {
    uint32_t pid, inner_pid;
};

/* Return the living processes of other pid namespaces, at most half a second out of date. Valid
 * until the next call. */
const struct processes_stranger *processes_strangers(size_t *ret_count);

#endif
