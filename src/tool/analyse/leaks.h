/* leaks.h: unsuppressed live blocks, by stack. Reports call them "still live", not "leaked",
 * because nobody has checked whether they are reachable. */
#ifndef ANALYSE_LEAKS_H
#define ANALYSE_LEAKS_H

#include "analyse/stacks.h"
#include "analyse/suppress.h"

struct leaks {
    const struct stack **v; // Most live bytes first, then stacks of zero-sized blocks.
    size_t count;
    struct stacks stacks; // Owns the stacks in v; total is the sum of the unsuppressed ones.
    int64_t suppressed_blocks;
    int64_t suppressed_bytes;
};

/* Find the unsuppressed live blocks. Everything in *RET is from ARENA. Adds the suppressed blocks
 * to the counters of the SUPPRESSIONS that matched. Returns 0, or HEAPTAP_USAGE as stacks_build. */
int leaks_find(const struct profile *p, const struct stacks_options *options,
               struct suppressions *suppressions, struct arena *arena, struct leaks *ret,
               struct err *err);

#endif
