/* heap_stakes.h: bounds the memory of pieces that may stay mostly empty; see heap_stakes.c. */
#ifndef HEAPS_HEAP_STAKES_H
#define HEAPS_HEAP_STAKES_H

#include "base/atomics.h"
#include "base/base.h"

enum { HEAP_STAKES = 8 };

/* The stakes of one kind of piece. All zero = none taken. */
struct heap_stakes {
    uint64_t open[HEAP_STAKES]; // Atomic: pieces with a stake, which were not full at the last
                                // check; 0 = free.
    uint64_t refused_at;        // Atomic: state->charged at the latest refusal; 0 = none.
};

/* Return the bytes that PIECE wastes at present; 0 if it has enough objects. */
typedef uint64_t heap_waste_fn(uint64_t piece);

/* Return true if PIECE, not 0, has a stake in S. Async-signal-safe. */
static inline bool
heap_stakes_have(const struct heap_stakes *s, uint64_t piece)
{
    for (uint32_t i = 0; i < HEAP_STAKES; i++)
        if (load_relaxed(&s->open[i]) == piece)
            return true;
    return false;
}

/* Give PIECE, not 0, a stake in S. Return false if PIECE must not allocate memory now. WASTE
 * measures the pieces of S. *FORGIVEN_BYTES sums the waste of pieces that lost their stake.
 * Thread-safe and async-signal-safe. */
bool heap_stakes_take(struct heap_stakes *s, uint64_t piece, heap_waste_fn *waste,
                      uint64_t *forgiven_bytes);

#endif
