/* start.h: the beginning of recording in this process; see start.c. */
#ifndef EVENT_START_H
#define EVENT_START_H

#include "base/base.h"

/* Start recording unless that is done. Return true if this process records. Never blocks: events
 * are lost and counted while another thread is starting. Requires an event and signals
 * blocked. */
bool start_recording(void);

/* Return true if the state could not be allocated, in this process or one that it was forked from.
 * Then there will be none, unless another thread has allocated it meanwhile. */
bool start_has_failed(void);

/* With a reserve, which holds all memory that will ever be used: from here on the program may
 * forbid every system call. Requires that recording has started; call once, before main. */
void start_seal(void);

#endif
