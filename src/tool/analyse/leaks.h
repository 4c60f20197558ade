/* leaks.h: unsuppressed live blocks, by stack. "Still live", not "leaked": reachability of the
 * blocks is not checked. */
#ifndef ANALYSE_LEAKS_H
#define ANALYSE_LEAKS_H

#include "analyse/stacks.h"
#include "analyse/suppress.h"

struct leaks {
    const struct stack **v; // Live bytes, largest first; then stacks of zero-sized blocks.
    size_t count;
    struct stacks stacks; // Backs v; total covers the unsuppressed stacks.
    int64_t suppressed_blocks;
    int64_t suppressed_bytes;
};

/* Find the unsuppressed live blocks. Everything in *RET is from ARENA. Adds to the counters of the
 * suppressions that matched. Returns 0 or HEAPTAP_USAGE, as stacks_build. */
int leaks_find(const struct profile *p, const struct stacks_options *options,
               struct suppressions *suppressions, struct arena *arena, struct leaks *ret,
               struct err *err);

#endif
