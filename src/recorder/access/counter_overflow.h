/* counter_overflow.h: carries of counter halves, used if reads and writes are counted
 * separately. */
#ifndef ACCESS_COUNTER_OVERFLOW_H
#define ACCESS_COUNTER_OVERFLOW_H

#include "base/atomics.h"
#include "base/base.h"

enum { COUNTER_OVERFLOWS_MAX = 1024 };

struct counter_overflows {
    uint32_t used; // Atomic: number of entries in use.
    struct counter_overflow {
        const uint32_t *half; // Atomic: the half that overflowed; NULL = unused.
        uint64_t count;       // Atomic: number of carries, each of 2^32.
    } v[COUNTER_OVERFLOWS_MAX];
    uint64_t lost; // Atomic: number of carries that found no free entry.
};

extern struct counter_overflows counter_overflows;

/* Record that HALF has overflowed. Thread-safe. */
void counter_overflow_add(const uint32_t *half);

/* Discard the carries of the COUNT counters at COUNTER. */
void counter_overflow_clear_all(const uint64_t *counter, uint64_t count);

static inline void
counter_overflow_clear(const uint64_t *counter, uint64_t count)
{
    if (unlikely(load_relaxed(&counter_overflows.used) != 0))
        counter_overflow_clear_all(counter, count);
}

/* Return the accesses that overflows of HALF, a 32-bit half of a counter, represent: 2^32 for each
 * overflow. */
uint64_t counter_overflow_find(const uint32_t *half);

static inline uint64_t
counter_overflow_of(const uint32_t *half)
{
    return likely(load_relaxed(&counter_overflows.used) == 0) ? 0 : counter_overflow_find(half);
}

#endif
