/* totals.h: sums of a profile by size, function, thread and type. */
#ifndef ANALYSE_TOTALS_H
#define ANALYSE_TOTALS_H

#include "analyse/stacks.h"
#include "profile/profile.h"

/* --- size_totals.c: blocks by size: one bin per exact size up to 1024 bytes, and one for all
 * larger sizes. Bins cover the whole process, because sizes are not counted by stack. In a cut
 * profile the rows come from the sites, and some blocks are known only by a range of sizes. */

enum { BIN_SIZE_MAX = 1024 };

#define BIN_LARGER UINT64_MAX

/* Blocks of one type in a bin, from sites that allocate only this size. */
struct bin_type {
    const char *name;
    uint32_t verdict; // VERDICT_LIKELY or VERDICT_CERTAIN
    struct counters counters;
};

struct bin_row {
    uint64_t size;            // BIN_LARGER for all sizes above BIN_SIZE_MAX.
    // Valid are only the numbers of allocations and frees, and their bytes.
    struct counters counters;
    struct bin_type *known;   // Known types of blocks of this size, most bytes first.
    size_t known_count;
    const struct profile_type *types; // All types of this size, likeliest first.
    size_t type_count;
};

/* Blocks of the sites that have several sizes of one class. */
struct bin_range {
    uint64_t size_min, size_max; // In the whole run.
    struct counters counters;
};

struct size_totals {
    struct bin_row *v; // By rising size.
    size_t count;
    struct bin_range ranges[4]; // By rising size; none unless the profile is cut.
    size_t range_count;
    struct counters total; // Sum over rows and ranges.
};

/* Build the rows with at least one allocation or free, and the row for larger blocks. From
 * ARENA. */
void size_totals_build(const struct profile *p, struct arena *arena, struct size_totals *ret);

/* Return pointers to the rows of BINS, most bytes first. From ARENA. */
const struct bin_row **size_totals_by_bytes(const struct size_totals *bins, struct arena *arena);

/* Bars of a histogram: sizes up to 16 bytes, then a bar for each power of two, then all larger
 * sizes. */
enum { BIN_BAR_COUNT = 8 };

struct bin_bar {
    uint64_t size_min, size_max; // Inclusive.
    struct counters counters;
};

/* Fill RET with all bars, including empty ones. */
void size_totals_bars(const struct size_totals *bins, struct bin_bar ret[BIN_BAR_COUNT]);

/* Return true if B, made from P, keeps the invariants above. Only reads; see util/ensure.h. */
bool size_totals_are_valid(const struct profile *p, const struct size_totals *b);

/* --- tableless_files.c: files whose code ends stacks, because it has no unwind tables. */

struct tableless_file {
    const char *path;
    uint64_t allocations; // With a stack that ends there.
};

struct tableless_files {
    struct tableless_file *v; // Most allocations first.
    size_t count;
};

/* Build the rows of P's files. Code that belongs to no file has no row. From ARENA. */
void tableless_files_build(const struct profile *p, struct arena *arena,
                           struct tableless_files *ret);

/* --- stack_functions.c: a stack as a list of functions, for tables by function.
 *
 * Frames with one key of group_function_key (group.h) are one function. Ids are dense, so that
 * tables can be arrays. The first three ids are pseudo-functions. */

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
    uint32_t *by_frame; // By frame: id of the function; 0 = not yet known.
    struct map ids;     // Function key to id.
    uint32_t *stack;    // Result of functions_of_stack.
    size_t stack_capacity;
    // By heap: class of its Lisp objects, as enum lisp_class. NULL = amounts are by size class.
    const uint8_t *heap_classes;
    const char **places; // Results of functions_place for the first `placed` functions.
    size_t placed;
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

/* Divide amounts by the classes of Lisp types instead of size classes. Does nothing if F's profile
 * has no Lisp objects. Memory that belongs to no Lisp object is LISP_OTHER. */
void functions_by_lisp_class(struct functions *f);

/* Return the letters of the classes that amounts are divided by: "smlx" or "cfso". */
const char *functions_class_letters(const struct functions *f);

/* Return the name of FUNCTION: as frame_name, or in brackets for a pseudo-function. */
const char *functions_name(const struct functions *f, uint32_t function);

/* Return the path of FUNCTION's module, or its language; NULL if unknown. */
const char *functions_module(const struct functions *f, uint32_t function);

/* Return a source file with code of FUNCTION; NULL if unknown. */
const char *functions_file(const struct functions *f, uint32_t function);

/* Return the end of the path of FUNCTION's file, or of its module, if other functions of F have the
 * same name; else "". functions_label returns the name, and this place in brackets. Requires that F
 * has all functions. From F's arena. */
const char *functions_place(struct functions *f, uint32_t function);
const char *functions_label(struct functions *f, uint32_t function);

/* Initialise F for P with all functions of STACKS, for functions_frame_label. */
void functions_init_labels(struct functions *f, const struct profile *p,
                           const struct stacks *stacks, struct arena *arena);

