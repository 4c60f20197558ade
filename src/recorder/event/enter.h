/* enter.h: an event begins in the recorder, and ends.
 *
 * While tls.busy is set the thread is in here, and events of signal handlers are those of nest.h.
 */
#ifndef EVENT_ENTER_H
#define EVENT_ENTER_H

#include "account/thread.h"
#include "base/atomics.h"

/* Any event of the function called from SLOT begins. Sets tls.busy, which was BUSY_NO. */
static inline void
enter_begins(uint64_t slot)
{
    tls.entered = slot;
    tls.busy = BUSY_RECORDER;
    signal_fence();
}

/* End the event that enter_begins or enter has begun. */
static inline void
enter_ends(void)
{
    signal_fence();
    tls.busy = BUSY_NO;
}

/* The struct of the calling thread, which has T (NULL: none) and must join or look up something;
 * NULL if its event cannot be recorded, which has been counted. In an event. */
struct thread *enter_slowly(struct thread *t);

/* Begin an event of the function called from SLOT: this thread's struct, or NULL if it cannot be
 * recorded, which has been counted. Sets tls.busy in any case; ended by enter_ends. */
static inline struct thread *
enter(uint64_t slot)
{
    struct thread *t = tls.self;

    enter_begins(slot);
    if (unlikely(t == NULL) || unlikely(load_relaxed(&t->ready) != THREAD_READY))
        t = enter_slowly(t);
    return t;
}

/* The same out of line, for events that do not come often; ended by enter_ends_cold. */
struct thread *enter_cold(uint64_t slot);
void enter_ends_cold(void);

#endif
