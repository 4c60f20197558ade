/* identity.h: which process owns the caller's memory; see identity.c. */
#ifndef PLATFORM_IDENTITY_H
#define PLATFORM_IDENTITY_H

#include "base/base.h"

/* Record that the calling process owns its memory. Call it when the process image begins, and in a
 * forked child, before either can share its memory. Async-signal-safe. */
void identity_own(void);

/* Whether the caller is a guest: a process in the memory of another one. Async-signal-safe. */
bool identity_is_guest(void);

/* The process that owns the caller's memory: the caller itself, unless it is a guest. Returns a
 * negative number in a quiet process. Async-signal-safe. */
int identity_pid(void);

#endif
