/* dominators.h: nodes that every path from the root passes through. */
#ifndef RETAIN_DOMINATORS_H
#define RETAIN_DOMINATORS_H

#include "retain/block_graph.h"

/* The dominator tree of a graph. A depth-first search numbers the nodes from 0, the root. A
 * dominator has a smaller number than the nodes below it. */
struct dominators {
    uint32_t count;   // Number of nodes that can be reached from the root.
    uint32_t *node;   // By number.
    uint32_t *number; // By node; DOMINATORS_NONE = it cannot be reached.
    uint32_t *above;  // By number: the number of the immediate dominator; 0 for the root.
};

#define DOMINATORS_NONE UINT32_MAX

/* Find the dominators in G from node ROOT on. *RET is released by dominators_release. */
void dominators_find(const struct block_graph *g, uint32_t root, struct dominators *ret);
void dominators_release(struct dominators *d);

/* Replace each element of SUMS, by number, by the sum over its node and all nodes below it. */
void dominators_sum(const struct dominators *d, uint64_t *sums);

#endif
