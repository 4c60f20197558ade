/* components.c: Tarjan's algorithm (1972) without recursion, because a graph of a hundred thousand
 * functions may be one chain.
 *
 * A depth-first search numbers the nodes. `open` is a stack of the nodes whose component is not yet
 * complete. `low` is the smallest number of an open node that is known to be reachable. A node that
 * reaches no node with a smaller number completes a component: itself and all nodes above it on
 * `open`. */
#include "analyse/callgraph.h"

enum { UNVISITED = 0 };
#define UNFINISHED UINT32_MAX

struct search {
    const struct graph *g;
    struct components *ret;
    uint32_t *number, *low; // By node; numbers start at 1.
    uint32_t *next;         // By node: the next arc to follow.
    // Nodes without a component; path from the root of the search to the current node.
    uint32_t *open, *path;
    uint32_t open_count, path_count, last_number;
};

static void
components_visit(struct search *s, uint32_t node)
{
    s->number[node] = s->low[node] = ++s->last_number;
    s->next[node] = s->g->first[node];
    s->ret->of_node[node] = UNFINISHED;
    s->open[s->open_count++] = node;
    s->path[s->path_count++] = node;
}

static void
close_component(struct search *s, uint32_t root)
{
    uint32_t node;

    do {
        node = s->open[--s->open_count];
        s->ret->of_node[node] = s->ret->count;
        s->ret->sizes[s->ret->count]++;
    } while (node != root);
    s->ret->count++;
}

/* Leave NODE, whose arcs are all followed: close its component if NODE is its root, and pass its
 * lowest number on to its predecessor on the path. */
static void
components_leave(struct search *s, uint32_t node)
{
    uint32_t parent;

    s->path_count--;
    if (s->low[node] == s->number[node])
        close_component(s, node);
    if (s->path_count == 0)
        return;
    parent = s->path[s->path_count - 1];
    if (s->low[node] < s->low[parent])
        s->low[parent] = s->low[node];
}

static void
search_from(struct search *s, uint32_t root)
{
    components_visit(s, root);
    while (s->path_count > 0) {
        uint32_t node = s->path[s->path_count - 1], target;

        if (s->next[node] == s->g->first[node + 1]) {
            components_leave(s, node);
            continue;
        }
        target = s->g->targets[s->next[node]++];
        if (s->number[target] == UNVISITED)
            components_visit(s, target);
        else if (s->ret->of_node[target] == UNFINISHED && s->number[target] < s->low[node])
            s->low[node] = s->number[target];
    }
}

void
components_find(const struct graph *g, struct arena *arena, struct components *ret)
{
    struct search s = {.g = g, .ret = ret};

    *ret = (struct components){
        .of_node = arena_array(arena, g->node_count, sizeof *ret->of_node),
        .sizes = arena_array(arena, g->node_count, sizeof *ret->sizes),
    };
    s.number = arena_array(arena, g->node_count, sizeof *s.number);
    s.low = arena_array(arena, g->node_count, sizeof *s.low);
    s.next = arena_array(arena, g->node_count, sizeof *s.next);
    s.open = arena_array(arena, g->node_count, sizeof *s.open);
    s.path = arena_array(arena, g->node_count, sizeof *s.path);
    for (uint32_t i = 0; i < g->node_count; i++)
        if (s.number[i] == UNVISITED)
            search_from(&s, i);
}
