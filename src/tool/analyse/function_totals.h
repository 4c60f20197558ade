/* function_totals.h: memory that each function allocated itself, by size class, and its live
 * part. */
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
    struct function_total *v; // Largest amount first, then most live bytes.
    size_t count;
    struct function_total total; // Its function has no meaning.
};

/* Build the totals of STACKS by METRIC into *RET. Omits rows whose amount and live bytes are both
 * zero; the total includes them. Everything in *RET is from ARENA. */
void function_totals_build(struct functions *functions, const struct stacks *stacks,
                           enum metric metric, struct arena *arena, struct function_totals *ret);

#endif
