/* pick_stacks.h: the stacks that the common options ask for. */
#ifndef COMMAND_PICK_STACKS_H
#define COMMAND_PICK_STACKS_H

#include "analyse/stacks.h"
#include "option/view_opts.h"

/* 0 if METRIC is known of P, which may be cut by --at or --between; else says so and returns
 * EXIT_USAGE. */
int pick_metric(const struct profile *p, enum metric metric);

/* What OPTIONS ask for; the common wrappers are charged to their callers if FOLD. Text merges what
 * differs in labels only. */
struct stacks_options pick_options(const struct view_options *options, bool fold);

/* Say so if no heap or label of P is what TAGS ask for. ARENA is for what is said. */
void pick_warn(const struct profile *p, const struct tag_filter *tags, struct arena *arena);

/* Build the stacks of a symbolised P under OPTIONS, from ARENA. Returns 0, or the exit code after
 * saying why. */
int pick_stacks(const struct profile *p, const struct stacks_options *options, struct arena *arena,
                struct stacks *ret);

#endif
