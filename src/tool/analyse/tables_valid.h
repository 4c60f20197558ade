/* tables_valid.h: whether the tables that commands are named after keep the promises of
 * callgraph.h, paths.h, bins.h, diff.h and timeline.h, and numbers lie in their intervals. See
 * util/ensure.h for what validity functions are. All of these only read. */
#ifndef ANALYSE_TABLES_VALID_H
#define ANALYSE_TABLES_VALID_H

#include "analyse/bins.h"
#include "analyse/callgraph.h"
#include "analyse/diff.h"
#include "analyse/interval.h"
#include "analyse/paths.h"
#include "analyse/timeline.h"

bool callgraph_is_valid(const struct callgraph *g);

/* PATHS, made from the COUNT STACKS. */
bool paths_are_valid(const struct paths *paths, const struct stack *const *stacks, size_t count);

/* B, made from P. */
bool bins_are_valid(const struct profile *p, const struct bins *b);

/* D, by METRIC. */
bool diff_is_valid(const struct diff *d, enum metric metric);

/* T, made from STACKS of P. */
bool timeline_is_valid(const struct profile *p, const struct stacks *stacks,
                       const struct timeline *t);

/* I, said of VALUE. */
bool interval_is_valid(struct interval i, double value);

#endif
