/* top_holders.h: stacks added up by the innermost function of user code, and below it by caller. */
#ifndef ANALYSE_TOP_HOLDERS_H
#define ANALYSE_TOP_HOLDERS_H

#include "analyse/stacks.h"

/* A part of a holder's stacks: those with one caller. */
struct top_holder_caller {
    const struct stack *largest;
    uint32_t own; // Index of the holder's frame in it; the caller's is further out.
    struct counters counters;
    struct errors errors;
};

/* A line of a holder's function that leads to allocations. */
struct top_holder_line {
    const struct stack *largest;
    uint32_t own;  // Index of the holder's frame in it, whose file and line it is.
    int64_t value; // By the metric.
};

struct top_holder {
    const struct stack *largest; // depth 0: of the site "other".
    uint32_t own;                // Index of the holder's innermost frame in it.
    struct counters counters;
    struct errors errors;
    struct top_holder_caller *callers; // Largest first.
    size_t caller_count, caller_capacity;
    struct top_holder_line *lines; // Largest first; only nonzero ones.
    size_t line_count, line_capacity; // 0: no line is known.
    int64_t callee_value; // Value of the metric over the stacks with the call of the first line.
};

struct top_holders {
    struct top_holder *v; // Largest first.
    size_t count;
};

/* Assign each of STACKS, of P, to one holder and one caller; sizes are in METRIC. Everything in
 * *RET is from ARENA or borrowed from STACKS. */
void top_holders_build(const struct profile *p, const struct stacks *stacks, enum metric metric,
                       struct arena *arena, struct top_holders *ret);

/* Find only the largest holder that top_holders_build would return for all stacks of P with
 * recursion folded, in a fraction of the time. Ties may resolve differently. None if METRIC is zero
 * at every site. */
void top_holders_first(const struct profile *p, enum metric metric, struct arena *arena,
                       struct top_holders *ret);

/* Return the next frame of S outwards from frame I that belongs to another function, or to the same
 * function at the end of a longer cycle; stack_useful_depth if there is none. */
uint32_t top_holder_next(const struct profile *p, const struct stack *s, uint32_t i);

#endif
