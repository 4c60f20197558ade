/* identity.h: the process that owns the caller's memory; see identity.c. */
#ifndef PLATFORM_IDENTITY_H
#define PLATFORM_IDENTITY_H

#include "base/base.h"

/* Record that the calling process owns its memory. Call it when the process image starts, and in
 * each forked child, before a vfork or clone(CLONE_VM) can share that memory. Async-signal-safe. */
void identity_own(void);

/* Return true if the caller is a guest: a process that runs in the memory of another one.
 * Async-signal-safe. */
bool identity_is_guest(void);

/* Return the id of the process that owns the caller's memory. This is the caller itself, unless it
 * is a guest. Returns a negative number in a quiet process. Async-signal-safe. */
int identity_pid(void);

#endif
