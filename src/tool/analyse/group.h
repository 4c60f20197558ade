/* group.h: sums of stacks by function, line, file or module. The profile's threads, sizes, types,
 * heaps and labels have the same form, so that one table shows all of them. */
#ifndef ANALYSE_GROUP_H
#define ANALYSE_GROUP_H

#include "analyse/stacks.h"
#include "analyse/totals.h"

enum group_by {
    BY_SITE,
    BY_FUNCTION,
    BY_LINE,
    BY_FILE,
    BY_MODULE,
    BY_THREAD,
    BY_SIZE,
    BY_TYPE,
    BY_HEAP,
    BY_LABEL,       // Group by whole sets of labels.
    BY_LABEL_VALUE, // Group by the values of one label.
};

#define GROUP_NO_FRAME UINT32_MAX

/* Sum of a group. Each grouping sets the members that identify its rows; the others are NULL or
 * GROUP_NO_FRAME. For BY_SITE, BY_THREAD, BY_SIZE, BY_TYPE, BY_HEAP and BY_LABEL… inclusive and
 * self are equal. */
struct group_row {
    uint32_t frame;            // A frame of the group; GROUP_NO_FRAME for the site "other".
    uint32_t location;         // Location of that frame.
    // BY_LINE: the number of functions with code on the line; FRAME belongs to the largest.
    uint32_t names;
    const struct stack *stack; // BY_SITE
    const struct profile_thread *thread; // BY_THREAD: the thread whose allocations are counted.
    const struct thread_share *share;    // BY_THREAD: the thread's frees for other threads.
    const struct profile_bin *bin;       // BY_SIZE
    const struct profile_site *site;     // BY_TYPE: a site with this type.
    const struct profile_heap *heap;     // BY_HEAP
    const char *labels; // BY_LABEL: text of the set. BY_LABEL_VALUE: value, NULL = no such label.
    struct counters inclusive;           // Stacks with such a frame anywhere; each counts once.
    struct counters self;                // Stacks whose innermost frame is such a frame.
    // NULL = exact, or unknown: by thread and by size.
    struct errors *inclusive_errors, *self_errors;
};

struct groups {
    struct group_row *v; // Largest self value of the metric first, then largest inclusive value.
    size_t count;
    bool live_is_shared, peak_is_shared; // BY_THREAD: as in struct thread_shares.
};

/* Group STACKS of P. Everything in *RET is from ARENA or borrowed from STACKS and P. Omits rows
 * that are all zero, except for heaps when nothing is filtered. BY_SIZE ignores the filter: its
 * rows cover malloc in the whole process. BY_TYPE requires P's types, and makes a row for each type
 * and verdict. KEY is the label of BY_LABEL_VALUE. */
void group_stacks(const struct profile *p, const struct stacks *stacks, enum group_by by,
                  const char *key, enum metric metric, struct arena *arena, struct groups *ret);

/* Return pointers to all stacks, largest METRIC first; the order of ties is deterministic. From
 * ARENA. */
const struct stack **group_sorted_stacks(const struct stacks *stacks, enum metric metric,
                                         struct arena *arena);

/* Return the number of stacks at the beginning of SORTED that have a METRIC above zero. */
size_t group_positive(const struct stacks *stacks, const struct stack *const *sorted,
                      enum metric metric);

/* Return a number that is equal for frames of one function. Named functions are distinguished by
 * name and module, others by address. */
uint64_t group_function_key(const struct profile *p, uint32_t frame, uint32_t location);

/* Return a number that is equal for frames of one row by function, line, file or module. */
uint64_t group_frame_key(const struct profile *p, enum group_by by, uint32_t frame,
                         uint32_t location);

/* Return the sum over all sizes: malloc's blocks, those that back heaps included. */
struct counters group_all_sizes(const struct profile *p);

/* Sums of all sizes in at most SIZE_RANGE_COUNT ranges, for an overview. */
enum { SIZE_RANGE_COUNT = 9 };
struct size_range {
    uint64_t size_min, size_max; // Inclusive; the last one ends with UINT64_MAX.
    struct counters counters;
};

/* Fill RET with the nonempty ranges, in order of size. Return their number. */
size_t group_size_ranges(const struct profile *p, struct size_range ret[SIZE_RANGE_COUNT]);

/* Return true if G, made from STACKS of P, keeps the invariants above. Only reads; see
 * util/ensure.h. */
bool groups_are_valid(const struct profile *p, const struct stacks *stacks, enum group_by by,
                      enum metric metric, const struct groups *g);

#endif
