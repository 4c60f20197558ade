/* ranges.h: a table of address ranges that may overlap, searched for the ranges that cover an
 * address. */
#ifndef SYMBOL_RANGES_H
#define SYMBOL_RANGES_H

#include "util/arena.h"

struct range {
    uint64_t low, high; // [low, high)
    uint32_t id;        // Chosen by the caller.
};

/* {0} is empty. Ranges are added in any order, and searched after ranges_sort. */
struct ranges {
    struct range *v;    // Array from the arena given to ranges_add, like max_high.
    size_t count;
    size_t capacity;
    uint64_t *max_high; // max_high[i]: largest high of v[0..i]; ends a search early.
};

/* Add [LOW, HIGH) with the caller's ID. Empty and inverted ranges are ignored. Call ranges_sort
 * after the last one and before the first search, with the same arena. */
void ranges_add(struct ranges *r, struct arena *a, uint64_t low, uint64_t high, uint32_t id);
void ranges_sort(struct ranges *r, struct arena *a);

/* Walk the ranges that cover ADDRESS, innermost first (largest low, then smallest high):
 *
 *     size_t cursor = ranges_start(r, address);
 *     while ((x = ranges_next(r, address, &cursor)) != NULL)
 *
 * ranges_next returns NULL at the end. */
size_t ranges_start(const struct ranges *r, uint64_t address);
const struct range *ranges_next(const struct ranges *r, uint64_t address, size_t *cursor);

/* Return true if R is sorted and its max_high is right. Only reads; see util/ensure.h. */
bool ranges_are_valid(const struct ranges *r);

#endif
