/* carries.h: carries of counter halves, where reads and writes are counted apart. */
#ifndef ACCESS_CARRIES_H
#define ACCESS_CARRIES_H

#include "base/atomics.h"
#include "base/base.h"

enum { CARRIES_MAX = 1024 };

struct carries {
    uint32_t used; // Atomic: entries from here on are unused.
    struct carry {
        const uint32_t *half; // Atomic: the half; NULL = unused.
        uint64_t count;       // Atomic: number of carries, 2^32 each.
    } v[CARRIES_MAX];
    uint64_t lost; // Atomic: carries without a free entry.
};

extern struct carries carries;

/* Record that HALF has overflowed. Thread-safe. */
void carries_add(const uint32_t *half);

/* Discard the carries of the COUNT counters at COUNTER. */
void carries_forget_all(const uint64_t *counter, uint64_t count);

static inline void
carries_forget(const uint64_t *counter, uint64_t count)
{
    if (unlikely(load_relaxed(&carries.used) != 0))
        carries_forget_all(counter, count);
}

/* Return the accesses that HALF has carried. */
uint64_t carries_find(const uint32_t *half);

static inline uint64_t
carries_of(const uint32_t *half)
{
    return likely(load_relaxed(&carries.used) == 0) ? 0 : carries_find(half);
}

#endif
