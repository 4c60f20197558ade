/* stack_functions.h: a stack as a list of functions, for tables by function.
 *
 * A function is one key of group_function_key (group.h). Ids are dense, so that tables are arrays.
 * The first three ids are pseudo-functions. */
#ifndef ANALYSE_STACK_FUNCTIONS_H
#define ANALYSE_STACK_FUNCTIONS_H

#include "analyse/stacks.h"

enum {
    FUNCTION_OUTSIDE_MAIN = 0, // The loader and the C library, before main began or after it ended.
    FUNCTION_UNKNOWN = 1,      // Callers that the recorder did not record.
    FUNCTION_OTHER = 2,        // The site "other".
    FUNCTION_FIRST = 3,        // The first real one.
};

struct functions {
    const struct profile *p;
    struct arena *arena;
    struct function {
        uint32_t frame, location; // One frame of it. Nothing below FUNCTION_FIRST.
    } * v;
    size_t count, capacity;
    uint32_t *by_frame; // Id by frame; 0 = not known yet.
    struct map ids;     // Function key to id.
    uint32_t *stack;    // See functions_of_stack.
    size_t stack_capacity;
};

/* Initialise F for P, without functions. functions_release frees F->ids; everything else is from
 * ARENA. */
void functions_init(struct functions *f, const struct profile *p, struct arena *arena);
void functions_release(struct functions *f);

/* Functions of S, innermost first; at least one. Valid until the next call. Leaves out start-up
 * code, as stack_useful_depth does. Code of the first thread outside of main has
 * FUNCTION_OUTSIDE_MAIN outermost. A stack cut before main or start-up code has FUNCTION_UNKNOWN.
 * The function at I belongs to the frame at I, as long as there are frames. */
size_t functions_of_stack(struct functions *f, const struct stack *s, const uint32_t **ret);

/* Return the name of FUNCTION as frame_name returns it; a name in brackets if it is below
 * FUNCTION_FIRST. */
const char *functions_name(const struct functions *f, uint32_t function);

/* Return the path of its module; NULL if unknown. */
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

/* Return the METRIC of each of STACKS, an array as long as theirs, from ARENA. Only for stacks that
 * were built without a filter of the caller's own (stacks_options.keep). */
struct amount *amounts_of_stacks(const struct profile *p, const struct stacks *stacks,
                                 enum metric metric, struct arena *arena);

#endif
