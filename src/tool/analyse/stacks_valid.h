/* stacks_valid.h: whether stacks, and what is made of them by adding up, keep the promises of
 * stacks.h, group.h and tree.h. See util/ensure.h for what validity functions are. All of these
 * only read. */
#ifndef ANALYSE_STACKS_VALID_H
#define ANALYSE_STACKS_VALID_H

#include "analyse/group.h"
#include "analyse/tree.h"

/* S, built from P, which is valid. */
bool stacks_are_valid(const struct profile *p, const struct stacks *s);

/* G, made from STACKS of P. */
bool groups_are_valid(const struct profile *p, const struct stacks *stacks, enum group_by by,
                      enum metric metric, const struct groups *g);

/* T, made from STACKS. */
bool tree_is_valid(const struct stacks *stacks, enum metric metric, const struct tree *t);

#endif
