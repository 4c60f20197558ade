/* live.h: merges live blocks, and marks the merged blocks; see live.c. */
#ifndef ACCESS_LIVE_H
#define ACCESS_LIVE_H

#include "access/records.h"
#include "ledger/ledger_state.h"

/* Elapsed time in microseconds at which the first merge is due. */
enum { LIVE_FIRST_US = 1000000 };

enum live_merge { LIVE_GOES_ON, LIVE_AT_EXIT };

/* Make a step of the merge if one is due. */
void live_step(void);

/* Merge all live blocks now. Return false if another thread does not finish its merge in time, or
 * if blocks are unreadable while there are other threads. */
bool live_merge(enum live_merge when);

/* Discard all counts; live blocks start from zero. Return false as live_merge does. */
bool live_reset(void);

/* Set the times of B, which was allocated at FACTS (0 = unknown) and ends at NOW. */
static inline void
live_date(struct access_block *b, uint64_t facts, uint64_t now)
{
    b->dated = facts != 0 && facts >> CLOCK_CPU_BITS <= now >> CLOCK_CPU_BITS;
    b->began = facts;
    b->ended = now;
    b->lifetime_us = b->dated ? clock_us(&access_state->cycle_clock, now) -
                                    clock_us(&access_state->cycle_clock, facts)
                              : 0;
}

/* Return the part (late or ended) for an ending block whose mark is at SEEN, and clear the mark. */
enum disk_access_part live_part_seen(uint8_t *seen);

enum { LIVE_SPAN_BITS = 24 };

/* Return the address of the mark for the block at P; NULL if it has none. */
static inline uint8_t *
live_seen(uintptr_t p)
{
    uint8_t *leaf;

    if (likely(load_relaxed(&access_state->seen) == NULL))
        return NULL;
    leaf = load_acquire(&access_state->seen[p >> LIVE_SPAN_BITS]);
    return leaf == NULL
               ? NULL
               : &leaf[(p & ((1u << LIVE_SPAN_BITS) - 1)) >> ledger_state()->granule_shift];
}

/* Return the part (late or ended) for the ending block at P. */
static inline enum disk_access_part
live_part(uintptr_t p)
{
    uint8_t *seen = live_seen(p);

    return likely(seen == NULL) || load_relaxed(seen) == 0 ? DISK_ACCESS_ENDED
                                                           : live_part_seen(seen);
}

#endif
