/* bins.c: the profile's table of sizes as people read it.
 *
 * The profile has 1025 exact bins and ranges above. The ranges become one row: that is how the
 * table has been read since mprof, and what is larger is better looked at by site. The row for
 * larger blocks stands there even when there are none, so that a reader sees that there are none.
 *
 * Pure: no I/O, and nothing of the profile is changed.
 */
#include "analyse/bins.h"

#include <stdlib.h>

static bool
is_used(const struct counters *c)
{
    return c->allocations != 0 || c->frees != 0;
}

void
bins_build(const struct profile *p, struct arena *arena, struct bins *ret)
{
    struct bin_row larger = {.size = BIN_LARGER, .counters = COUNTERS_ZERO};

    *ret = (struct bins){.total = COUNTERS_ZERO};
    ret->v = arena_array(arena, p->bin_count + 1, sizeof *ret->v);
    for (size_t i = 0; i < p->bin_count; i++) {
        const struct profile_bin *bin = &p->bins[i];

        counters_add(&ret->total, &bin->counters);
        if (bin->size_min > BIN_SIZE_MAX)
            counters_add(&larger.counters, &bin->counters);
        else if (is_used(&bin->counters))
            ret->v[ret->count++] = (struct bin_row){bin->size_min, bin->counters};
    }
    ret->v[ret->count++] = larger;
}

static int
by_bytes(const void *a, const void *b)
{
    const struct bin_row *x = *(const struct bin_row *const *)a;
    const struct bin_row *y = *(const struct bin_row *const *)b;

    if (x->counters.allocated_bytes != y->counters.allocated_bytes)
        return x->counters.allocated_bytes < y->counters.allocated_bytes ? 1 : -1;
    return x->size < y->size ? -1 : x->size > y->size;
}

const struct bin_row **
bins_by_bytes(const struct bins *bins, struct arena *arena)
{
    const struct bin_row **rows = arena_array(arena, bins->count, sizeof *rows);

    for (size_t i = 0; i < bins->count; i++)
        rows[i] = &bins->v[i];
    qsort(rows, bins->count, sizeof *rows, by_bytes);
    return rows;
}

void
bins_bars(const struct bins *bins, struct bin_bar ret[BIN_BAR_COUNT])
{
    uint64_t size_max = 16;
    size_t row = 0;

    for (size_t i = 0; i < BIN_BAR_COUNT; i++, size_max *= 2) {
        uint64_t end = i + 1 < BIN_BAR_COUNT ? size_max : UINT64_MAX;

        ret[i] = (struct bin_bar){i ? size_max / 2 + 1 : 0, end, COUNTERS_ZERO};
        for (; row < bins->count && bins->v[row].size <= end; row++)
            counters_add(&ret[i].counters, &bins->v[row].counters);
    }
}
