/* stack_numbers.c: number stacks, as in #3.
 *
 * Users refer to a stack by its number and look for the number in other views. So numbers belong to
 * the profile. They rank all its stacks, folded without options, by the larger of two shares: of
 * the peak of the whole run, and of all bytes ever allocated. The first stack of any view therefore
 * has a small number. (Ranked by the peak alone, stacks that allocate much and keep nothing would
 * follow thousands of unimportant ones.) A filtered view skips numbers. A view that merges several
 * stacks shows their smallest number.
 *
 * While a process runs, its numbers change. */
#include "analyse/stacks.h"

#include <stdlib.h>

struct ranked {
    double share;
    uint32_t stack;
};

static int
stack_numbers_compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static double
stack_numbers_share(int64_t part, int64_t whole)
{
    return whole > 0 && part > 0 ? (double)part / (double)whole : 0;
}

/* Return the stacks WHOLE of P, largest share first. From ARENA. */
static struct ranked *
rank(const struct profile *p, const struct plain_stacks *whole, struct arena *arena)
{
    struct ranked *v = arena_array(arena, whole->count, sizeof *v);
    struct arena scratch = {0};
    struct {
        int64_t peak_bytes, allocated_bytes;
    } *sums = arena_array(&scratch, whole->count, sizeof *sums);
    int64_t peak_bytes = 0, allocated_bytes = 0;

    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];
        uint32_t stack = whole->of_site[i];
        bool cut = p->extent != EXTENT_WHOLE;
        int64_t peak = cut ? site->whole_peak_bytes : site->counters.peak_bytes;
        int64_t allocated = cut ? site->whole_allocated_bytes : site->counters.allocated_bytes;

        sums[stack].peak_bytes = counters_sum(sums[stack].peak_bytes, peak);
        sums[stack].allocated_bytes = counters_sum(sums[stack].allocated_bytes, allocated);
        peak_bytes = counters_sum(peak_bytes, peak);
        allocated_bytes = counters_sum(allocated_bytes, allocated);
    }
    for (uint32_t i = 0; i < whole->count; i++) {
        double peak = stack_numbers_share(sums[i].peak_bytes, peak_bytes);
        double allocated = stack_numbers_share(sums[i].allocated_bytes, allocated_bytes);

        v[i] = (struct ranked){.share = peak > allocated ? peak : allocated, .stack = i};
    }
    arena_release(&scratch);
    if (whole->count > 0)
        qsort(v, whole->count, sizeof *v, stack_numbers_compare);
    return v;
}

uint32_t
stack_numbers(const struct profile *p, struct stacks *stacks)
{
    struct arena scratch = {0};
    struct plain_stacks whole;
    struct ranked *ranks;
    uint32_t *numbers;

    stacks_plain(p, &scratch, &whole);
    ranks = rank(p, &whole, &scratch);
    numbers = arena_array(&scratch, whole.count, sizeof *numbers);
    for (uint32_t i = 0; i < whole.count; i++)
        numbers[ranks[i].stack] = i + 1;
    for (size_t i = 0; i < p->site_count; i++) {
        uint32_t of = whole.of_site[i];
        struct stack *s;

        if (stacks->site_stacks[i] == 0)
            continue;
        s = &stacks->v[stacks->site_stacks[i] - 1];
        if (s->number == 0 || numbers[of] < s->number)
            s->number = numbers[of];
        s->folded_depth = whole.depths[of];
    }
    arena_release(&scratch);
    return (uint32_t)whole.count;
}
