/* dominators.c: the dominator tree, by the algorithm that is called semi-NCA (Georgiadis, "Linear-
 * time algorithms for dominators and related problems", 2005).
 *
 * The semidominator of a node is the smallest number that starts a path to the node through larger
 * numbers only. The immediate dominator is the nearest common ancestor of the semidominator and the
 * parent in the tree of the search. Semidominators are found from the largest number down; the
 * least one on the way up from a predecessor is cached, and the way shortened.
 *
 * All arrays but one are by number, so most accesses are to neighbours. The cost is 36 bytes for
 * each node and 4 for each edge while the search runs. */
#include "retain/dominators.h"

#include <stdlib.h>
#include <string.h>

#include "util/arena.h"

enum { PREFETCHED = 24 };

/* The way up from a node. */
struct way {
    uint32_t ancestor; // Number of a node further up; everything between was compared.
    uint32_t least;    // Least semidominator up to the ancestor, which is not included.
};

struct finder {
    const struct block_graph *g;
    struct dominators *d;
    uint32_t *parent;   // By number: parent in the tree of the search.
    struct way *ways;   // By number.
    uint32_t *semi;
    uint64_t *edge;     // By number: next edge to follow; later, end of the predecessors.
    uint32_t *from;     // Numbers of predecessors, by number.
};

/* Visit NODE from the node with the number PARENT. */
static void
dominators_visit(struct finder *f, uint32_t node, uint32_t parent)
{
    uint32_t number = f->d->count++;

    f->d->number[node] = number;
    f->d->node[number] = node;
    f->parent[number] = parent;
    f->edge[number] = f->g->first[node];
}

/* Number the nodes that can be reached from ROOT. */
static void
number_nodes(struct finder *f, uint32_t root)
{
    const struct block_graph *g = f->g;
    uint32_t at = 0;

    dominators_visit(f, root, 0);
    for (;;) {
        uint64_t end = g->first[f->d->node[at] + 1];
        uint32_t before = f->d->count;

        while (f->edge[at] < end && f->d->count == before) {
            uint32_t to = g->to[f->edge[at]++];

            if (f->d->number[to] == DOMINATORS_NONE)
                dominators_visit(f, to, at);
        }
        if (f->d->count > before)
            at = before;
        else if (at == 0)
            break;
        else
            at = f->parent[at];
    }
}

/* List the predecessors of each number. The list of I then ends at edge[I], and begins at
 * edge[I - 1] or at 0. */
static void
list_predecessors(struct finder *f)
{
    const struct block_graph *g = f->g;
    const struct dominators *d = f->d;
    uint64_t sum = 0;

    memset(f->edge, 0, d->count * sizeof *f->edge);
    for (uint32_t i = 0; i < d->count; i++)
        for (uint64_t k = g->first[d->node[i]]; k < g->first[d->node[i] + 1]; k++)
            f->edge[d->number[g->to[k]]]++;
    for (uint32_t i = 0; i < d->count; i++) {
        uint64_t count = f->edge[i];

        f->edge[i] = sum;
        sum += count;
    }
    f->from = xmalloc((sum + 1) * sizeof *f->from);
    for (uint32_t i = 0; i < d->count; i++)
        for (uint64_t k = g->first[d->node[i]]; k < g->first[d->node[i] + 1]; k++)
            f->from[f->edge[d->number[g->to[k]]]++] = i;
}

/* Return the least semidominator on the way up from V to the nodes that are not larger than
 * LIMIT. */
static uint32_t
least_above(struct finder *f, uint32_t v, uint32_t limit)
{
    uint32_t *passed = f->d->above; // Unused until the end of the search.
    struct way *ways = f->ways;
    size_t count = 0;

    while (ways[v].ancestor > limit) {
        passed[count++] = v;
        v = ways[v].ancestor;
    }
    while (count > 0) {
        uint32_t below = passed[--count];
        const struct way *up = &ways[ways[below].ancestor];

        if (up->least < ways[below].least)
            ways[below].least = up->least;
        ways[below].ancestor = up->ancestor;
        v = below;
    }
    return ways[v].least;
}

static void
find_semidominators(struct finder *f)
{
    for (uint32_t i = 0; i < f->d->count; i++)
        f->ways[i].ancestor = f->parent[i];
    for (uint32_t i = f->d->count; i-- > 1;) {
        uint32_t semi = f->parent[i];

        for (uint64_t k = f->edge[i - 1]; k < f->edge[i]; k++) {
            uint32_t v = f->from[k], found = v <= i ? v : least_above(f, v, i);

            // Nodes are visited from the last one down.
            if (k >= PREFETCHED)
                __builtin_prefetch(&f->ways[f->from[k - PREFETCHED]], 1);
            if (found < semi)
                semi = found;
        }
        f->semi[i] = f->ways[i].least = semi;
    }
}

static void
find_immediate(struct finder *f)
{
    uint32_t *above = f->d->above;

    above[0] = 0;
    for (uint32_t i = 1; i < f->d->count; i++) {
        uint32_t at = f->parent[i];

        while (at > f->semi[i])
            at = above[at];
        above[i] = at;
    }
}

void
dominators_find(const struct block_graph *g, uint32_t root, struct dominators *ret)
{
    size_t n = g->count;
    struct finder f = {.g = g, .d = ret};

    *ret = (struct dominators){0};
    ret->node = xmalloc(n * sizeof *ret->node);
    ret->number = xmalloc(n * sizeof *ret->number);
    ret->above = xmalloc(n * sizeof *ret->above);
    memset(ret->number, 0xff, n * sizeof *ret->number);
    f.parent = xmalloc(n * sizeof *f.parent);
    f.edge = xmalloc(n * sizeof *f.edge);
    number_nodes(&f, root);
    list_predecessors(&f);
    f.ways = xmalloc(n * sizeof *f.ways);
    f.semi = xmalloc(n * sizeof *f.semi);
    find_semidominators(&f);
    free(f.from);
    find_immediate(&f);
    free(f.parent);
    free(f.edge);
    free(f.ways);
    free(f.semi);
}

void
dominators_release(struct dominators *d)
{
    free(d->node);
    free(d->number);
    free(d->above);
    *d = (struct dominators){0};
}

void
dominators_sum(const struct dominators *d, uint64_t *sums)
{
    for (uint32_t i = d->count; i-- > 1;)
        sums[d->above[i]] += sums[i];
}
