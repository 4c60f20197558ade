/* stack_details.c: collect all amounts of the stack with one number.
 *
 * A row of a view shows one metric of a stack. Here are all of them, divided by the size and the
 * type of the blocks. Sites know both: blocks of another class of size belong to another site, and
 * symbol_types gives a type to each site.
 *
 * If a part of the run is shown, counters belong to that part. The smallest and the largest size
 * are known for the whole run only.
 *
 * Pure: no I/O; does not change the profile. */
#include "analyse/totals.h"

#include <stdlib.h>
#include <string.h>

/* Return negative if the blocks with the counters X come before those with Y. */
static int
most_allocated_first(const struct counters *x, const struct counters *y)
{
    if (x->allocated_bytes != y->allocated_bytes)
        return x->allocated_bytes > y->allocated_bytes ? -1 : 1;
    return 0;
}

static int
compare_stacks(const void *a, const void *b)
{
    const struct stack *x = *(const struct stack *const *)a, *y = *(const struct stack *const *)b;
    int order = most_allocated_first(&x->counters, &y->counters);

    return order != 0 ? order : x < y ? -1 : x > y;
}

static int
compare_types(const void *a, const void *b)
{
    const struct stack_type *x = a, *y = b;
    int order = most_allocated_first(&x->counters, &y->counters);

    // Unknown types are last, so that a row of known types is not interrupted.
    if (x->name == NULL || y->name == NULL)
        return (x->name == NULL) - (y->name == NULL);
    if (order != 0)
        return order;
    order = strcmp(x->name, y->name);
    return order != 0 ? order : (int)x->verdict - (int)y->verdict;
}

/* Add the blocks of SITE to the row of their type. TYPES has room for one row more. */
static void
stack_details_add_type(const struct profile *p, const struct profile_site *site,
                       struct stack_details *ret)
{
    bool known = site->type != 0 && site->verdict >= VERDICT_LIKELY;
    const char *name = known ? profile_string(p, site->type) : NULL;
    uint32_t verdict = known ? site->verdict : VERDICT_UNKNOWN;
    size_t i = 0;

    // Names are interned.
    while (i < ret->type_count &&
           (ret->types[i].name != name || ret->types[i].verdict != verdict))
        i++;
    if (i == ret->type_count)
        ret->types[ret->type_count++] =
            (struct stack_type){.name = name, .verdict = verdict, .counters = COUNTERS_ZERO};
    counters_add(&ret->types[i].counters, &site->counters);
}

static void
stack_details_add_site(const struct profile *p, const struct profile_site *site,
                       struct stack_details *ret)
{
    uint64_t size_min = profile_site_size_min(site), size_max = profile_site_size_max(site);
    struct counters *class = &ret->by_class[site->size_class];

    counters_add(class, &site->counters);
    class->size_min = size_min < class->size_min ? size_min : class->size_min;
    class->size_max = size_max > class->size_max ? size_max : class->size_max;
    if (ret->types != NULL)
        stack_details_add_type(p, site, ret);
}

void
stack_details_build(const struct profile *p, const struct stacks *stacks, uint32_t number,
                    struct arena *arena, struct stack_details *ret)
{
    size_t sites = 0;

    *ret = (struct stack_details){.total = COUNTERS_ZERO};
    for (size_t i = 0; i < SIZE_CLASS_COUNT; i++)
        ret->by_class[i] = (struct counters)COUNTERS_ZERO;
    ret->v = arena_array(arena, stacks->count, sizeof *ret->v);
    for (size_t i = 0; i < stacks->count; i++) {
        if (stacks->v[i].number != number)
            continue;
        ret->v[ret->count++] = &stacks->v[i];
        counters_add(&ret->total, &stacks->v[i].counters);
    }
    if (ret->count > 1)
        qsort(ret->v, ret->count, sizeof *ret->v, compare_stacks);
    for (size_t i = 0; i < p->site_count; i++)
        sites += stacks->site_stacks[i] != 0 &&
                 stacks->v[stacks->site_stacks[i] - 1].number == number;
    if (p->typed)
        ret->types = arena_array(arena, sites, sizeof *ret->types);
    for (size_t i = 0; i < p->site_count; i++)
        if (stacks->site_stacks[i] != 0 && stacks->v[stacks->site_stacks[i] - 1].number == number)
            stack_details_add_site(p, &p->sites[i], ret);
    if (ret->type_count > 1)
        qsort(ret->types, ret->type_count, sizeof *ret->types, compare_types);
}
