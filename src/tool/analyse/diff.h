/* diff.h: the changes between two profiles, by stack or by function. */
#ifndef ANALYSE_DIFF_H
#define ANALYSE_DIFF_H

#include "analyse/interval.h"

struct diff_side {
    const struct profile *p;
    const struct stacks *stacks; // Into p.
};

enum diff_by {
    DIFF_BY_SITE,     // One row per stack.
    DIFF_BY_FUNCTION, // One row per function.
};

struct diff_frame {
    const char *function; // A function's name, or the result of frame_name (frame_name.h).
    const char *file;     // The file after, or before if the stack is gone; "" if unknown.
    const char *module;   // Path, likewise; "" if unknown.
    uint32_t line;        // Likewise.
    bool inlined;
    bool several_lines; // Stacks only: the row adds up stacks of that side with other lines here.
};

/* A stack or function on both sides; a side that does not have it counts zero. */
struct diff_row {
    struct diff_frame *frames; // Innermost first; depth of them, at least one.
    uint32_t depth;            // 1 for a function.
    uint32_t useful_depth;     // Without start-up code, see stack_useful_depth; at least 1.
    bool in_before, in_after;  // Which sides have it.
    // Stacks only: its stack in one of the profiles; NULL for a function.
    const struct profile_heap *heap;
    const struct profile_label_set *labels;
    struct counters before,
        after; // A stack's value; a function's: sum of the stacks that it is innermost in.
    // A stack's value; a function's: sum of the stacks that it is in, each counted once.
    struct counters inclusive_before, inclusive_after;
    // Error bound of the values, also of a side whose samples missed the row.
    struct errors before_errors, after_errors, inclusive_before_errors, inclusive_after_errors;
};

struct diff {
    struct diff_row *rows;         // The largest growth or shrinking of the metric first.
    size_t count;                  // Unchanged rows included.
    struct counters before, after; // Totals of the stacks compared.
    struct errors before_errors, after_errors;
    bool is_estimate; // At least one side is.
};

/* Compare two sets of stacks. Frames are equal if their functions are, their files match
 * (diff_files.h), and both or neither are inlined. Addresses, lines, modules and directories may
 * differ. Stacks are equal if their frames, labels and heap names are. Rows by function are sorted
 * by change of self value, then of inclusive value. Everything in *RET is from ARENA. */
void diff_build(const struct diff_side *before, const struct diff_side *after, enum diff_by by,
                enum metric metric, struct arena *arena, struct diff *ret);

/* Return the value after minus the value before. */
int64_t diff_growth(const struct counters *before, const struct counters *after,
                    enum metric metric);

/* Return the 95 % interval of the growth of METRIC. Short-lived blocks have none: both ends are the
 * growth. */
struct interval diff_interval(const struct counters *before, const struct errors *before_errors,
                              const struct counters *after, const struct errors *after_errors,
                              enum metric metric);

/* Return true if ROW's own value, or the INCLUSIVE one, has changed, but so little that it may be
 * chance.
 */
bool diff_is_noise(const struct diff_row *row, enum metric metric, bool inclusive);

/* Return true if any metric of ROW changed. */
bool diff_changed(const struct diff_row *row);

/* Return true if D, by METRIC, keeps the invariants above. Only reads; see util/ensure.h. */
bool diff_is_valid(const struct diff *d, enum metric metric);

#endif
