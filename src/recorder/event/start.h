/* start.h: starts recording in this process; see start.c. */
#ifndef EVENT_START_H
#define EVENT_START_H

#include <sys/types.h>

#include "account/thread.h"
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

/* --- fork_child.c: handles a fork in a signal handler that has interrupted the recorder. */

/* Call the C library's FORK_FUNCTION, and let the child finish the event that the handler has
 * interrupted. Requires REENTRY_IN_RECORDER. */
pid_t fork_child_fork(pid_t (*fork_function)(void));

/* Return true if the process stays off: it is not recorded, or it is the child of such a fork and
 * still in the interrupted event or in its handler. In the latter case, count the caller's event as
 * lost. Return false after that event: recording can then start again. Requires READY_OFF. */
bool fork_child_waits(void);

/* Add the events that the child has lost so far to its profile, which has just been created. */
void fork_child_report(void);

/* --- join.c: assigns a struct to each thread; see join.c. */

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
