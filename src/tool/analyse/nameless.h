/* nameless.h: modules without names, and their share of the shown bytes. */
#ifndef ANALYSE_NAMELESS_H
#define ANALYSE_NAMELESS_H

#include "analyse/stacks.h"

/* Bytes by METRIC_INUSE, METRIC_PEAK and METRIC_ALLOC. */
struct nameless_bytes {
    int64_t by_metric[3];
};

struct nameless_module {
    // Value of stacks with a nameless function of it among the innermost frames,
    struct nameless_bytes nameless;
    struct nameless_bytes lineless; // and of those with one that has a name, but no line.
};

/* The bytes of C. */
struct nameless_bytes nameless_bytes(const struct counters *c);

/* Add B to SUM. */
void nameless_bytes_add(struct nameless_bytes *sum, const struct nameless_bytes *b);

/* The largest share that PART has of WHOLE in any metric; at most 1. */
double nameless_share(const struct nameless_bytes *part, const struct nameless_bytes *whole);

/* Value through each module of P in STACKS, by module id, from ARENA. Ignores frames that no view
 * shows, such as those before main, and the language's own library, whose internals nobody
 * needs. */
struct nameless_module *nameless_modules(const struct profile *p, const struct stacks *stacks,
                                         struct arena *arena);

/* The same for all stacks of P, with FOLD_RECURSION or without, and their bytes in *RET_TOTAL; but
 * they need not be built for it, which takes longer than all else. */
struct nameless_module *nameless_modules_of_all(const struct profile *p, bool fold_recursion,
                                                struct nameless_bytes *ret_total,
                                                struct arena *arena);

#endif
