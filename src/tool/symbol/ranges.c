/* ranges.c: overlapping address ranges in one sorted array.
 *
 * Units, functions and symbols are sets of ranges, which are searched for the ranges that cover an
 * address. Compilers and linkers make them overlap (aliases, folded functions, units that claim too
 * much), so a plain binary search is not enough. An interval tree would be more than needed. The
 * array is sorted by low, and each entry has the largest high up to it. A search starts at the last
 * low <= address and walks back until this maximum shows that no earlier range can reach the
 * address.
 *
 *     low    10   20   20   40
 *     high  100   90   30   50
 *     max   100  100  100  100      address 45: finds [40,50) [20,90) [10,100), skips [20,30)
 *
 * A table must not change after sorting. */
#include "symbol/ranges.h"

#include <stdlib.h>

#include "util/ensure.h"

void
ranges_add(struct ranges *r, struct arena *a, uint64_t low, uint64_t high, uint32_t id)
{
    if (low >= high)
        return;
    arena_grow(a, &r->v, &r->capacity, r->count, sizeof *r->v);
    r->v[r->count++] = (struct range){.low = low, .high = high, .id = id};
}

static int
ranges_compare(const void *left, const void *right)
{
    const struct range *a = left;
    const struct range *b = right;

    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->high != b->high)
        return a->high > b->high ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

void
ranges_sort(struct ranges *r, struct arena *a)
{
    uint64_t max = 0;

    r->max_high = arena_array(a, r->count, sizeof *r->max_high);
    if (r->count > 1)
        qsort(r->v, r->count, sizeof *r->v, ranges_compare);
    for (size_t i = 0; i < r->count; i++) {
        if (r->v[i].high > max)
            max = r->v[i].high;
        r->max_high[i] = max;
    }
    ENSURE_VALID(ranges_are_valid(r));
}

size_t
ranges_start(const struct ranges *r, uint64_t address)
{
    size_t low = 0;
    size_t high = r->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->v[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct range *
ranges_next(const struct ranges *r, uint64_t address, size_t *cursor)
{
    while (*cursor > 0) {
        size_t i = --*cursor;

        if (r->max_high[i] <= address)
            return NULL;
        if (r->v[i].high > address)
            return &r->v[i];
    }
    return NULL;
}

bool
ranges_are_valid(const struct ranges *r)
{
    uint64_t max = 0;

    for (size_t i = 0; i < r->count; i++) {
        VALID(r->v[i].low < r->v[i].high);               // Empty and inverted ranges are not added.
        VALID(i == 0 || r->v[i - 1].low <= r->v[i].low); // Ranges are sorted, for binary search.
        max = r->v[i].high > max ? r->v[i].high : max;
        VALID(r->max_high[i] == max); // max_high ends a search early.
    }
    return true;
}
