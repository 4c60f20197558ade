/* start.h: starts recording in this process; see start.c. */
#ifndef EVENT_START_H
#define EVENT_START_H

#include "base/base.h"

/* Start recording if it has not started. Return true if this process records. Never blocks: while
 * another thread is starting, events are lost and counted. Requires an event and blocked
 * signals. */
bool start_recording(void);

/* Return true if the state could not be allocated, in this process or in one that it was forked
 * from. It is not allocated later, unless another thread has done so in the meantime. */
bool start_has_failed(void);

/* Prepare for a program that forbids every system call. Requires a reserve, which contains all
 * memory that will ever be used, and that recording has started. Call once, before main. */
void start_seal(void);

#endif
