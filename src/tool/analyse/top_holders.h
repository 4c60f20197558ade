/* top_holders.h: stacks summed by the innermost function of user code, and within it by caller. */
#ifndef ANALYSE_TOP_HOLDERS_H
#define ANALYSE_TOP_HOLDERS_H

#include "analyse/stacks.h"

/* Sum of a holder's stacks that have one caller. */
struct top_holder_caller {
    const struct stack *largest;
    uint32_t own; // Index of the holder's frame in `largest`; the caller's frame is further out.
    struct counters counters;
    struct errors *errors; // NULL = exact.
};

/* A line of a holder's function that leads to allocations. */
struct top_holder_line {
    const struct stack *largest;
    // Index of the holder's frame in `largest`; that frame has the file and the number of this
    // line.
    uint32_t own;
    int64_t value; // By the metric.
};

struct top_holder {
    const struct stack *largest; // depth 0: the site "other".
    uint32_t own;                // Index of the holder's innermost frame in `largest`.
    struct counters counters;
    struct errors *errors; // NULL = exact.
    struct top_holder_caller *callers; // Largest first.
    size_t caller_count, caller_capacity;
    struct top_holder_line *lines; // Lines, largest first; only lines with a nonzero value.
    size_t line_count, line_capacity; // 0 = no line is known.
    int64_t callee_value; // Value of the stacks that call the same function as the first line.
};

struct top_holders {
    struct top_holder *v; // Largest first.
    size_t count;
};

/* Assign each of STACKS, of P, to one holder and one caller. Rows are sorted by METRIC. Everything
 * in *RET is from ARENA or borrowed from STACKS. */
void top_holders_build(const struct profile *p, const struct stacks *stacks, enum metric metric,
                       struct arena *arena, struct top_holders *ret);

/* Find the largest holder that top_holders_build would return for all stacks of P with recursion
 * folded, in a fraction of the time. Ties may resolve differently. *RET is empty if METRIC is zero
 * at every site. */
void top_holders_first(const struct profile *p, enum metric metric, struct arena *arena,
                       struct top_holders *ret);

/* Return the index of the next frame of S outwards from frame I that belongs to another function,
 * or to the same function at the end of a longer cycle; stack_useful_depth if there is none. */
uint32_t top_holder_next(const struct profile *p, const struct stack *s, uint32_t i);

#endif
