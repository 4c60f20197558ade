/* live_memory.h: the memory of a process that runs. */
#ifndef IMAGE_LIVE_MEMORY_H
#define IMAGE_LIVE_MEMORY_H

#include "image/memory.h"

/* Open the memory of process PID. It goes on running, and what is read is of the moment of the
 * reading. Returns 0 and an owned *RET (memory_close), or HEAPTAP_BAD_INPUT with ERR set. */
int live_memory_open(uint32_t pid, struct memory *ret, struct err *err);

/* See where the memory of M, which is open, lies by now. */
void live_memory_renew(struct memory *m);

enum live_stop {
    LIVE_STOP_ALL,
    LIVE_STOP_SPARING, // All but threads asleep in fragile calls (image/restart_call.h).
};

/* Wait until no thread of M is asleep in a fragile call, for a second at most. */
void live_memory_await(struct memory *m);

/* Stop threads of M, which is open, as HOW says, so that what is read next is of one moment. Store
 * them in M. Returns how many keep running. A thread that is spared or held by the kernel has no
 * registers. */
size_t live_memory_stop(struct memory *m, enum live_stop how);

/* Whether a thread that live_memory_stop spared may have run since. */
bool live_memory_moved(struct memory *m);

/* The process that traces M or one of its threads, and its name, from M's arena. Returns 0 if there
 * is none that we can see. Requires M not to be stopped by us. */
uint32_t live_memory_tracer(struct memory *m, const char **ret_name);

/* Resume them. M can still be read. */
void live_memory_go_on(struct memory *m);

#endif
