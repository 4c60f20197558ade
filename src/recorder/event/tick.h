/* tick.h: what a thread does only every LIMIT_TICK_EVENTS events. */
#ifndef EVENT_TICK_H
#define EVENT_TICK_H

#include "account/thread.h"

/* Return the cycle counter for the event with which T ticks, or 0 if that is not to be timed. */
uint64_t tick_begins(struct thread *t);

/* The timeline and the clock words of the header; sets T's countdown anew. CYCLES is what the
 * event that just ended has cost, if it is timed. */
void tick(struct thread *t, uint64_t cycles);

/* The part of a tick that has to do with time alone: also when events are left out. */
void tick_look(struct thread *t);

/* The same when the process ends, in any thread. */
void tick_end(void);

/* Bring the clock words of the header up to now. */
void tick_clock(void);

#endif
