/* pick_stacks.h: select stacks by the common options. */
#ifndef OPEN_PICK_STACKS_H
#define OPEN_PICK_STACKS_H

#include "analyse/stacks.h"
#include "option/shared_opts.h"

/* Return 0 if P, which may be cut by --at or --between, has METRIC. Otherwise print an error and
 * return EXIT_USAGE. */
int pick_metric(const struct profile *p, enum metric metric);

/* Return the stack options for OPTIONS. FOLD charges allocations in common wrappers to their
 * callers. For text, stacks that differ only in labels are merged. */
struct stacks_options pick_options(const struct view_options *options, bool fold);

/* Matches of --filter in all profiles of a view. {0} is empty. */
struct filter_hits {
    size_t stacks; // Number of recorded stacks compared with it.
    bool matched;  // At least one matched.
};

/* Add S, built from P under OPTIONS, to HITS. Warn if P lacks the heap or the label in OPTIONS.
 * ARENA is for the text. */
void pick_check(const struct profile *p, const struct stacks_options *options,
                const struct stacks *s, struct arena *arena, struct filter_hits *hits);

/* Warn if FILTER (NULL = none) has matched nothing. Call after the output. */
void pick_print_filter(const struct filter_hits *hits, const char *filter);

/* Build the stacks of P under OPTIONS, and add them to HITS like pick_check. P must be symbolised.
 * From ARENA. Returns 0, or the exit code after printing the error. */
int pick_stacks(const struct profile *p, const struct stacks_options *options, struct arena *arena,
                struct filter_hits *hits, struct stacks *ret);

#endif
