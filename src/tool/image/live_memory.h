/* live_memory.h: the memory of a process that runs. */
#ifndef IMAGE_LIVE_MEMORY_H
#define IMAGE_LIVE_MEMORY_H

#include "image/memory.h"

/* Open the memory of process PID. It goes on running, and what is read is of the moment of the
 * reading. Returns 0 and an owned *RET (memory_close), or HEAPTAP_BAD_INPUT with ERR set. */
int live_memory_open(uint32_t pid, struct memory *ret, struct err *err);

/* See where the memory of M, which is open, lies by now. */
void live_memory_renew(struct memory *m);

/* Stop all threads of M, which is open, so that what is read next is of one moment; and see what
 * they are at, which is in its threads then. Returns how many go on running all the same. One that
 * the kernel holds is in threads without registers. */
size_t live_memory_stop(struct memory *m);

/* Let them go on. M can still be read. */
void live_memory_go_on(struct memory *m);

#endif
