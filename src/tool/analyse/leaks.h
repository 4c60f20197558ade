/* leaks.h: what is still live, by stack, without what is suppressed. "Still live", not "leaked":
 * whether a pointer to the block is left anywhere has not been checked.
 */
#ifndef ANALYSE_LEAKS_H
#define ANALYSE_LEAKS_H

#include "analyse/stacks.h"
#include "analyse/suppress.h"

struct leaks {
    const struct stack **v; // Live bytes, largest first; then those of zero-sized blocks.
    size_t count;
    struct stacks stacks; // What v points into; total is that of the stacks not suppressed.
    int64_t suppressed_blocks;
    int64_t suppressed_bytes;
};

/* Everything in *RET is from ARENA. Adds to the counters of the suppressions that matched. Returns
 * 0 or HEAPTAP_USAGE, as stacks_build. */
int leaks_find(const struct profile *p, const struct stacks_options *options,
               struct suppressions *suppressions, struct arena *arena, struct leaks *ret,
               struct err *err);

#endif
