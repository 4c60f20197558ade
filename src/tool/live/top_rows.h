/* top_rows.h: the order of the rows on the screen of `heaptap top`. Pure: no terminal, no time. */
#ifndef LIVE_TOP_ROWS_H
#define LIVE_TOP_ROWS_H

#include "live/top_digest.h"

/* Quantities that sort rows; each has a column. */
enum top_sort {
    TOP_LIVE,
    TOP_SELF,
    TOP_CHANGE, // Live bytes since the mark.
    TOP_RATE,   // Bytes allocated per second.
    TOP_CALLS,
    TOP_ALLOCATED,
    TOP_PEAK,
    TOP_SHORT_LIVED,
    TOP_NAME,
    TOP_SORTS
};

/* Names of enum top_sort, for the option --sort; then NULL. */
extern const char *const top_sort_names[];

struct top_order {
    enum top_sort sort;
    bool inverted;
    bool changed_only;      // Leave out the rows without a change since the mark.
    const uint64_t *frozen; // Keys in the order to keep; NULL = sort.
    size_t frozen_count;
    uint64_t held;  // Key of the row that stays at index held_at; 0 = none.
    size_t held_at;
};

/* Set *RET to D's rows in the order O, in an array from ARENA, and return their number. Among equal
 * rows, the one whose self amount is larger comes first, then the order of names counts. Rows that
 * the frozen order lacks come last, sorted. */
size_t top_rows_order(const struct top_digest *d, const struct top_order *o, struct arena *arena,
                      const struct top_row ***ret);

/* Set *RET to R's value of SORT, and return true if it is known. For a name it is 0. */
bool top_row_value(const struct top_digest *d, const struct top_row *r, enum top_sort sort,
                   int64_t *ret);

/* Return the index of the next of the COUNT ROWS after index FROM, or before it if BACK, whose name
 * or place contains TEXT, in any case; wraps around. Return COUNT if there is none. */
size_t top_rows_search(const struct top_row *const *rows, size_t count, size_t from, bool back,
                       const char *text);

#endif
