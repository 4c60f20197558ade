/* unsymbolized.h: modules without names, and their share of the shown bytes. */
#ifndef ANALYSE_UNSYMBOLIZED_H
#define ANALYSE_UNSYMBOLIZED_H

#include "analyse/stacks.h"

/* Bytes by METRIC_INUSE, METRIC_PEAK and METRIC_ALLOC. */
struct unsymbolized_bytes {
    int64_t by_metric[3];
};

struct unsymbolized_module {
    // Value of stacks with a unsymbolized function of the module among the innermost frames,
    struct unsymbolized_bytes unsymbolized;
    struct unsymbolized_bytes lineless; // and of stacks with a function that has a name but no
                                        // line.
};

/* Return the bytes of C. */
struct unsymbolized_bytes unsymbolized_bytes(const struct counters *c);

/* Add B to SUM. */
void unsymbolized_bytes_add(struct unsymbolized_bytes *sum, const struct unsymbolized_bytes *b);

/* Return the largest share that PART has of WHOLE in any metric; at most 1. */
double unsymbolized_share(const struct unsymbolized_bytes *part,
                          const struct unsymbolized_bytes *whole);

/* Return the values of each module of P in STACKS, by module id, from ARENA. Ignores frames that no
 * view shows, such as start-up code, and the internals of the language's library. */
struct unsymbolized_module *unsymbolized_modules(const struct profile *p,
                                                 const struct stacks *stacks, struct arena *arena);

/* Like unsymbolized_modules, for all stacks of P, with FOLD_RECURSION or without, and their bytes
 * in
 * *RET_TOTAL. Does not build the stacks, which would take most of the time. */
struct unsymbolized_module *unsymbolized_modules_of_all(const struct profile *p,
                                                        bool fold_recursion,
                                                        struct unsymbolized_bytes *ret_total,
                                                        struct arena *arena);

#endif
