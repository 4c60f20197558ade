/* paths.h: stacks merged by their innermost functions, as the partial paths of mprof's leak
 * table. */
#ifndef ANALYSE_PATHS_H
#define ANALYSE_PATHS_H

#include "analyse/stack_functions.h"

struct paths_options {
    size_t callers;  // Number of innermost functions in a path; 0 = all.
    bool call_sites; // Keep calls from different lines of one function separate.
};

struct path {
    const struct stack *stack; // One of the merged stacks.
    uint32_t depth; // Number of its functions (functions_of_stack) in the path; at least one.
    bool cut;       // It has further callers, known or unknown.
    struct counters counters;
    struct errors errors;
};

struct paths {
    struct path *v; // Most live bytes first.
    size_t count;
};

/* Merge the COUNT stacks STACKS by OPTIONS. Everything in *RET is from ARENA. */
void paths_build(struct functions *functions, const struct stack *const *stacks, size_t count,
                 const struct paths_options *options, struct arena *arena, struct paths *ret);

/* Return true if PATHS, made from the COUNT STACKS, keeps the invariants above. Only reads; see
 * util/ensure.h. */
bool paths_are_valid(const struct paths *paths, const struct stack *const *stacks, size_t count);

#endif
