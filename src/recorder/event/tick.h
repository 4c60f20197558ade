/* tick.h: work of a thread once every LIMIT_TICK_EVENTS events, or sooner (tick.c). */
#ifndef EVENT_TICK_H
#define EVENT_TICK_H

#include "account/thread.h"

/* So many events of the first thread tick one by one, and at most so many after a rest. */
enum { TICK_CLOSE_EVENTS = 256 };

/* Begin the event with which T ticks: have the timeline show a rest that ends with this event.
 * Return the cycle counter, or 0 if the event is not timed. */
uint64_t tick_begins(struct thread *t);

/* Update the timeline and the clock words of the header, take requests, and restart T's countdown.
 * CYCLES: cost of the event that just ended, if it was timed. */
void tick(struct thread *t, uint64_t cycles);

/* The part of a tick that depends on time alone, also used when events are left out. */
void tick_poll(struct thread *t);

/* Change of a thread's live bytes that brings a tick forward. A thread publishes smaller
 * changes off the fast path (peak_keeps), unless there are threads and a peak above 4 GiB. */
#define TICK_BYTES (INT64_C(1) << 20)

/* Tick because T's live bytes moved by TICK_BYTES. Leaves the countdown alone. */
void tick_moved(struct thread *t);

/* To be called after peak_change, when the counters and the ledger are settled. */
static inline void
tick_if_moved(struct thread *t)
{
    if (unlikely((uint64_t)(t->live_bytes - t->ticked_bytes + TICK_BYTES) >
                 (uint64_t)(2 * TICK_BYTES)))
        tick_moved(t);
}

/* Like tick_poll, when the process ends; call in any thread. */
void tick_end(void);

/* Set the clock words of the header to now. */
void tick_clock(void);

#endif
