/* limit_cause.c: find the function of user code that contributes most to an exceeded limit. */
#include "analyse/limit_check.h"

#include "analyse/top_holders.h"
#include "analyse/totals.h"
#include "util/map.h"

/* Amounts by the name of a function. */
struct cause_sums {
    struct strtab names;
    struct map amounts; // Id of a name to its amount.
};

/* Add the METRIC of STACKS of P, times SIGN, to SUMS. */
static void
cause_add(const struct profile *p, const struct stacks *stacks, enum metric metric, int64_t sign,
          struct arena *arena, struct cause_sums *sums)
{
    struct top_holders holders;
    struct functions functions;

    functions_init_labels(&functions, p, stacks, arena);
    top_holders_build(p, stacks, metric, arena, &holders);
    for (size_t i = 0; i < holders.count; i++) {
        const struct top_holder *h = &holders.v[i];
        const struct stack *s = h->largest;
        uint64_t *amount;

        if (s->depth == 0)
            continue;
        // Several functions of one name are distinguished by their files.
        amount = map_put(&sums->amounts,
                         strtab_id(&sums->names,
                                   functions_frame_label(&functions, s->frames[h->own],
                                                         s->locations[h->own])),
                         NULL);
        *amount += (uint64_t)(sign * metric_value(&h->counters, metric));
    }
    functions_release(&functions);
}

/* Set *RET to the largest amount of SUMS, if it is above 0, and release SUMS. */
static void
cause_take(struct cause_sums *sums, struct arena *arena, struct limit_cause *ret)
{
    *ret = (struct limit_cause){0};
    for (uint32_t id = 1; id <= sums->amounts.count; id++) {
        const uint64_t *amount = map_get(&sums->amounts, id);

        if (amount != NULL && (int64_t)*amount > ret->amount)
            *ret = (struct limit_cause){strtab_get(&sums->names, id), (int64_t)*amount};
    }
    if (ret->function != NULL)
        ret->function = arena_strdup(arena, ret->function);
    map_release(&sums->amounts);
    strtab_release(&sums->names);
}

void
limit_cause_of_growth(enum metric metric, const struct diff_side *before,
                      const struct diff_side *after, struct arena *arena, struct limit_cause *ret)
{
    struct cause_sums sums = {0};

    cause_add(before->p, before->stacks, metric, -1, arena, &sums);
    cause_add(after->p, after->stacks, metric, 1, arena, &sums);
    cause_take(&sums, arena, ret);
}

void
limit_cause_of_value(enum metric metric, const struct diff_side *side, struct arena *arena,
                     struct limit_cause *ret)
{
    struct cause_sums sums = {0};

    cause_add(side->p, side->stacks, metric, 1, arena, &sums);
    cause_take(&sums, arena, ret);
}
