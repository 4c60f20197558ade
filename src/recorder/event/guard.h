/* guard.h: keep the program alive when pages of the profile disappear. */
#ifndef EVENT_GUARD_H
#define EVENT_GUARD_H

#include "base/base.h"

/* Handle SIGBUS, to guard this process's mapped file, and the snapshot signal, each if the program
 * leaves it at its default. */
void guard_start(void);

/* A guest (platform/identity.h) has started recording: do guard_start for the owner of its memory.
 * Return false, with nothing done, if the caller is a guest. */
bool guard_settle(void);

#endif
