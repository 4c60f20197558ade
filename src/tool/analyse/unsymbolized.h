/* unsymbolized.h: modules without symbols, and their share of the shown bytes. */
#ifndef ANALYSE_UNSYMBOLIZED_H
#define ANALYSE_UNSYMBOLIZED_H

#include "analyse/stacks.h"

/* Bytes by metric: METRIC_INUSE, METRIC_PEAK and METRIC_ALLOC. */
struct unsymbolized_bytes {
    int64_t by_metric[3];
};

struct unsymbolized_module {
    // Sum of the stacks with an unsymbolized function of the module among the innermost frames.
    struct unsymbolized_bytes unsymbolized;
    struct unsymbolized_bytes lineless; // Stacks with a named function of it that has no line.
};

/* Return the bytes of C by metric. */
struct unsymbolized_bytes unsymbolized_bytes(const struct counters *c);

/* Add B to SUM. */
void unsymbolized_bytes_add(struct unsymbolized_bytes *sum, const struct unsymbolized_bytes *b);

/* Return the largest share of PART in WHOLE over all metrics, at most 1. */
double unsymbolized_share(const struct unsymbolized_bytes *part,
                          const struct unsymbolized_bytes *whole);

/* Return the values of P's modules in STACKS, by module id, from ARENA. Ignores frames that no view
 * shows, such as start-up code, and the internals of language libraries. */
struct unsymbolized_module *unsymbolized_modules(const struct profile *p,
                                                 const struct stacks *stacks, struct arena *arena);

/* Return the values of P's modules in all stacks, with FOLD_RECURSION or without, and the bytes of
 * all stacks in *RET_TOTAL. Faster than unsymbolized_modules, because it does not build the
 * stacks. */
struct unsymbolized_module *unsymbolized_modules_of_all(const struct profile *p,
                                                        bool fold_recursion,
                                                        struct unsymbolized_bytes *ret_total,
                                                        struct arena *arena);

#endif
