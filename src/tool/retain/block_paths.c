/* block_paths.c: paths from roots through the graph, and blocks without one.
 *
 * A path from a variable is worth more than a shorter one from a stack, where a word may be left
 * from a call that has returned. So each block has the rank of the best root that leads to it, and
 * roots of other ranks do not count for it. */
#include "retain/block_graph.h"

#include <stdlib.h>
#include <string.h>

/* --- Ranks and lost blocks ---------------------------------------------------------------- */

/* A walk that sets the mark of each node that it finds and that has the mark UNSEEN. */
struct walk {
    const struct block_graph *g;
    uint8_t *marks; // By node.
    uint8_t unseen;
    uint32_t *stack;
    size_t count;
};

static void
walk_see(struct walk *w, uint32_t node, uint8_t mark)
{
    if (w->marks[node] != w->unseen)
        return;
    w->marks[node] = mark;
    w->stack[w->count++] = node;
}

/* Set the MARK of all nodes that can be reached from those on the stack. */
static void
walk_drain(struct walk *w, uint8_t mark)
{
    while (w->count > 0) {
        uint32_t node = w->stack[--w->count];

        for (uint64_t i = w->g->first[node]; i < w->g->first[node + 1]; i++)
            walk_see(w, w->g->to[i], mark);
    }
}

void
block_graph_rank(const struct block_graph *g, const struct roots *roots, uint8_t *ret)
{
    struct walk w = {.g = g, .marks = ret, .unseen = RANK_LOST};

    memset(ret, RANK_LOST, g->count);
    w.stack = xmalloc((g->count + (size_t)1) * sizeof *w.stack);
    for (uint8_t rank = RANK_VARIABLE; rank < RANK_LOST; rank++) {
        for (size_t i = 0; i < roots->word_count; i++)
            if (root_rank(&roots->v[roots->words[i].root]) == rank)
                walk_see(&w, roots->words[i].to, rank);
        walk_drain(&w, rank);
    }
    free(w.stack);
}

enum { LOST_NOT, LOST_UNSEEN, LOST_SEEN, LOST_BEGINS };

void
block_graph_lost(const struct block_graph *g, const uint8_t *ranks, uint8_t *ret)
{
    struct walk w = {.g = g, .marks = ret, .unseen = LOST_UNSEEN};
    uint8_t *pointed = xcalloc(g->count + (size_t)1, 1);

    w.stack = xmalloc((g->count + (size_t)1) * sizeof *w.stack);
    for (uint32_t i = 0; i < g->count; i++) {
        ret[i] = ranks[i] == RANK_LOST ? LOST_UNSEEN : LOST_NOT;
        for (uint64_t k = g->first[i]; ranks[i] == RANK_LOST && k < g->first[i + 1]; k++)
            pointed[g->to[k]] = 1;
    }
    // First the nodes without pointers to them. Each ring that is still unseen has no beginning.
    for (int ring = 0; ring < 2; ring++)
        for (uint32_t i = 0; i < g->count; i++)
            if (ret[i] == LOST_UNSEEN && (ring || !pointed[i])) {
                walk_see(&w, i, LOST_BEGINS);
                walk_drain(&w, LOST_SEEN);
            }
    for (uint32_t i = 0; i < g->count; i++)
        ret[i] = ret[i] == LOST_BEGINS;
    free(w.stack);
    free(pointed);
}

void
block_graph_keep_ranks(struct block_graph *g, const uint8_t *ranks)
{
    uint64_t kept = 0, k = 0;

    for (uint32_t i = 0; i < g->count; i++) {
        for (; k < g->first[i + 1]; k++)
            if (ranks[g->to[k]] == ranks[i])
                g->to[kept++] = g->to[k];
        g->first[i + 1] = kept;
    }
}

/* --- Paths -------------------------------------------------------------------------------- */

struct search {
    const struct block_graph *g;
    // By node: its predecessor; a node without one has the number of the root's word, plus the
    // number of nodes. UINT64_MAX = not reached.
    uint64_t *from;
    uint32_t *queue;
    size_t next, count;
};

static void
search_reach(struct search *s, uint32_t node, uint64_t from)
{
    if (s->from[node] != UINT64_MAX)
        return;
    s->from[node] = from;
    s->queue[s->count++] = node;
}

void
block_graph_shortest(const struct block_graph *g, const struct roots *roots, const uint8_t *ranks,
                     uint32_t target, struct arena *arena, struct block_path *ret)
{
    struct search s = {.g = g};
    uint64_t at = target;

    *ret = (struct block_path){0};
    s.from = xmalloc((g->count + (size_t)1) * sizeof *s.from);
    s.queue = xmalloc((g->count + (size_t)1) * sizeof *s.queue);
    memset(s.from, 0xff, g->count * sizeof *s.from);
    for (size_t i = 0; i < roots->word_count; i++)
        if (root_rank(&roots->v[roots->words[i].root]) == ranks[target])
            search_reach(&s, roots->words[i].to, g->count + i);
    while (s.next < s.count && s.from[target] == UINT64_MAX) {
        uint32_t node = s.queue[s.next++];

        for (uint64_t i = g->first[node]; i < g->first[node + 1]; i++)
            search_reach(&s, g->to[i], node);
    }
    if (s.from[target] != UINT64_MAX) {
        for (; at < g->count; at = s.from[at])
            ret->count++;
        ret->root = &roots->words[at - g->count];
        ret->blocks = arena_array(arena, ret->count, sizeof *ret->blocks);
        at = target;
        for (size_t i = ret->count; i-- > 0; at = s.from[at])
            ret->blocks[i] = (uint32_t)at;
    }
    free(s.from);
    free(s.queue);
}
