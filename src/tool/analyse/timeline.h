/* timeline.h: live bytes of stacks over time, and growing stacks. */
#ifndef ANALYSE_TIMELINE_H
#define ANALYSE_TIMELINE_H

#include "analyse/stacks.h"
#include "profile/time_slice.h"

/* Quantity of a series: live bytes, their growth since the start of the window, or the bytes or
 * calls allocated since then. */
enum timeline_by { TIMELINE_LIVE, TIMELINE_GROWTH, TIMELINE_ALLOCATED, TIMELINE_CALLS };

/* Return true if values are shown as amounts, false if as rates per second. */
static inline bool
timeline_is_level(enum timeline_by by)
{
    return by == TIMELINE_LIVE || by == TIMELINE_GROWTH;
}

/* Return the metric that BY shows over time. */
static inline enum metric
timeline_metric(enum timeline_by by)
{
    return timeline_is_level(by)       ? METRIC_INUSE
           : by == TIMELINE_ALLOCATED ? METRIC_ALLOC
                                       : METRIC_COUNT;
}

/* Trend of a stack's live bytes, or of its allocation rate. */
enum timeline_trend {
    TREND_UNKNOWN, // Too few snapshots.
    TREND_GROWS,   // Grows steadily, in the second half as well.
    TREND_GREW,    // Grew steadily and rests in the second half.
    TREND_FALLS,   // Falls steadily.
    TREND_RESTS,   // Hardly any change in the second half.
    TREND_VARIES,
};

/* Number of evenly spread values that determine a trend. */
enum { TREND_POINTS = 17 };

struct timeline_row {
    const struct stack *stack; // NULL: sum of all stacks, or of those without a row.
    int64_t rough[TREND_POINTS];
    int64_t max; // The largest value at any point.
    // The smallest and largest value at any point from rough[TREND_POINTS / 2] to the last but one.
    int64_t half_low, half_high;
    double per_minute; // Growth per minute: the median slope.
    enum timeline_trend trend;
    int64_t *values; // By point. Counted from the start of the window, except for live bytes.
};

struct timeline {
    enum timeline_by by;
    struct profile_point *points; // Start of the window, the snapshots in it, its end.
    size_t point_count;           // At least 2.
    struct timeline_row total;    // Sum of the stacks that passed the filter.
    struct timeline_row rest;     // Sum of the stacks without a row.
    struct timeline_row *rows;    // Growing stacks, fastest first; then the others, largest first.
    size_t row_count;             // Rows with values; further growing rows follow without.
    size_t growing; // Number of growing stacks among all.
    size_t stack_count;
    bool filtered; // The filter dropped some stacks.
    // By point: number of garbage collections before it; NULL = none in the run.
    uint64_t *collections;
};

struct timeline_options {
    enum timeline_by by;
    const struct profile_point *window; // Start and end; NULL = the whole run.
    size_t limit;                       // Maximum number of rows.
    // For pictures: at least half of the rows are the largest stacks, growing or not, and invisibly
    // small rows are dropped.
    bool by_size;
};

/* Build the timeline of P's STACKS. P must be whole and have a history. Everything in *RET is from
 * ARENA or borrowed. */
void timeline_build(const struct profile *p, const struct stacks *stacks,
                    const struct timeline_options *options, struct arena *arena,
                    struct timeline *ret);

/* Return the index of the first point whose values contain CHANGE; point_count if there is none.
 * Changes before the window count only for live bytes. */
size_t timeline_point_of(const struct timeline *t, const struct profile_change *change);

/* Return the index of the stack of CHANGE, or SIZE_MAX if the filter dropped it. timeline_amount
 * returns the amount that A, the amounts of a change, add to the quantity BY. */
size_t timeline_stack_of(const struct profile *p, const struct stacks *stacks,
                         const struct profile_change *change);
int64_t timeline_amount(const struct profile_amounts *a, enum timeline_by by);

/* Return the indices of P's changes, sorted by point, from ARENA. The changes of point K end before
 * ENDS[K]; ENDS has point_count + 1 elements, all 0. */
uint32_t *timeline_sort_changes(const struct profile *p, const struct timeline *t,
                                struct arena *arena, size_t *ends);

/* Return the value of ROW in COLUMN, one of COLUMNS equal intervals of the window. Of amounts,
 * return the largest at the points in the column; without points there, the amount at its end. Of
 * rates, return the rate per second. */
double timeline_column(const struct timeline *t, const struct timeline_row *row, size_t column,
                       size_t columns);

/* Return the point that timeline_column shows of a ROW of amounts. */
size_t timeline_column_point(const struct timeline *t, const struct timeline_row *row,
                             size_t column, size_t columns);

/* Return the amount of ROW at the end of the window, or its rate in the last of COLUMNS columns. */
double timeline_end(const struct timeline *t, const struct timeline_row *row, size_t columns);

/* Return the number of garbage collections in COLUMN. Each is charged to the first snapshot after
 * it. */
uint64_t timeline_collections(const struct timeline *t, size_t column, size_t columns);

/* Return the time at which COLUMN begins. COLUMN may equal COLUMNS: that is the end of the last
 * column. */
uint64_t timeline_column_ns(const struct timeline *t, size_t column, size_t columns);

/* Return the time between the ticks of an axis with at most TICKS parts. It is a common step, such
 * as 15 s or 2 min. */
uint64_t timeline_tick_ns(const struct timeline *t, size_t ticks);

/* Return the value of ROW at the end of the window. Return the last but one of the TREND_POINTS
 * values instead if the value at the end is less than half of it. */
int64_t timeline_last(const struct timeline_row *row);

/* Return true if timeline_last returns the last but one value of ROW, because the blocks were freed
 * only when the program ended. */
bool timeline_is_freed(const struct timeline_row *row);

/* Return true if the last value of each row is the live bytes of P, the profile, at the end. */
bool timeline_ends_live(const struct timeline *t, const struct profile *p);

/* Return true if P can show growth: it has a history, and ran long enough to separate growth from
 * start-up. */
bool timeline_can_show_growth(const struct profile *p);

/* Return true if ROW, live bytes of P, grows enough to warn the user. */
bool timeline_is_notable(const struct profile *p, const struct timeline_row *row);

/* Set the trend of ROW from its rough values, half_low, half_high and max. */
void timeline_find_trend(const struct timeline *t, struct timeline_row *row);

/* Return "grows", "grew", "falls", "rests", "varies" or "unknown". */
const char *timeline_trend_name(enum timeline_trend trend);

/* Return true if T, made from STACKS of P, keeps the invariants above. Only reads; see
 * util/ensure.h. */
bool timeline_is_valid(const struct profile *p, const struct stacks *stacks,
                       const struct timeline *t);

#endif
