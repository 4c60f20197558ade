/* heap_quota.h: bounds the memory of pieces that may stay mostly empty; see heap_quota.c. */
#ifndef HEAPS_HEAP_QUOTA_H
#define HEAPS_HEAP_QUOTA_H

#include "base/atomics.h"
#include "base/base.h"

enum { HEAP_QUOTA_SLOTS = 8 };

/* The slots for one kind of piece. Zeros = all slots are free. */
struct heap_quota {
    uint64_t open[HEAP_QUOTA_SLOTS]; // Atomic: pieces with a slot. At the last check they were not
                                     // full. 0 = free.
    uint64_t refused_at;             // Atomic: state->charged at the latest refusal; 0 = none.
};

/* Return the number of bytes that PIECE wastes at present, or 0 if it has enough objects. */
typedef uint64_t heap_waste_fn(uint64_t piece);

/* Return true if PIECE, not 0, has a slot in S. Async-signal-safe. */
static inline bool
heap_quota_has(const struct heap_quota *s, uint64_t piece)
{
    for (uint32_t i = 0; i < HEAP_QUOTA_SLOTS; i++)
        if (load_relaxed(&s->open[i]) == piece)
            return true;
    return false;
}

/* Give PIECE, not 0, a slot in S. Return false if PIECE must not allocate memory now. WASTE
 * measures the waste of a piece of S. *EVICTED_BYTES is the total waste of evicted pieces.
 * Thread-safe and async-signal-safe. */
bool heap_quota_take(struct heap_quota *s, uint64_t piece, heap_waste_fn *waste,
                     uint64_t *evicted_bytes);

#endif
