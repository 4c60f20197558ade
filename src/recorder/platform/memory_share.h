/* memory_share.h: the share of the machine's memory that the recorder takes by default. */
#ifndef PLATFORM_MEMORY_SHARE_H
#define PLATFORM_MEMORY_SHARE_H

#include "base/base.h"

/* Return a quarter of the machine's memory or of the lowest limit on the process's control groups,
 * whichever is less. Return 1 GiB if none is known. Reads files of the kernel; one thread at a
 * time. */
uint64_t memory_share(void);

#endif
