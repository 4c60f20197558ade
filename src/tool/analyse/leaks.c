/* leaks.c: find the blocks that are still live.
 *
 * Suppressions are matched before folding, through stacks_options.keep, because users suppress
 * frames that they saw in another tool, wrappers included. Sites without live blocks are not
 * matched, so that the counters of a suppression have only blocks that it hid. */
#include "analyse/leaks.h"

#include <stdlib.h>

struct keeper {
    const struct profile *p;
    struct suppressions *suppressions;
    struct leaks *ret;
};

static bool
leaks_is_live(const struct counters *c)
{
    return counters_live_bytes(c) > 0 || counters_live_blocks(c) > 0;
}

static bool
keep_site(void *arg, const struct profile_site *site, const uint32_t *frames,
          const uint32_t *locations, size_t depth)
{
    struct keeper *k = arg;
    struct suppression *s;

    if (!leaks_is_live(&site->counters))
        return true;
    s = suppress_find(k->suppressions, k->p, site, frames, locations, depth);
    if (s == NULL)
        return true;
    counters_add(&s->counters, &site->counters);
    counters_add(&k->ret->all, &site->counters);
    errors_add(&k->ret->all_errors, profile_site_errors(k->p, (size_t)(site - k->p->sites)));
    k->ret->suppressed_blocks =
        counters_sum(k->ret->suppressed_blocks, counters_live_blocks(&site->counters));
    k->ret->suppressed_bytes =
        counters_sum(k->ret->suppressed_bytes, counters_live_bytes(&site->counters));
    return false;
}

static int
leaks_compare_live(const void *a, const void *b)
{
    const struct stack *x = *(const struct stack *const *)a, *y = *(const struct stack *const *)b;
    int64_t bx = counters_live_bytes(&x->counters), by = counters_live_bytes(&y->counters);
    int64_t nx = counters_live_blocks(&x->counters), ny = counters_live_blocks(&y->counters);

    if (bx != by)
        return bx > by ? -1 : 1;
    if (nx != ny)
        return nx > ny ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

int
leaks_find(const struct profile *p, const struct stacks_options *options,
           struct suppressions *suppressions, struct arena *arena, struct leaks *ret,
           struct err *err)
{
    struct keeper keeper = {p, suppressions, ret};
    struct stacks_options with_keep = *options;
    int rc;

    *ret = (struct leaks){.all = COUNTERS_ZERO};
    with_keep.keep = keep_site;
    with_keep.keep_arg = &keeper;
    rc = stacks_build(p, &with_keep, arena, &ret->stacks, err);
    if (rc != 0)
        return rc;
    counters_add(&ret->all, &ret->stacks.total);
    errors_add(&ret->all_errors, &ret->stacks.errors);
    ret->v = arena_array(arena, ret->stacks.count, sizeof *ret->v);
    for (size_t i = 0; i < ret->stacks.count; i++)
        if (leaks_is_live(&ret->stacks.v[i].counters))
            ret->v[ret->count++] = &ret->stacks.v[i];
    qsort(ret->v, ret->count, sizeof *ret->v, leaks_compare_live);
    return 0;
}
