/* guard.h: a profile whose pages go away must not take the program with it. */
#ifndef EVENT_GUARD_H
#define EVENT_GUARD_H

#include "base/base.h"

/* Watch over the mapped file of this process, if the program leaves SIGBUS to its default; and take
 * the signal that is to be a snapshot, if it leaves that one. */
void guard_start(void);

/* A guest (platform/identity.h) has started recording: do guard_start for the owner of its memory.
 * Return false, with nothing done, if the caller is a guest. */
bool guard_settle(void);

#endif
