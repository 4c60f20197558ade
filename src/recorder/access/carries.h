/* carries.h: what halves of counters have carried, where reads and writes are counted apart. */
#ifndef ACCESS_CARRIES_H
#define ACCESS_CARRIES_H

#include "base/atomics.h"
#include "base/base.h"

enum { CARRIES_MAX = 1024 };

struct carries {
    uint32_t used; // Atomic: entries from there on are empty.
    struct carry {
        const uint32_t *half; // Atomic: whose; NULL = nobody's.
        uint64_t count;       // Atomic: so many times 2^32.
    } v[CARRIES_MAX];
    uint64_t lost; // Atomic: carries for which there was no entry.
};

extern struct carries carries;

/* HALF has passed its end. */
void carries_add(const uint32_t *half);

/* Forget what the COUNT counters at COUNTER have carried. */
void carries_forget_all(const uint64_t *counter, uint64_t count);

static inline void
carries_forget(const uint64_t *counter, uint64_t count)
{
    if (unlikely(load_relaxed(&carries.used) != 0))
        carries_forget_all(counter, count);
}

/* The accesses that HALF has carried. */
uint64_t carries_find(const uint32_t *half);

static inline uint64_t
carries_of(const uint32_t *half)
{
    return likely(load_relaxed(&carries.used) == 0) ? 0 : carries_find(half);
}

#endif
