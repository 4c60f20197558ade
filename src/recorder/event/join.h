/* join.h: how a thread gets its struct; see join.c. */
#ifndef EVENT_JOIN_H
#define EVENT_JOIN_H

#include "account/thread.h"

/* Return the calling thread's struct, made or reused if it has none; starts recording if need be.
 * NULL: this event cannot be recorded, which is counted. Call in an event. */
struct thread *join_thread(void);

/* A forked child begins: drop the calling thread's reference to its parent's struct, which another
 * thread of the child could reuse or unmap. Requires that no event is in progress: there the struct
 * is still needed, and fork_child.c has put it back. Async-signal-safe. */
void join_forked(void);

/* Return the struct for events of a handler that has interrupted the recorder at work with T; NULL
 * if there is none (not counted). It is a second row of this thread: to the shared tables, its
 * events look like another thread's, which may occur at any moment. */
struct thread *join_nested(struct thread *t);

/* Look up the changes since T, the calling thread's, was marked stale (thread_invalidate). */
void join_refresh(struct thread *t);

#endif
