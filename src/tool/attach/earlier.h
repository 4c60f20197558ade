/* earlier.h: count the blocks that a process has before a recorder is attached. */
#ifndef ATTACH_EARLIER_H
#define ATTACH_EARLIER_H

#include "attach/attach_how.h"

/* Count the blocks that glibc has allocated in process PID, which keeps running. Store their number
 * and their usable bytes in HOW; 0 if they are not known: another allocator, a heap that changed
 * too fast, or one that is too large to be read. */
void earlier_count(uint32_t pid, struct attach_how *how);

#endif
