/* live.h: blocks that live: which of them have been merged, and merging them; see live.c. */
#ifndef ACCESS_LIVE_H
#define ACCESS_LIVE_H

#include "access/records.h"

/* When the first merge is due. */
enum { LIVE_FIRST_US = 1000000 };

enum live_merge { LIVE_GOES_ON, LIVE_AT_EXIT };

/* Go on with the merge of this second, for a moment. */
void live_step(void);

/* Merge what lives now. False if another thread does not come to an end with that, or if blocks
 * cannot be looked at while there are others. */
bool live_merge(enum live_merge when);

/* Forget all that was counted; what lives begins anew. False as above. */
bool live_forget(void);

/* B began when FACTS say, and ends at NOW. */
static inline void
live_date(struct access_block *b, uint64_t facts, uint64_t now)
{
    b->dated = facts != 0 && facts >> CYCLES_CPU_BITS <= now >> CYCLES_CPU_BITS;
    b->began = facts;
    b->ended = now;
    b->lifetime_us = b->dated ? cycles_us(&access_state->cycles, now) -
                                    cycles_us(&access_state->cycles, facts)
                              : 0;
}

/* The part to which the block at P belongs that was in a merge; it is in none any more. */
enum disk_access_part live_part_seen(uint8_t *seen);

enum { LIVE_SPAN_BITS = 24 };

/* The mark of the block at P; NULL if it has none. */
static inline uint8_t *
live_seen(uintptr_t p)
{
    uint8_t *leaf;

    if (likely(load_relaxed(&access_state->seen) == NULL))
        return NULL;
    leaf = load_acquire(&access_state->seen[p >> LIVE_SPAN_BITS]);
    return leaf == NULL ? NULL : &leaf[(p & ((1u << LIVE_SPAN_BITS) - 1)) >> state->granule_shift];
}

/* The part to which the block at P belongs, which ends. */
static inline enum disk_access_part
live_part(uintptr_t p)
{
    uint8_t *seen = live_seen(p);

    return likely(seen == NULL) || load_relaxed(seen) == 0 ? DISK_ACCESS_ENDED
                                                           : live_part_seen(seen);
}

#endif
