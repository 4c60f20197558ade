/* living.h: facts from /proc about a running process. */
#ifndef PROFILE_LIVING_H
#define PROFILE_LIVING_H

#include "util/arena.h"

/* When process PID started, in ticks since the machine did; 0 if it does not live. */
uint64_t living_start(uint32_t pid);

/* What PID is called in its own, innermost, pid namespace: PID itself if that is ours; 0 if it is
 * gone. */
uint32_t living_inner_pid(uint32_t pid);

/* A thread of process PID through which /proc shows its memory and its root: PID itself, or another
 * where the first thread has ended and others have not. */
uint32_t living_thread(uint32_t pid);

/* Return true if process PID was executed with the variable NAME in its environment. */
bool living_has_variable(uint32_t pid, const char *name);

/* Return the path under which we reach the root directory of process PID, from ARENA; NULL if it is
 * our own root directory, or not known. */
const char *living_root(uint32_t pid, struct arena *arena);

/* A process of another pid namespace than ours. */
struct living_stranger {
    uint32_t pid, inner_pid;
};

/* The strangers that live, as they were half a second ago or later. Valid until the next call. */
const struct living_stranger *living_strangers(size_t *ret_count);

#endif
