/* components.h: the strongly connected components of a graph: nodes that reach each other in
 * cycles. */
#ifndef ANALYSE_COMPONENTS_H
#define ANALYSE_COMPONENTS_H

#include "util/arena.h"

/* The arcs out of node i are targets[first[i]] to targets[first[i + 1] - 1]. */
struct graph {
    uint32_t node_count;
    const uint32_t *first; // node_count + 1 of them.
    const uint32_t *targets;
};

struct components {
    uint32_t *of_node; // The component of each node, below count.
    uint32_t *sizes;   // Nodes in each component.
    uint32_t count;
};

/* Find the components of G. Linear in time and memory, whatever the depth of the graph. What *RET
 * points to is from ARENA. */
void components_find(const struct graph *g, struct arena *arena, struct components *ret);

#endif
