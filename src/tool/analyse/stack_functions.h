/* stack_functions.h: a stack as a list of functions, for tables by function.
 *
 * Frames with one key of group_function_key (group.h) are one function. Ids are dense, so that
 * tables can be arrays. The first three ids are pseudo-functions. */
#ifndef ANALYSE_STACK_FUNCTIONS_H
#define ANALYSE_STACK_FUNCTIONS_H

#include "analyse/stacks.h"

enum {
    FUNCTION_OUTSIDE_MAIN = 0, // Loader and C library, before main begins and after it ends.
    FUNCTION_UNKNOWN = 1,      // Callers that were not recorded.
    FUNCTION_OTHER = 2,        // The site "other".
    FUNCTION_FIRST = 3,        // The first real function.
};

struct functions {
    const struct profile *p;
    struct arena *arena;
    struct function {
        uint32_t frame, location; // One frame of the function. Unset below FUNCTION_FIRST.
    } * v;
    size_t count, capacity;
    uint32_t *by_frame; // By frame: id of its function; 0 = not yet known.
    struct map ids;     // Function key to id.
    uint32_t *stack;    // Result of functions_of_stack.
    size_t stack_capacity;
};

/* Initialise F for P, without functions. functions_release frees F->ids; everything else is from
 * ARENA. */
void functions_init(struct functions *f, const struct profile *p, struct arena *arena);
void functions_release(struct functions *f);

/* Return the number of functions of S, at least 1, and set *RET to their ids, innermost first. *RET
 * is valid until the next call. Leaves out start-up code, as stack_useful_depth does. Code of the
 * first thread outside of main has FUNCTION_OUTSIDE_MAIN outermost. A stack cut before main or
 * start-up code has FUNCTION_UNKNOWN outermost. Except for these pseudo-functions, the function at
 * index I is that of frame I of S. */
size_t functions_of_stack(struct functions *f, const struct stack *s, const uint32_t **ret);

/* Return the name of FUNCTION: as frame_name, or in brackets for a pseudo-function. */
const char *functions_name(const struct functions *f, uint32_t function);

/* Return the path of FUNCTION's module; NULL if unknown. */
const char *functions_module(const struct functions *f, uint32_t function);

/* Amounts of one metric, by size class as in struct profile_site. */
enum { SIZE_CLASS_COUNT = 4 };

struct amount {
    int64_t by_class[SIZE_CLASS_COUNT];
    int64_t calls; // Allocations.
};

/* Return the sum over the size classes. */
int64_t amount_sum(const struct amount *a);

/* Add A to SUM, class by class. */
void amount_add(struct amount *sum, const struct amount *a);

/* Return the METRIC of each stack of STACKS, in an array from ARENA. Requires that STACKS were
 * built without stacks_options.keep. */
struct amount *amounts_of_stacks(const struct profile *p, const struct stacks *stacks,
                                 enum metric metric, struct arena *arena);

#endif
