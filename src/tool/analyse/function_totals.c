/* function_totals.c: charge each stack to its innermost function, so that the rows sum to the
 * total. stacks.c folds frames away before, and stack_functions.c defines functions. */
#include "analyse/totals.h"

#include <stdlib.h>

static void
function_totals_add(struct function_total *row, const struct stacks *stacks, size_t index,
                    const struct amount *amount, const struct amount *kept, struct arena *arena)
{
    const struct stack *s = &stacks->v[index];

    amount_add(&row->amount, amount);
    amount_add(&row->kept, kept);
    counters_add(&row->counters, &s->counters);
    stack_errors_add(&row->errors, stacks, s, 0, arena);
}

static int
function_totals_compare_rows(const void *a, const void *b)
{
    const struct function_total *x = a, *y = b;
    int64_t ax = amount_sum(&x->amount), ay = amount_sum(&y->amount);
    int64_t kx = amount_sum(&x->kept), ky = amount_sum(&y->kept);

    if (ax != ay)
        return counters_by_magnitude(ax, ay);
    if (kx != ky)
        return counters_by_magnitude(kx, ky);
    return x->function < y->function ? -1 : x->function > y->function;
}

void
function_totals_build(struct functions *functions, const struct stacks *stacks, enum metric metric,
                      struct arena *arena, struct function_totals *ret)
{
    const struct amount *amounts = amounts_of_stacks(functions, stacks, metric, arena);
    const struct amount *kept = amounts_of_stacks(functions, stacks, METRIC_INUSE, arena);
    size_t row_count = 0;
    // The number of functions is known only after reading all stacks.
    uint32_t *innermost = arena_array(arena, stacks->count, sizeof *innermost);

    *ret = (struct function_totals){.total.counters = COUNTERS_ZERO};
    for (size_t i = 0; i < stacks->count; i++) {
        const uint32_t *stack;

        functions_of_stack(functions, &stacks->v[i], &stack);
        innermost[i] = stack[0];
    }
    ret->v = arena_array(arena, functions->count, sizeof *ret->v);
    for (uint32_t i = 0; i < functions->count; i++)
        ret->v[i] = (struct function_total){.function = i, .counters = COUNTERS_ZERO};
    for (size_t i = 0; i < stacks->count; i++) {
        function_totals_add(&ret->v[innermost[i]], stacks, i, &amounts[i], &kept[i], arena);
        function_totals_add(&ret->total, stacks, i, &amounts[i], &kept[i], arena);
    }
    for (size_t i = 0; i < functions->count; i++)
        if (amount_sum(&ret->v[i].amount) != 0 || amount_sum(&ret->v[i].kept) != 0)
            ret->v[row_count++] = ret->v[i];
    ret->count = row_count;
    qsort(ret->v, ret->count, sizeof *ret->v, function_totals_compare_rows);
}
