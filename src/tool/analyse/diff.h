/* diff.h: changes between two profiles, by stack or by function. */
#ifndef ANALYSE_DIFF_H
#define ANALYSE_DIFF_H

#include "analyse/interval.h"
#include "profile/profile.h"
#include "util/map.h"

struct diff_side {
    const struct profile *p;
    const struct stacks *stacks; // Built from p.
};

enum diff_by {
    DIFF_BY_SITE,     // One row per stack.
    DIFF_BY_FUNCTION, // One row per function.
};

struct diff_frame {
    const char *function; // Name of the function, or the result of frame_name (frame_name.h).
    // File in AFTER, or in BEFORE if only BEFORE has the stack; "" if unknown.
    const char *file;
    // Path of the module, from the profile that FILE comes from; "" if unknown.
    const char *module;
    uint32_t line;        // Line, from the profile that FILE comes from; 0 if unknown.
    bool inlined;
    // By site only: the row sums stacks of one side that have different lines here.
    bool several_lines;
};

/* A stack or function, compared. The counters of a side without it are zero. */
struct diff_row {
    struct diff_frame *frames; // Innermost first; depth entries, at least 1.
    uint32_t depth;            // 1 for a function.
    uint32_t useful_depth;     // Depth without start-up code, as stack_useful_depth.
    bool in_before, in_after;  // The sides that have the row.
    // By site only: heap and labels in one of the profiles; NULL for a function.
    const struct profile_heap *heap;
    const struct profile_label_set *labels;
    struct counters before,
        after; // By site: counters of the stack. By function: sum over the stacks whose innermost
               // function it is.
    // By site: counters of the stack. By function: sum over the stacks that contain it, each
    // counted once.
    struct counters inclusive_before, inclusive_after;
    // Error bounds of the counters above. A side whose samples missed the row has errors as well.
    // NULL = exact.
    struct errors *before_errors, *after_errors;
    struct errors *inclusive_before_errors, *inclusive_after_errors;
};

struct diff {
    struct diff_row *rows;         // The largest change of the metric first.
    size_t count;                  // Unchanged rows included.
    struct counters before, after; // Totals of the stacks compared.
    struct errors before_errors, after_errors;
    bool is_estimate; // At least one side is an estimate.
    // Result of stacks_truncated for each side: inclusive values may be too small by these
    // amounts. Zero if TRUNCATED, the name of most of these stacks, is NULL.
    const char *truncated;
    struct counters before_truncated, after_truncated;
};

/* Compare two sets of stacks. Frames are equal if their functions are, their files match
 * (diff.h), and both or neither are inlined. Addresses, lines, modules and directories may
 * differ. Stacks are equal if their frames, labels and heap names are. The name of stack_root is
 * the outermost frame of a stack that has one, so a truncated stack differs from a whole one. Rows
 * by function are sorted by change of self value, then of inclusive value. Everything in *RET is
 * from ARENA. */
void diff_build(const struct diff_side *before, const struct diff_side *after, enum diff_by by,
                enum metric metric, struct arena *arena, struct diff *ret);

/* Return the value of METRIC after, minus the value before. */
int64_t diff_growth(const struct counters *before, const struct counters *after,
                    enum metric metric);

/* Return the 95 % interval of the growth of METRIC. Short-lived blocks have no interval: both ends
 * are the growth. */
struct interval diff_interval(const struct counters *before, const struct errors *before_errors,
                              const struct counters *after, const struct errors *after_errors,
                              enum metric metric);

/* Return true if ROW's self value, or its INCLUSIVE value, has changed so little that chance may
 * explain the change. */
bool diff_is_noise(const struct diff_row *row, enum metric metric, bool inclusive);

/* Return true if any metric of ROW changed. */
bool diff_changed(const struct diff_row *row);

/* Return true if D, by METRIC, keeps the invariants above. Only reads; see util/ensure.h. */
bool diff_is_valid(const struct diff *d, enum metric metric);

/* --- diff_files.c: match the source files of two profiles, even if they were built in different
 * directories. */

struct diff_files {
    struct strtab paths;
    struct map matches; // Id of a path that only AFTER has, to the id of its match in BEFORE.
};

/* Match the files of the frames of BEFORE and AFTER. diff_files_release frees *RET. */
void diff_files_match(const struct profile *before, const struct profile *after,
                      struct diff_files *ret);
void diff_files_release(struct diff_files *f);

/* Return the common name of the file PATH of AFTER: its match in BEFORE, else PATH. Valid as long
 * as F and PATH. */
const char *diff_files_key(struct diff_files *f, const char *path);

#endif
