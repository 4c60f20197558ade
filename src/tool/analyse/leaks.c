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
    bool by_caller; // The options select stacks by callers.
    struct leaks *ret;
};

static bool
leaks_is_live(const struct counters *c)
{
    return counters_live_bytes(c) > 0 || counters_live_blocks(c) > 0;
}

/* Return true if the innermost COUNT frames, at LOCATIONS, belong to the recorded site. */
static bool
leaks_is_of_site(const struct profile *p, const uint32_t *locations, size_t count)
{
    size_t n = 0;

    while (n < count && p->locations[locations[n]].of_site)
        n++;
    return n == count;
}

static void
add_all_errors(struct keeper *k, const struct errors *e)
{
    if (k->by_caller)
        errors_add(&k->ret->all_errors, e);
    else
        errors_add_site(&k->ret->all_errors, e);
}

static enum stacks_keep
keep_site(void *arg, const struct profile_site *site, const uint32_t *frames,
          const uint32_t *locations, size_t depth)
{
    struct keeper *k = arg;
    struct suppression *s;
    size_t matched;

    if (!leaks_is_live(&site->counters))
        return STACKS_KEEP;
    s = suppress_find(k->suppressions, k->p, site, frames, locations, depth, &matched);
    if (s == NULL)
        return STACKS_KEEP;
    counters_add(&s->counters, &site->counters);
    counters_add(&k->ret->all, &site->counters);
    add_all_errors(k, profile_site_errors(k->p, (size_t)(site - k->p->sites)));
    k->ret->suppressed_blocks =
        counters_sum(k->ret->suppressed_blocks, counters_live_blocks(&site->counters));
    k->ret->suppressed_bytes =
        counters_sum(k->ret->suppressed_bytes, counters_live_bytes(&site->counters));
    return leaks_is_of_site(k->p, locations, matched + 1) ? STACKS_DROP : STACKS_DROP_BY_CALLER;
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

/* Assign the stacks of LEAKS: those with live blocks to v, the others to the shrunk ones. */
static void
leaks_assign(struct leaks *leaks, struct arena *arena)
{
    leaks->v = arena_array(arena, leaks->stacks.count, sizeof *leaks->v);
    for (size_t i = 0; i < leaks->stacks.count; i++) {
        const struct counters *c = &leaks->stacks.v[i].counters;
        int64_t blocks = counters_live_blocks(c), bytes = counters_live_bytes(c);

        if (leaks_is_live(c)) {
            leaks->v[leaks->count++] = &leaks->stacks.v[i];
            continue;
        }
        leaks->shrunk_stacks += blocks < 0 || bytes < 0;
        leaks->shrunk_blocks = counters_sum(leaks->shrunk_blocks, blocks);
        leaks->shrunk_bytes = counters_sum(leaks->shrunk_bytes, bytes);
    }
    qsort(leaks->v, leaks->count, sizeof *leaks->v, leaks_compare_live);
}

int
leaks_find(const struct profile *p, const struct stacks_options *options,
           struct suppressions *suppressions, struct arena *arena, struct leaks *ret,
           struct err *err)
{
    struct keeper keeper = {p, suppressions, options->filter != NULL, ret};
    struct stacks_options with_keep = *options;
    int rc;

    *ret = (struct leaks){.all = COUNTERS_ZERO};
    with_keep.keep = keep_site;
    with_keep.keep_arg = &keeper;
    rc = stacks_build(p, &with_keep, arena, &ret->stacks, err);
    if (rc != 0)
        return rc;
    counters_add(&ret->all, &ret->stacks.total);
    add_all_errors(&keeper, &ret->stacks.errors);
    leaks_assign(ret, arena);
    return 0;
}

struct matcher {
    const struct profile *p;
    struct suppressions *suppressions;
    struct suppression **of_site;
};

static enum stacks_keep
match_site(void *arg, const struct profile_site *site, const uint32_t *frames,
           const uint32_t *locations, size_t depth)
{
    const struct matcher *m = arg;
    size_t matched;

    m->of_site[site - m->p->sites] =
        suppress_find(m->suppressions, m->p, site, frames, locations, depth, &matched);
    return STACKS_KEEP;
}

int
leaks_suppress_sites(const struct profile *p, const struct stacks_options *options,
                     struct suppressions *suppressions, struct arena *arena,
                     struct suppression ***ret, struct err *err)
{
    struct matcher m = {p, suppressions, arena_array(arena, p->site_count + 1, sizeof *m.of_site)};
    struct stacks_options with_keep = *options;
    struct stacks unused;
    int rc;

    with_keep.keep = match_site;
    with_keep.keep_arg = &m;
    rc = stacks_build(p, &with_keep, arena, &unused, err);
    if (rc == 0)
        *ret = m.of_site;
    return rc;
}
