/* tree_split.h: the functions near the root among which a metric divides. */
#ifndef ANALYSE_TREE_SPLIT_H
#define ANALYSE_TREE_SPLIT_H

#include "analyse/stacks.h"

// Levels of divisions, branches of one division, and branches in all.
enum { TREE_SPLIT_LEVELS = 3, TREE_SPLIT_BRANCHES = 3, TREE_SPLIT_MAX = 9 };

struct tree_branch {
    const struct stack *stack; // A stack through the function.
    uint32_t frame;            // Index of the function's frame in `stack`.
    int64_t value;             // Inclusive value of this branch.
    uint32_t level;            // Number of branches that contain this one.
    bool constructors;         // All static constructors, instead of one function.
    uint32_t module;           // Module of more than half of their value; 0 = none.
};

/* Branches; each is followed by the branches into which it divides. */
struct tree_split {
    struct tree_branch v[TREE_SPLIT_MAX];
    size_t count;
};

/* Follow STACKS of P from the root inwards to the first place where no function has nearly all of
 * METRIC, and store the functions there. Functions without names are skipped. *RET has the largest
 * branches, at least a tenth of the total each; none if all stacks end before they divide, if they
 * divide far from the root, or if no value is positive. All constructors are one branch. A branch
 * with a third of the total is followed by its own branches, in the same way. Temporary memory is
 * from ARENA; *RET borrows from STACKS. */
void tree_split_find(const struct profile *p, const struct stacks *stacks, enum metric metric,
                     struct arena *arena, struct tree_split *ret);

#endif
