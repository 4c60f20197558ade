/* start.h: the beginning of recording in this process; see start.c. */
#ifndef EVENT_START_H
#define EVENT_START_H

#include "base/base.h"

/* Start recording unless that has been done: true when this process records. Never blocks: while
 * another thread is starting, events are lost and counted. Called with tls.busy set and
 * signals blocked. */
bool start_recording(void);

/* Could there be no state, in this process or one that it was forked from? Then, unless another
 * thread has made one meanwhile, there will be none. */
bool start_has_failed(void);

/* With a reserve, which holds all memory that will ever be used: from here on the program may
 * forbid every system call. Recording has started; called once, before main. */
void start_seal(void);

#endif
