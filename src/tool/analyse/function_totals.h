/* function_totals.h: the memory that each function allocated itself, by size class, and the live
 * part of it. */
#ifndef ANALYSE_FUNCTION_TOTALS_H
#define ANALYSE_FUNCTION_TOTALS_H

#include "analyse/stack_functions.h"

struct function_total {
    uint32_t function;
    struct amount amount; // In the metric.
    struct amount kept;   // Live bytes.
    struct errors errors;
    struct counters counters; // All size classes.
};

struct function_totals {
    struct function_total *v; // The largest amount first; then by kept bytes.
    size_t count;
    struct function_total total; // function means nothing.
};

/* Rows whose metric and live amount are both zero are left out but count in the total. Everything
 * in *RET is from ARENA. */
void function_totals_build(struct functions *functions, const struct stacks *stacks,
                           enum metric metric, struct arena *arena, struct function_totals *ret);

#endif
