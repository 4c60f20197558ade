/* counter_overflow.c: counts beyond 2^32.
 *
 * If reads and writes are counted separately, they share the 64-bit word that otherwise is one
 * counter, with 32 bits each. So separate counts need no more memory. For granules of 16 bytes and
 * less there would be no address space for a second shadow. Few granules are read 2^32 times before
 * their block ends. The carries of these are stored here, in a list that is searched only while it
 * is not empty.
 *
 * Between the addition that overflows and the recording of its carry, a reader reads 2^32 too few.
 * A reader at the end of a block cannot observe this, unless the program uses memory while it frees
 * it. */
#include "access/counter_overflow.h"

#include <stddef.h>

struct counter_overflows counter_overflows;

static struct counter_overflow *
entry_of(const uint32_t *half)
{
    uint32_t used = load_acquire(&counter_overflows.used);

    for (uint32_t i = 0; i < used; i++)
        if (load_relaxed(&counter_overflows.v[i].half) == half)
            return &counter_overflows.v[i];
    return NULL;
}

static struct counter_overflow *
make_entry(const uint32_t *half)
{
    for (uint32_t i = 0; i < COUNTER_OVERFLOWS_MAX; i++) {
        uint32_t used = load_relaxed(&counter_overflows.used);
        const uint32_t *nobody = NULL;

        if (!cas_acq_rel(&counter_overflows.v[i].half, &nobody, half))
            continue;
        while (used <= i && !cas_acq_rel(&counter_overflows.used, &used, i + 1))
            continue;
        return &counter_overflows.v[i];
    }
    return NULL;
}

COLD void
counter_overflow_add(const uint32_t *half)
{
    struct counter_overflow *c = entry_of(half);

    // No other thread adds an entry for the same half at the same time: its next overflow is 2^32
    // accesses away.
    if (c == NULL)
        c = make_entry(half);
    add_relaxed(c != NULL ? &c->count : &counter_overflows.lost, UINT64_C(1));
}

COLD void
counter_overflow_clear_all(const uint64_t *counter, uint64_t count)
{
    uint32_t used = load_acquire(&counter_overflows.used);

    for (uint32_t i = 0; i < used; i++) {
        struct counter_overflow *c = &counter_overflows.v[i];
        const uint64_t *at = (const void *)load_relaxed(&c->half);

        if (at == NULL || at < counter || at >= counter + count)
            continue;
        store_relaxed(&c->count, UINT64_C(0));
        store_release(&c->half, (const uint32_t *)NULL);
    }
}

COLD uint64_t
counter_overflow_find(const uint32_t *half)
{
    const struct counter_overflow *c = entry_of(half);

    return c != NULL ? load_relaxed(&c->count) << 32 : 0;
}
