/* tick.h: a thread's work once every LIMIT_TICK_EVENTS events, or sooner (tick.c). */
#ifndef EVENT_TICK_H
#define EVENT_TICK_H

#include "account/thread.h"

/* Number of events of the first thread that tick one by one, and maximum number after a rest. */
enum { TICK_CLOSE_EVENTS = 256 };

/* Begin the event with which T ticks. If it ends a rest, add the rest to the timeline. Return the
 * cycle counter, or 0 if the event is not timed. */
uint64_t tick_begins(struct thread *t);

/* Update the timeline and the clock words of the header, handle requests, and restart T's
 * countdown. CYCLES: cost of the event that has just ended, if it was timed. */
void tick(struct thread *t, uint64_t cycles);

/* Do the part of a tick that depends only on time. Also called for events that are not recorded. */
void tick_poll(struct thread *t);

/* Change of a thread's live bytes that brings a tick forward. Smaller changes are published off the
 * fast path (peak_keeps), except with several threads and a peak above 4 GiB. */
#define TICK_BYTES (INT64_C(1) << 20)

/* Tick because T's live bytes have changed by TICK_BYTES. Does not change the countdown. */
void tick_moved(struct thread *t);

/* Tick if T's live bytes have changed enough. Call after peak_change, when counters and ledger are
 * consistent. */
static inline void
tick_if_moved(struct thread *t)
{
    if (unlikely((uint64_t)(t->live_bytes - t->ticked_bytes + TICK_BYTES) >
                 (uint64_t)(2 * TICK_BYTES)))
        tick_moved(t);
}

/* Like tick_poll, for the end of the process. Call in any thread. */
void tick_end(void);

/* Set the clock words of the header to the present time. */
void tick_clock(void);

#endif
