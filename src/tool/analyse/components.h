/* components.h: strongly connected components of a graph, which are sets of nodes that all reach
 * each other. */
#ifndef ANALYSE_COMPONENTS_H
#define ANALYSE_COMPONENTS_H

#include "util/arena.h"

/* The arcs out of node i are targets[first[i]] to targets[first[i + 1] - 1]. */
struct graph {
    uint32_t node_count;
    const uint32_t *first; // node_count + 1 entries.
    const uint32_t *targets;
};

struct components {
    uint32_t *of_node; // Component of each node, below count.
    uint32_t *sizes;   // Number of nodes in each component.
    uint32_t count;
};

/* Find the components of G. Linear in time and memory, whatever the depth of the graph. The arrays
 * in *RET are from ARENA. */
void components_find(const struct graph *g, struct arena *arena, struct components *ret);

#endif
