/* live_memory.h: the memory of a process that runs. */
#ifndef IMAGE_LIVE_MEMORY_H
#define IMAGE_LIVE_MEMORY_H

#include "image/memory.h"

/* Open the memory of process PID. It goes on running, and what is read is of the moment of the
 * reading. Returns 0 and an owned *RET (memory_close), or HEAPTAP_BAD_INPUT with ERR set. */
int live_memory_open(uint32_t pid, struct memory *ret, struct err *err);

#endif
