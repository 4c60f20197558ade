/* start.h: starts recording in this process; see start.c. */
#ifndef EVENT_START_H
#define EVENT_START_H

#include <sys/types.h>

#include "account/thread.h"
#include "base/base.h"

/* Start recording if it has not started. Return true if this process records. Never blocks: while
 * another thread starts recording, this thread's events are counted as lost. Call in an event, with
 * signals blocked. */
bool start_recording(void);

/* Return true if the state could not be allocated, in this process or in an ancestor that forked
 * it. The state is not allocated later, unless another thread has already allocated it. */
bool start_has_failed(void);

/* Prepare for a program that forbids every system call. Requires a reserve, which contains all
 * memory that will ever be used, and that recording has started. Call once, before main. */
void start_seal(void);

/* --- fork_child.c: handles a fork in a signal handler that has interrupted the recorder. */

/* Call the C library's FORK_FUNCTION, and let the child finish the event that the handler has
 * interrupted. Requires REENTRY_IN_RECORDER. */
pid_t fork_child_fork(pid_t (*fork_function)(void));

/* Return true if the process stays off. Either it is not recorded, or it is the child of a fork in
 * a handler, and has not finished the interrupted event. In the latter case, count the caller's
 * event as lost. After that event, return false: recording can start again. Requires READY_OFF. */
bool fork_child_waits(void);

/* Add the events that the child has lost so far to its newly created profile. */
void fork_child_report(void);

/* --- join.c: assigns a struct to each thread; see join.c. */

/* Return the calling thread's struct. If it has none, start recording if necessary, and create a
 * struct or reuse one. If that fails, count the event as lost and return NULL. Call in an event. */
struct thread *join_thread(void);

/* In a forked child, drop the calling thread's reference to the parent's struct, because another
 * thread of the child could reuse or unmap that struct. Requires that no event is in progress: an
 * event in progress still uses the struct, which fork_child.c has restored. Async-signal-safe. */
void join_forked(void);

/* Return the struct for events of a handler that has interrupted the recorder while it used T.
 * Return NULL if there is none; the caller counts that. The struct is a second row of this thread.
 * So the shared tables see its events like those of another thread, which may occur at any time. */
struct thread *join_nested(struct thread *t);

/* Read the changes since T, the calling thread's struct, was marked stale (thread_invalidate). */
void join_refresh(struct thread *t);

#endif
