/* timeline.h: what stacks held over time, and which of them grow. */
#ifndef ANALYSE_TIMELINE_H
#define ANALYSE_TIMELINE_H

#include "analyse/stacks.h"
#include "profile/at.h"

/* What is followed: live bytes, what they grew by since the window's beginning, or the bytes or the
 * calls allocated since then. */
enum timeline_by { TIMELINE_LIVE, TIMELINE_GROWTH, TIMELINE_ALLOCATED, TIMELINE_CALLS };

/* Whether a value is shown as it is, not as what it gains in a second. */
static inline bool
timeline_is_level(enum timeline_by by)
{
    return by == TIMELINE_LIVE || by == TIMELINE_GROWTH;
}

/* What became of a stack's live bytes, or of its rate of allocation. */
enum timeline_trend {
    TREND_UNKNOWN, // Too few snapshots to tell.
    TREND_GROWS,   // Steadily, and still in the second half.
    TREND_GREW,    // Steadily, but no longer.
    TREND_FALLS,   // Steadily.
    TREND_RESTS,   // Hardly any change in the second half.
    TREND_VARIES,
};

/* Trends are told by the values at so many moments, evenly spread. */
enum { TREND_POINTS = 17 };

struct timeline_row {
    const struct stack *stack; // NULL: the sum of all, or of the rest.
    int64_t rough[TREND_POINTS];
    int64_t max;       // The largest value at any point.
    double per_minute; // The median slope: what it gains in a minute.
    enum timeline_trend trend;
    int64_t *values; // By point. Since the beginning of the window, unless live.
};

struct timeline {
    enum timeline_by by;
    struct profile_moment *points; // The window's beginning, the snapshots in it, its end.
    size_t point_count;            // At least 2.
    struct timeline_row total;     // Of the stacks that the filter kept.
    struct timeline_row rest;      // Of those that are no row of their own.
    struct timeline_row *rows;     // Those that grow first, the fastest first; then by size.
    size_t row_count;              // Which have values; those that grow are all there without.
    size_t growing; // How many grow, of all stacks.
    size_t stack_count;
    bool filtered; // Some stacks were left out.
    // By point: collections of runtimes' collectors until then. NULL: there was none at all.
    uint64_t *collections;
};

struct timeline_options {
    enum timeline_by by;
    const struct profile_moment *window; // Two moments, or NULL: all.
    size_t limit;                        // Rows at most.
    // For pictures: half of the rows go to the largest, growing or not, and none to what is too
    // small to be seen.
    bool by_size;
};

/* Build the timeline of P, which must be whole and have a history. Everything in *RET is from ARENA
 * or borrowed. */
void timeline_build(const struct profile *p, const struct stacks *stacks,
                    const struct timeline_options *options, struct arena *arena,
                    struct timeline *ret);

/* The index of the first point whose values contain CHANGE; point_count if there is none. What
 * happened before the window counts only if live bytes are followed. */
size_t timeline_point_of(const struct timeline *t, const struct profile_change *change);

/* The index of the stack of CHANGE, or SIZE_MAX if the filter left it out. timeline_amount is what
 * the amounts A of a change add to what is followed BY. */
size_t timeline_stack_of(const struct profile *p, const struct stacks *stacks,
                         const struct profile_change *change);
int64_t timeline_amount(const struct profile_amounts *a, enum timeline_by by);

/* The index of the last point at or before ELAPSED_NS. */
size_t timeline_point_at(const struct timeline *t, uint64_t elapsed_ns);

/* What happened in a stretch of time, as views draw it: of COLUMNS equal ones column COLUMN; the
 * live bytes at its end, or what was allocated per second in it. */
double timeline_column(const struct timeline *t, const struct timeline_row *row, size_t column,
                       size_t columns);

/* How many collections were over in it, as far as snapshots tell: one belongs to the first snapshot
 * that knows of it. */
uint64_t timeline_collections(const struct timeline *t, size_t column, size_t columns);

/* When column COLUMN of COLUMNS begins; the last one ends where COLUMNS would begin. */
uint64_t timeline_column_ns(const struct timeline *t, size_t column, size_t columns);

/* The time between the ticks of an axis of at most TICKS parts, a step that people count in. */
uint64_t timeline_tick_ns(const struct timeline *t, size_t ticks);

/* The value of ROW at the end, or shortly before if it fell to less than half of that then. */
int64_t timeline_last(const struct timeline_row *row);

/* Can growth be news in P at all? Not without a history, and not in a run that was too short to
 * tell growth from a beginning. */
bool timeline_has_news(const struct profile *p);

/* Does ROW, of live bytes of P, grow by so much that its user would want to be told? */
bool timeline_is_news(const struct profile *p, const struct timeline_row *row);

/* Set max and trend of ROW from its rough values. */
void timeline_find_trend(const struct timeline *t, struct timeline_row *row);

/* "grows", "grew", "falls", "rests", "varies", "unknown". */
const char *timeline_trend_name(enum timeline_trend trend);

/* Does T, made from STACKS of P, keep the promises above? Only reads; see util/ensure.h. */
bool timeline_is_valid(const struct profile *p, const struct stacks *stacks,
                       const struct timeline *t);

#endif
