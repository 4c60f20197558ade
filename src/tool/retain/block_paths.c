/* block_paths.c: paths from roots through the graph, and blocks without one.
 *
 * The memory is no longer needed for either. */
#include "retain/block_graph.h"

#include <stdlib.h>
#include <string.h>

/* Certainty that the program still uses the pointers in a kind of memory: a stack may contain
 * remains of functions that have returned, and mapped memory remains of another heap. */
enum certainty { CERTAIN, LIKELY, POSSIBLE, CERTAINTIES };

static enum certainty
certainty_of(const struct scan_range *r)
{
    switch (r->kind) {
    case SCAN_VARIABLE:
        return CERTAIN;
    case SCAN_STACK:
        return r->is_tls ? CERTAIN : LIKELY;
    case SCAN_REGISTER:
        return LIKELY;
    case SCAN_MAPPED:
        break;
    }
    return POSSIBLE;
}

/* --- Lost blocks -------------------------------------------------------------------------- */

enum mark { UNSEEN, POINTED, BEGINNING, SEEN };

struct walk {
    const struct block_graph *g;
    uint8_t *marks; // By node: enum mark.
    uint32_t *stack;
    size_t count;
};

static void
walk_see(struct walk *w, uint32_t node, enum mark mark)
{
    if (w->marks[node] > POINTED)
        return;
    w->marks[node] = (uint8_t)mark;
    w->stack[w->count++] = node;
}

/* See all nodes that can be reached from those on the stack. */
static void
walk_drain(struct walk *w)
{
    while (w->count > 0) {
        uint32_t node = w->stack[--w->count];

        for (uint64_t i = w->g->first[node]; i < w->g->first[node + 1]; i++)
            walk_see(w, w->g->to[i], SEEN);
    }
}

/* Mark as beginnings the lost nodes that no other lost node points to, with RING also those that
 * are still unseen. See the nodes behind each before the next one. */
static void
walk_begin(struct walk *w, bool ring)
{
    for (uint32_t i = 0; i < w->g->count; i++)
        if (w->marks[i] == UNSEEN || (ring && w->marks[i] == POINTED)) {
            walk_see(w, i, BEGINNING);
            walk_drain(w);
        }
}

size_t
block_graph_lost(const struct block_graph *g, const struct roots *roots, uint8_t *ret)
{
    struct walk w = {.g = g, .marks = ret};
    size_t lost = 0;

    memset(ret, UNSEEN, g->count);
    w.stack = xmalloc((g->count + (size_t)1) * sizeof *w.stack);
    for (size_t i = 0; i < roots->word_count; i++)
        walk_see(&w, roots->words[i].to, SEEN);
    walk_drain(&w);
    for (uint32_t i = 0; i < g->count; i++) {
        lost += ret[i] != SEEN;
        for (uint64_t k = g->first[i]; ret[i] != SEEN && k < g->first[i + 1]; k++)
            if (ret[g->to[k]] == UNSEEN)
                ret[g->to[k]] = POINTED;
    }
    walk_begin(&w, false);
    walk_begin(&w, true);
    for (uint32_t i = 0; i < g->count; i++)
        ret[i] = ret[i] == BEGINNING;
    free(w.stack);
    return lost;
}

/* --- Paths -------------------------------------------------------------------------------- */

struct search {
    const struct block_graph *g;
    const struct roots *roots;
    // By node: its predecessor; a node without one has the number of the root's word, plus the
    // number of nodes. NO_NODE = not reached.
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

/* Search from the words of roots with CERTAINTY until TARGET is reached. */
static void
search_from(struct search *s, enum certainty certainty, uint32_t target)
{
    const struct block_graph *g = s->g;

    for (size_t i = 0; i < s->roots->word_count; i++)
        if (certainty_of(&s->roots->v[s->roots->words[i].root]) == certainty)
            search_reach(s, s->roots->words[i].to, g->count + i);
    while (s->next < s->count && s->from[target] == UINT64_MAX) {
        uint32_t node = s->queue[s->next++];

        for (uint64_t i = g->first[node]; i < g->first[node + 1]; i++)
            search_reach(s, g->to[i], node);
    }
}

void
block_graph_shortest(const struct block_graph *g, const struct roots *roots, uint32_t target,
                     struct arena *arena, struct block_path *ret)
{
    struct search s = {.g = g, .roots = roots};
    uint64_t at = target;

    *ret = (struct block_path){0};
    s.from = xmalloc((g->count + (size_t)1) * sizeof *s.from);
    s.queue = xmalloc((g->count + (size_t)1) * sizeof *s.queue);
    memset(s.from, 0xff, g->count * sizeof *s.from);
    for (int i = CERTAIN; i < CERTAINTIES && s.from[target] == UINT64_MAX; i++)
        search_from(&s, (enum certainty)i, target);
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