/* Return the function of FRAME at LOCATION, or its label for texts that show no file beside the
 * name. The label is from F's arena. */
uint32_t functions_of_frame(struct functions *f, uint32_t frame, uint32_t location);
const char *functions_frame_label(struct functions *f, uint32_t frame, uint32_t location);

/* Amounts of one metric, by size class as in struct profile_site, or by enum lisp_class. */
enum { SIZE_CLASS_COUNT = 4 };

struct amount {
    int64_t by_class[SIZE_CLASS_COUNT];
    int64_t calls; // Allocations.
};

/* Return the sum over the classes. */
int64_t amount_sum(const struct amount *a);

/* Return counters with A, an amount of METRIC, and nothing else: for functions that return the
 * errors of counters. */
struct counters amount_counters(const struct amount *a, enum metric metric);

/* Add A to SUM, class by class. */
void amount_add(struct amount *sum, const struct amount *a);

/* Return the METRIC of each stack of STACKS, divided by F's classes, in an array from ARENA.
 * Requires that STACKS were built without stacks_options.keep. */
struct amount *amounts_of_stacks(const struct functions *f, const struct stacks *stacks,
                                 enum metric metric, struct arena *arena);

/* --- function_totals.c: memory that each function allocated itself, by size class, and its live
 * part. */

struct function_total {
    uint32_t function;
    struct amount amount; // In the metric.
    struct amount kept;   // Live bytes.
    struct errors *errors; // NULL = exact.
    struct counters counters; // All size classes.
};

struct function_totals {
    struct function_total *v; // Largest amount first, then most live bytes.
    size_t count;
    struct function_total total; // Sum of all rows; `function` has no meaning here.
};

/* Build the totals of STACKS by METRIC into *RET. Omits rows whose amount and live bytes are both
 * zero; the total includes them. Everything in *RET is from ARENA. */
void function_totals_build(struct functions *functions, const struct stacks *stacks,
                           enum metric metric, struct arena *arena, struct function_totals *ret);

/* --- stack_details.c: all amounts of the stack with one number. */

/* Blocks of one type. */
struct stack_type {
    const char *name; // NULL = unknown.
    uint32_t verdict; // enum profile_verdict
    struct counters counters;
};

struct stack_details {
    const struct stack **v; // Several if options split the stack; most allocated bytes first.
    size_t count;           // 0 = no stack has the number.
    struct counters total;  // Sum over them.
    // By size class as in struct profile_site. The smallest and the largest size are those of the
    // whole run, even in a cut profile.
    struct counters by_class[SIZE_CLASS_COUNT];
    struct stack_type *types; // Most allocated bytes first; NULL if P has no types.
    size_t type_count;
};

/* Find the stacks of STACKS, built from P and numbered, with NUMBER. Everything in *RET is from
 * ARENA or borrowed from STACKS and P. */
void stack_details_build(const struct profile *p, const struct stacks *stacks, uint32_t number,
                         struct arena *arena, struct stack_details *ret);

/* --- thread_shares.c: allocations of each thread, with their frees by any thread. See
 * thread_shares.c. */

/* Allocations and frees of a thread row. */
struct thread_share {
    // Allocations of the thread, with the frees of these blocks by any thread.
    struct counters counters;
    // Lower bound of its frees of blocks that others allocated; -1 = unknown (between two moments).
    int64_t for_others_blocks, for_others_bytes;
};

struct thread_shares {
    struct thread_share *v; // By index into p->threads.
    // Some live or peak bytes belong to sites at which several threads allocate and some free for
    // others. They are charged to threads in proportion, which is an estimate.
    bool live_is_shared, peak_is_shared;
};

/* Charge the sites that STACKS kept, or every site if STACKS is NULL, to P's threads. From
 * ARENA. */
void threads_charge(const struct profile *p, const struct stacks *stacks, struct arena *arena,
                    struct thread_shares *ret);

/* --- lisp_types.c: Lisp types, and their classes in mprof's tables; see lisp_types.c. */

enum lisp_class {
    LISP_CONS,
    LISP_FLOAT,
    LISP_STRUCTURE,
    LISP_OTHER,
    LISP_CLASSES,
};

/* Return the letter of CLASS, and a description of its objects. */
const char *lisp_class_letter(enum lisp_class class);
const char *lisp_class_title(enum lisp_class class);

/* Return the Lisp type of the objects of HEAP, and its class in *RET_CLASS; NULL if HEAP is not
 * Lisp's. */
const char *lisp_type(const struct profile_heap *heap, enum lisp_class *ret_class);

/* Sum of a type, or of a whole class (type NULL). */
struct lisp_row {
    enum lisp_class class;
    const char *type;
    struct counters counters;
};

struct lisp_types {
    struct lisp_row *v; // The classes in order, each followed by its types, most bytes first.
    size_t count;
    struct counters total;
};

/* Build a row for each class, and for each type of Lisp objects that were allocated or freed in P.
 * Builds no rows if P has no Lisp objects. From ARENA. */
void lisp_types_build(const struct profile *p, struct arena *arena, struct lisp_types *ret);

#endif
