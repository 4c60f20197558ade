/* tree.h: tree of the functions on stacks, top-down from main to the allocating functions, or
 * bottom-up from the allocating functions to their callers. */
#ifndef ANALYSE_TREE_H
#define ANALYSE_TREE_H

#include "analyse/stacks.h"

enum tree_direction { TREE_TOP_DOWN, TREE_BOTTOM_UP };

struct tree_node {
    uint32_t frame; // One frame of the function; unused in the root.
    uint32_t location;
    uint32_t first_child;      // Children, largest first; 0 = none.
    uint32_t next_sibling;     // 0 = last.
    uint32_t depth;            // 0 for the root.
    bool is_other;             // The site "other", which has no frames.
    struct counters inclusive; // Sum of the stacks through this node.
    struct counters self;      // Sum of the stacks that end here.
    struct errors inclusive_errors, self_errors;
};

struct tree {
    struct tree_node *nodes; // [0] is the root, whose inclusive value is the total.
    size_t count;
};

/* Build a tree of STACKS in DIRECTION, children sorted by METRIC. Everything in *RET is from ARENA.
 * Recursive calls are a chain of nodes, as in the stack. Start-up code is left out
 * (stack_useful_depth). */
void tree_build(const struct profile *p, const struct stacks *stacks, enum tree_direction direction,
                enum metric metric, struct arena *arena, struct tree *ret);

/* Return true if T, made from STACKS, keeps the invariants above. Only reads; see util/ensure.h. */
bool tree_is_valid(const struct stacks *stacks, enum metric metric, const struct tree *t);

#endif
