/* timeline.h: the memory held by stacks over time, and the growing ones. */
#ifndef ANALYSE_TIMELINE_H
#define ANALYSE_TIMELINE_H

#include "analyse/stacks.h"
#include "profile/time_slice.h"

/* Quantity of a series: live bytes, their growth since the window's start, or the bytes or calls
 * allocated since then. */
enum timeline_by { TIMELINE_LIVE, TIMELINE_GROWTH, TIMELINE_ALLOCATED, TIMELINE_CALLS };

/* Is a value shown as it is, rather than as a rate per second? */
static inline bool
timeline_is_level(enum timeline_by by)
{
    return by == TIMELINE_LIVE || by == TIMELINE_GROWTH;
}

/* Trend of a stack's live bytes, or of its allocation rate. */
enum timeline_trend {
    TREND_UNKNOWN, // Too few snapshots.
    TREND_GROWS,   // Steadily, and still in the second half.
    TREND_GREW,    // Steadily, but no longer.
    TREND_FALLS,   // Steadily.
    TREND_RESTS,   // Hardly any change in the second half.
    TREND_VARIES,
};

/* Number of values, evenly spread, that decide a trend. */
enum { TREND_POINTS = 17 };

struct timeline_row {
    const struct stack *stack; // NULL: the sum of all, or of the rest.
    int64_t rough[TREND_POINTS];
    int64_t max;       // The largest value at any point.
    double per_minute; // Median slope: growth per minute.
    enum timeline_trend trend;
    int64_t *values; // By point. Since the beginning of the window, unless live.
};

struct timeline {
    enum timeline_by by;
    struct profile_moment *points; // The window's beginning, the snapshots in it, its end.
    size_t point_count;            // At least 2.
    struct timeline_row total;     // Stacks that the filter kept.
    struct timeline_row rest;      // Sum of the stacks without a row.
    struct timeline_row *rows;     // Growing rows first, the fastest first; then by size.
    size_t row_count;              // Number of rows with values; all growing rows follow without.
    size_t growing; // Number of growing stacks among all.
    size_t stack_count;
    bool filtered; // Some stacks were left out.
    // By point: garbage collections so far. NULL: there were none.
    uint64_t *collections;
};

struct timeline_options {
    enum timeline_by by;
    const struct profile_moment *window; // Two moments, or NULL: all.
    size_t limit;                        // Maximum number of rows.
    // For pictures: half of the rows are the largest, growing or not, and invisibly small rows are
    // dropped.
    bool by_size;
};

/* Build the timeline of P, which must be whole and have a history. Everything in *RET is from ARENA
 * or borrowed. */
void timeline_build(const struct profile *p, const struct stacks *stacks,
                    const struct timeline_options *options, struct arena *arena,
                    struct timeline *ret);

/* Return the index of the first point whose values contain CHANGE; point_count if there is none.
 * What happened before the window counts only if live bytes are followed. */
size_t timeline_point_of(const struct timeline *t, const struct profile_change *change);

/* Index of the stack of CHANGE, or SIZE_MAX if the filter dropped it. timeline_amount returns how
 * much the amounts A of a change add to the quantity BY. */
size_t timeline_stack_of(const struct profile *p, const struct stacks *stacks,
                         const struct profile_change *change);
int64_t timeline_amount(const struct profile_amounts *a, enum timeline_by by);

/* Return the index of the last point at or before ELAPSED_NS. */
size_t timeline_point_at(const struct timeline *t, uint64_t elapsed_ns);

/* Return the value of COLUMN among COLUMNS equal intervals of time: the live bytes at its end, or
 * the allocation rate per second in it. */
double timeline_column(const struct timeline *t, const struct timeline_row *row, size_t column,
                       size_t columns);

/* Return the number of collections that ended in it. Each is charged to the first snapshot after
 * it. */
uint64_t timeline_collections(const struct timeline *t, size_t column, size_t columns);

/* When column COLUMN of COLUMNS begins; the last one ends where COLUMNS would begin. */
uint64_t timeline_column_ns(const struct timeline *t, size_t column, size_t columns);

/* Return the time between the ticks of an axis of at most TICKS parts, a step that people count
 * in. */
uint64_t timeline_tick_ns(const struct timeline *t, size_t ticks);

/* Return the value of ROW at the end, or shortly before if it then fell to less than half. */
int64_t timeline_last(const struct timeline_row *row);

/* Return true if P can show growth: it has a history, and ran long enough to separate growth from
 * start-up. */
bool timeline_has_news(const struct profile *p);

/* Return true if ROW, live bytes of P, grows enough to warn the user. */
bool timeline_is_news(const struct profile *p, const struct timeline_row *row);

/* Set max and trend of ROW from its rough values. */
void timeline_find_trend(const struct timeline *t, struct timeline_row *row);

/* "grows", "grew", "falls", "rests", "varies", "unknown". */
const char *timeline_trend_name(enum timeline_trend trend);

/* Return true if T, made from STACKS of P, keeps the invariants above. Only reads; see
 * util/ensure.h. */
bool timeline_is_valid(const struct profile *p, const struct stacks *stacks,
                       const struct timeline *t);

#endif
