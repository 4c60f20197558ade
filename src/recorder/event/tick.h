/* tick.h: does a thread's work once every LIMIT_TICK_EVENTS events, or sooner (tick.c). */
#ifndef EVENT_TICK_H
#define EVENT_TICK_H

#include "account/thread.h"

/* Number of the first thread's events that tick one by one at its start. Also the maximum number
 * after an idle period. */
enum { TICK_CLOSE_EVENTS = 256 };

/* Begin the event with which T ticks. If it ends an idle period, add that period to the timeline.
 * Return the cycle counter, or 0 if the event is not timed. */
uint64_t tick_begins(struct thread *t);

/* Update the timeline and the clock words of the header, handle requests, and restart T's
 * countdown. CYCLES: cost of the event that has just ended, if it was timed. */
void tick(struct thread *t, uint64_t cycles);

/* Do the part of a tick that depends only on time. Events that are not recorded call this too. */
void tick_poll(struct thread *t);

/* Change of a thread's live bytes, in bytes, that causes an early tick. Smaller changes are
 * published off the fast path (peak_keeps), except with several threads and a peak above 4 GiB. */
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

/* Like tick_poll, at the end of the process. Call in any thread. */
void tick_end(void);

/* Set the clock words of the header to the current time. */
void tick_clock(void);

#endif
