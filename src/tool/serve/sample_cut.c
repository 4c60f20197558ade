/* sample_cut.c: reduce a profile to its largest stacks.
 *
 * A server that stores profiles every few seconds refuses, or pays for, millions of stacks of a few
 * bytes. The rank of a stack is the sum of its shares of live bytes, of allocated bytes and of the
 * peak, so that neither churn nor held memory disappears. Growths count by their magnitude. */
#include "serve/sample_cut.h"

#include <stdlib.h>

#include "util/map.h"

struct ranked {
    double rank;
    uint32_t stack;
};

static double
magnitude(int64_t value)
{
    return value < 0 ? -(double)value : (double)value;
}

static double
share_of(double value, double total)
{
    return total > 0 ? value / total : 0;
}

/* Compare for sorting: the largest first, stacks without frames last, then in the given order. */
static int
by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* Return the stacks of S by descending rank. */
static struct ranked *
rank_all(const struct stacks *s, struct arena *arena)
{
    struct ranked *v = arena_array(arena, s->count, sizeof *v);
    double live = 0, allocated = 0, peak = 0;

    for (size_t i = 0; i < s->count; i++) {
        live += magnitude(counters_live_bytes(&s->v[i].counters));
        allocated += magnitude(s->v[i].counters.allocated_bytes);
        peak += magnitude(s->v[i].counters.peak_bytes);
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct counters *c = &s->v[i].counters;

        v[i] = (struct ranked){share_of(magnitude(counters_live_bytes(c)), live) +
                                   share_of(magnitude(c->allocated_bytes), allocated) +
                                   share_of(magnitude(c->peak_bytes), peak),
                               (uint32_t)i};
        if (s->v[i].depth == 0)
            v[i].rank = -1;
    }
    qsort(v, s->count, sizeof *v, by_rank);
    return v;
}

static uint64_t
group_of(const struct stack *s, bool single)
{
    return single ? 0 : (uint64_t)s->heap << 32 | s->labels;
}

/* Return the number of heaps and sets of labels in S. */
static size_t
count_groups(const struct stacks *s)
{
    struct map groups = {0};
    size_t count;

    for (size_t i = 0; i < s->count; i++)
        map_put(&groups, group_of(&s->v[i], false), NULL);
    count = groups.count;
    map_release(&groups);
    return count;
}

/* Add FROM to the stack for its group, which is created at the end of TO. Return its index. */
static uint32_t
add_to_group(struct stack *to, size_t *count, struct map *groups, const struct stack *from,
             bool single)
{
    bool is_new;
    uint64_t *known = map_put(groups, group_of(from, single), &is_new);

    if (is_new) {
        *known = *count;
        to[(*count)++] = (struct stack){.heap = single ? 0 : from->heap,
                                        .labels = single ? 0 : from->labels,
                                        .flags = NODE_OTHER,
                                        .counters = COUNTERS_ZERO};
    }
    counters_add(&to[*known].counters, &from->counters);
    return (uint32_t)*known;
}

/* Let the sites of S, a profile of SITE_COUNT sites, refer to the stacks' new indices. */
static void
renumber_sites(struct stacks *s, const uint32_t *indices, size_t site_count, struct arena *arena)
{
    uint32_t *sites = arena_array(arena, site_count, sizeof *sites);

    for (size_t i = 0; i < site_count; i++)
        if (s->site_stacks[i] != 0)
            sites[i] = indices[s->site_stacks[i] - 1] + 1;
    s->site_stacks = sites;
}

void
sample_cut(const struct profile *p, struct stacks *s, size_t max, struct arena *arena)
{
    size_t groups = count_groups(s), kept, count = 0;
    bool single = groups > max / 2;
    struct map of_group = {0};
    struct ranked *ranked;
    struct stack *to;
    uint32_t *indices;

    if (s->count <= max)
        return;
    kept = max - (single ? 1 : groups);
    ranked = rank_all(s, arena);
    to = arena_array(arena, max, sizeof *to);
    indices = arena_array(arena, s->count, sizeof *indices);
    while (count < kept && s->v[ranked[count].stack].depth > 0) {
        to[count] = s->v[ranked[count].stack];
        indices[ranked[count].stack] = (uint32_t)count;
        count++;
    }
    for (size_t i = count; i < s->count; i++)
        indices[ranked[i].stack] =
            add_to_group(to, &count, &of_group, &s->v[ranked[i].stack], single);
    map_release(&of_group);
    renumber_sites(s, indices, p->site_count, arena);
    s->v = to;
    s->count = count;
}
