/* enter.h: the beginning and the end of an event.
 *
 * tls.busy is set while the thread is in the recorder. Events of signal handlers take the path of
 * nest.h then. */
#ifndef EVENT_ENTER_H
#define EVENT_ENTER_H

#include "account/thread.h"
#include "base/atomics.h"

/* Begin an event of the function called from SLOT. Requires tls.busy to be BUSY_NO, and sets it. */
static inline void
enter_begins(uint64_t slot)
{
    tls.entered = slot;
    tls.busy = BUSY_RECORDER;
    signal_fence();
}

/* End the event that enter_begins or enter began. */
static inline void
enter_ends(void)
{
    signal_fence();
    tls.busy = BUSY_NO;
}

/* Slow path of enter: the thread, whose struct is T (NULL: none), must join or look up changes.
 * Return its struct; NULL if the event cannot be recorded, which is counted. Call in an event. */
struct thread *enter_slowly(struct thread *t);

/* Begin an event of the function called from SLOT. Return this thread's struct; NULL if the event
 * cannot be recorded, which is counted. Sets tls.busy in either case; end with enter_ends. */
static inline struct thread *
enter(uint64_t slot)
{
    struct thread *t = tls.self;

    enter_begins(slot);
    if (unlikely(t == NULL) || unlikely(load_relaxed(&t->ready) != THREAD_READY))
        t = enter_slowly(t);
    return t;
}

/* enter and enter_ends out of line, for rare events. */
struct thread *enter_cold(uint64_t slot);
void enter_ends_cold(void);

#endif
