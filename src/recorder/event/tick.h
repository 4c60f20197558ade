/* tick.h: work of a thread once every LIMIT_TICK_EVENTS events. */
#ifndef EVENT_TICK_H
#define EVENT_TICK_H

#include "account/thread.h"

/* Return the cycle counter for the event with which T ticks, or 0 if that is not timed. */
uint64_t tick_begins(struct thread *t);

/* Update the timeline and the clock words of the header, take requests, and restart T's countdown.
 * CYCLES: cost of the event that just ended, if it was timed. */
void tick(struct thread *t, uint64_t cycles);

/* The part of a tick that depends on time alone, also used when events are left out. */
void tick_look(struct thread *t);

/* Like tick_look, when the process ends; call in any thread. */
void tick_end(void);

/* Set the clock words of the header to now. */
void tick_clock(void);

#endif
