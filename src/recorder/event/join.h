/* join.h: assigns a struct to each thread; see join.c. */
#ifndef EVENT_JOIN_H
#define EVENT_JOIN_H

#include "account/thread.h"

/* Return the calling thread's struct. If it has none, start recording if necessary, and create a
 * struct or reuse one. If that fails, count the event as lost and return NULL. Call in an event. */
struct thread *join_thread(void);

/* In a forked child, drop the calling thread's reference to the parent's struct, which another
 * thread of the child could reuse or unmap. Requires that no event is in progress: during an event
 * the struct is still needed, and fork_child.c has restored it. Async-signal-safe. */
void join_forked(void);

/* Return the struct for events of a handler that has interrupted the recorder while it used T; NULL
 * if there is none (not counted). The struct is a second row of this thread. So to the shared
 * tables its events look like those of another thread, which may occur at any moment. */
struct thread *join_nested(struct thread *t);

/* Read the changes since T, the calling thread's struct, was marked stale (thread_invalidate). */
void join_refresh(struct thread *t);

#endif
