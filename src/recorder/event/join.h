/* join.h: how a thread gets its struct; see join.c. */
#ifndef EVENT_JOIN_H
#define EVENT_JOIN_H

#include "account/thread.h"

/* The calling thread's struct, made or taken over if it has none; starts recording if need be.
 * NULL: this event cannot be recorded (it has been counted). Sets tls.busy to BUSY_RECORDER in any
 * case. */
struct thread *join_thread(void);

/* The struct for events of a handler that has interrupted the recorder at work with T, or NULL if
 * there can be none (not counted). A second row of this thread: to the shared tables its events are
 * those of another thread, which they can take at any moment. */
struct thread *join_nested(struct thread *t);

/* T, the calling thread's, is to look up what has changed since it was told to (thread_tell). */
void join_look_up(struct thread *t);

#endif
