/* timeline.c: build series of live bytes by stack from the changes between snapshots.
 *
 * A run of days has thousands of snapshots and a program has a hundred thousand stacks, so a value
 * for every stack at every snapshot is too much. First each stack gets its largest value,
 * TREND_POINTS evenly spread values, and the extremes of the second half, which determine its
 * trend. Then the few stacks that are shown get all values.
 *
 * The order of the values reveals a slow leak among churn, while their size does not. Kendall's tau
 * counts, over all pairs of moments, how often the later value is larger: 1 for steady growth,
 * about 0 for ups and downs. One jump, such as a table filled at the start, is far from 1, because
 * most pairs are equal. The slope is the median of the slopes of all pairs (Theil and Sen); neither
 * a jump nor a few outliers change it. A stack grows if the whole time and its second half agree:
 *
 *        grows            grew            rests           varies
 *           ..''        .'''''''        :''''''''        .' '.  .'
 *      ..'''          .'               :               .'    '.'
 *
 * A stack rests only if no point of the second half differs. The evenly spread values alone would
 * not show a stack that has much memory for short moments, again and again.
 *
 * A growing stack is not called a leak, because nobody has checked whether its blocks are
 * reachable. */
#include "analyse/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "profile/collector.h"
#include "util/ensure.h"

#define NS_PER_MINUTE 60e9
#define ELAPSED_NS_MAX ((uint64_t)1 << 61)

/* Minimum tau of a growing stack, over the whole time and over its second half. */
#define TAU_MIN 0.6
#define TAU_HALF_MIN 0.3

enum {
    HALF = TREND_POINTS / 2,
    RISES_MIN = 4,     // Minimum number of rises of a trend.
    VISIBLE = 400,     // A stack below 1/VISIBLE of the total is invisible in a picture.
    POINTS_MIN = 9,    // Minimum number of moments of a trend.
    REST_DIVISOR = 20, // Changes below 1/REST_DIVISOR of the largest value are rest.
    PAIRS = TREND_POINTS * (TREND_POINTS - 1) / 2,
};

struct builder {
    const struct profile *p;
    const struct stacks *stacks;
    const struct timeline_options *options;
    struct arena *arena;
    struct timeline *t;
    size_t first, last;       // First and last snapshot of the window.
    size_t *slots;            // By point: index of the first rough value that contains it.
    struct timeline_row *all; // By stack.
};

// Minimum growth that users are warned of: live bytes of the stack, its gain in the run and its
// gain per hour as shares of the peak. A run shorter than NOTABLE_RUN_NS shows no warning, because
// it may only have started up.
#define NOTABLE_RUN_NS (10 * UINT64_C(1000000000))
#define NOTABLE_GAIN 0.001
#define NOTABLE_GAIN_PER_HOUR 0.01
enum { NOTABLE_BYTES = 1024 };

bool
timeline_can_show_growth(const struct profile *p)
{
    return p->has_history && p->process.elapsed_ns >= NOTABLE_RUN_NS;
}

bool
timeline_is_notable(const struct profile *p, const struct timeline_row *row)
{
    double peak = (double)p->totals.peak_bytes;
    double gained = (double)(timeline_last(row) - row->rough[0]);

    return row->trend == TREND_GROWS && row->stack != NULL && row->stack->depth > 0 &&
           timeline_can_show_growth(p) && timeline_last(row) >= NOTABLE_BYTES &&
           gained >= NOTABLE_GAIN * peak && row->per_minute * 60 >= NOTABLE_GAIN_PER_HOUR * peak;
}

const char *
timeline_trend_name(enum timeline_trend trend)
{
    static const char *const names[] = {
        [TREND_UNKNOWN] = "unknown", [TREND_GROWS] = "grows", [TREND_GREW] = "grew",
        [TREND_FALLS] = "falls",     [TREND_RESTS] = "rests", [TREND_VARIES] = "varies",
    };

    return names[trend];
}

static uint64_t
window_ns(const struct timeline *t)
{
    return t->points[t->point_count - 1].elapsed_ns - t->points[0].elapsed_ns;
}

uint64_t
timeline_column_ns(const struct timeline *t, size_t column, size_t columns)
{
    return t->points[0].elapsed_ns +
           (uint64_t)((double)window_ns(t) * (double)column / (double)columns);
}

/* Return the index of the last point at or before ELAPSED_NS. */
static size_t
timeline_point_at(const struct timeline *t, uint64_t elapsed_ns)
{
    size_t low = 0, high = t->point_count;

    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;

        if (t->points[middle].elapsed_ns <= elapsed_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint64_t
timeline_tick_ns(const struct timeline *t, size_t ticks)
{
    static const uint64_t ms = 1000000, s = 1000000000, min = UINT64_C(60000000000);
    const uint64_t steps[] = {ms,        2 * ms,    5 * ms,     10 * ms,    20 * ms,    50 * ms,
                              100 * ms,  200 * ms,  500 * ms,   s,          2 * s,      5 * s,
                              10 * s,    15 * s,    30 * s,     min,        2 * min,    5 * min,
                              10 * min,  15 * min,  30 * min,   60 * min,   120 * min,  240 * min,
                              360 * min, 720 * min, 1440 * min, 2880 * min, 10080 * min};

    for (size_t i = 0; i < countof(steps); i++)
        if (window_ns(t) / steps[i] <= ticks)
            return steps[i];
    return window_ns(t) / ticks;
}

int64_t
timeline_last(const struct timeline_row *row)
{
    int64_t last = row->rough[TREND_POINTS - 1], before = row->rough[TREND_POINTS - 2];

    return before > 0 && last < before / 2 ? before : last;
}

bool
timeline_is_freed(const struct timeline_row *row)
{
    return timeline_last(row) != row->rough[TREND_POINTS - 1];
}

bool
timeline_ends_live(const struct timeline *t, const struct profile *p)
{
    return t->by == TIMELINE_LIVE && t->points[t->point_count - 1].snapshots > p->snapshot_count;
}

/* Return the value of ROW at ELAPSED_NS, on the line between the points around it. */
static double
value_between(const struct timeline *t, const struct timeline_row *row, uint64_t elapsed_ns)
{
    size_t i = timeline_point_at(t, elapsed_ns);
    uint64_t from = t->points[i].elapsed_ns, to;

    if (i + 1 == t->point_count)
        return (double)row->values[i];
    to = t->points[i + 1].elapsed_ns;
    if (to <= from)
        return (double)row->values[i + 1];
    return (double)row->values[i] + ((double)row->values[i + 1] - (double)row->values[i]) *
                                        ((double)(elapsed_ns - from) / (double)(to - from));
}

/* Return the time at which COLUMN ends. The last one ends exactly at the last point. */
static uint64_t
column_end_ns(const struct timeline *t, size_t column, size_t columns)
{
    return column + 1 == columns ? t->points[t->point_count - 1].elapsed_ns
                                 : timeline_column_ns(t, column + 1, columns);
}

size_t
timeline_column_point(const struct timeline *t, const struct timeline_row *row, size_t column,
                      size_t columns)
{
    size_t last = column + 1 == columns
                      ? t->point_count - 1
                      : timeline_point_at(t, column_end_ns(t, column, columns)),
           best = last;

    // A point at a boundary belongs to the column that it ends, so each is in exactly one column.
    for (size_t i = column == 0 ? 0 : timeline_point_at(t, timeline_column_ns(t, column, columns)) +
                                          1;
         i < last; i++)
        if (row->values[i] > row->values[best])
            best = i;
    return best;
}

double
timeline_column(const struct timeline *t, const struct timeline_row *row, size_t column,
                size_t columns)
{
    uint64_t from = timeline_column_ns(t, column, columns), to = column_end_ns(t, column, columns);

    if (timeline_is_level(t->by))
        return (double)row->values[timeline_column_point(t, row, column, columns)];
    return to > from ? (value_between(t, row, to) - value_between(t, row, from)) * 1e9 /
                           (double)(to - from)
                     : 0;
}

double
timeline_end(const struct timeline *t, const struct timeline_row *row, size_t columns)
{
    return timeline_is_level(t->by) ? (double)row->values[t->point_count - 1]
                                    : timeline_column(t, row, columns - 1, columns);
}

int64_t
timeline_amount(const struct profile_amounts *a, enum timeline_by by)
{
    return timeline_is_level(by)      ? profile_amounts_live(a)
           : by == TIMELINE_ALLOCATED ? a->allocated_bytes
                                      : a->allocations;
}

static void
find_points(struct builder *b)
{
    struct timeline *t = b->t;

    b->first = b->options->window ? b->options->window[0].snapshots : 0;
    b->last = b->options->window ? b->options->window[1].snapshots : b->p->snapshot_count + 1;
    t->point_count = b->last - b->first + 1;
    t->points = arena_array(b->arena, t->point_count, sizeof *t->points);
    for (size_t i = 0; i < t->point_count; i++)
        t->points[i] = point_at(b->p, b->first + i);
    // The last event may be slightly older than the last snapshot, and the last point of a damaged
    // file may have no time.
    for (size_t i = 1; i < t->point_count; i++)
        if (t->points[i].elapsed_ns < t->points[i - 1].elapsed_ns ||
            t->points[i].elapsed_ns > ELAPSED_NS_MAX)
            t->points[i].elapsed_ns = t->points[i - 1].elapsed_ns;
}

static void
find_collections(struct builder *b)
{
    struct timeline *t = b->t;

    if (profile_collected(b->p).collections == 0)
        return;
    t->collections = arena_array(b->arena, t->point_count, sizeof *t->collections);
    for (size_t i = 0; i < t->point_count; i++) {
        t->collections[i] = profile_collections_at(b->p, &t->points[i]);
        // Counts rise, except in a damaged file, or if two threads took snapshots concurrently.
        if (i > 0 && t->collections[i] < t->collections[i - 1])
            t->collections[i] = t->collections[i - 1];
    }
}

uint64_t
timeline_collections(const struct timeline *t, size_t column, size_t columns)
{
    size_t first, last = t->point_count - 1;

    if (t->collections == NULL)
        return 0;
    first = column == 0 ? 0 : timeline_point_at(t, timeline_column_ns(t, column, columns) - 1);
    if (column + 1 < columns)
        last = timeline_point_at(t, timeline_column_ns(t, column + 1, columns) - 1);
    return last > first ? t->collections[last] - t->collections[first] : 0;
}

size_t
timeline_point_of(const struct timeline *t, const struct profile_change *change)
{
    size_t first = t->points[0].snapshots, last = t->points[t->point_count - 1].snapshots;

    if (change->interval >= last)
        return t->point_count;
    if (change->interval < first)
        return t->by == TIMELINE_LIVE ? 0 : t->point_count;
    return change->interval + 1 - first;
}

size_t
timeline_stack_of(const struct profile *p, const struct stacks *stacks,
                  const struct profile_change *change)
{
    uint32_t stack = stacks->site_stacks[p->thread_sites[change->thread_site].site];

    return stack == 0 ? SIZE_MAX : stack - 1;
}

static void
timeline_sum_up(int64_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        values[i] = counters_sum(values[i], values[i - 1]);
}

static void
timeline_add_to(int64_t *value, int64_t amount)
{
    *value = counters_sum(*value, amount);
}

static void
find_slots(struct builder *b)
{
    const struct timeline *t = b->t;

    b->slots = arena_array(b->arena, t->point_count, sizeof *b->slots);
    for (size_t k = 0, next = 0; k < TREND_POINTS; k++) {
        size_t until = k + 1 == TREND_POINTS
                           ? t->point_count - 1
                           : timeline_point_at(t, timeline_column_ns(t, k, TREND_POINTS - 1));

        for (; next <= until; next++)
            b->slots[next] = k;
    }
}

/* Set the values at TREND_POINTS moments of each stack. */
static void
fill_rough(struct builder *b)
{
    struct timeline *t = b->t;

    for (size_t i = 0; i < b->p->change_count; i++) {
        const struct profile_change *change = &b->p->changes[i];
        size_t stack = timeline_stack_of(b->p, b->stacks, change),
               point = timeline_point_of(t, change);
        int64_t amount = timeline_amount(&change->amounts, t->by);

        if (stack == SIZE_MAX || point >= t->point_count)
            continue;
        timeline_add_to(&b->all[stack].rough[b->slots[point]], amount);
        timeline_add_to(&t->total.rough[b->slots[point]], amount);
    }
    timeline_sum_up(t->total.rough, TREND_POINTS);
    for (size_t i = 0; i < t->stack_count; i++)
        timeline_sum_up(b->all[i].rough, TREND_POINTS);
}

uint32_t *
timeline_sort_changes(const struct profile *p, const struct timeline *t, struct arena *arena,
                      size_t *ends)
{
    uint32_t *order = arena_array(arena, p->change_count, sizeof *order);

    for (size_t i = 0; i < p->change_count; i++)
        ends[timeline_point_of(t, &p->changes[i])]++;
    for (size_t k = 0, sum = 0; k <= t->point_count; k++) {
        size_t count = ends[k];

        ends[k] = sum;
        sum += count;
    }
    for (size_t i = 0; i < p->change_count; i++)
        order[ends[timeline_point_of(t, &p->changes[i])]++] = (uint32_t)i;
    return order;
}

/* Update the extremes of ROW, whose value at point K is VALUE. */
static void
find_extremes(const struct builder *b, struct timeline_row *row, size_t k, int64_t value)
{
    row->max = value > row->max ? value : row->max;
    if (b->slots[k] <= HALF || b->slots[k] == TREND_POINTS - 1)
        return;
    row->half_low = value < row->half_low ? value : row->half_low;
    row->half_high = value > row->half_high ? value : row->half_high;
}

/* Find the largest value of each stack at any point, and its extremes in the second half. The
 * TREND_POINTS moments alone would miss short bursts. */
static void
find_maxima(struct builder *b)
{
    struct timeline *t = b->t;
    size_t *ends = arena_array(b->arena, t->point_count + 1, sizeof *ends);
    uint32_t *order = timeline_sort_changes(b->p, t, b->arena, ends);
    int64_t *now = arena_array(b->arena, b->stacks->count, sizeof *now), sum = 0;

    t->total.half_low = t->total.half_high = t->total.rough[HALF];
    for (size_t i = 0; i < t->stack_count; i++)
        b->all[i].half_low = b->all[i].half_high = b->all[i].rough[HALF];
    for (size_t k = 0, i = 0; k < t->point_count; k++) {
        size_t begin = i;

        for (; i < ends[k]; i++) {
            const struct profile_change *change = &b->p->changes[order[i]];
            size_t stack = timeline_stack_of(b->p, b->stacks, change);
            int64_t amount = timeline_amount(&change->amounts, t->by);

            if (stack == SIZE_MAX)
                continue;
            timeline_add_to(&now[stack], amount);
            timeline_add_to(&sum, amount);
        }
        find_extremes(b, &t->total, k, sum);
        for (size_t m = begin; m < i; m++) {
            size_t stack = timeline_stack_of(b->p, b->stacks, &b->p->changes[order[m]]);

            if (stack != SIZE_MAX)
                find_extremes(b, &b->all[stack], k, now[stack]);
        }
    }
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Return Kendall's tau of COUNT VALUES. */
static double
kendall(const double *values, size_t count)
{
    int concordant = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            concordant += (values[k] > values[i]) - (values[k] < values[i]);
    return (double)concordant / (double)(count * (count - 1) / 2);
}

/* Return the median slope of all pairs of COUNT values, per step. */
static double
median_slope(const double *values, size_t count)
{
    double slopes[PAIRS] = {0};
    size_t pairs = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            slopes[pairs++] = (values[k] - values[i]) / (double)(k - i);
    qsort(slopes, pairs, sizeof *slopes, by_value);
    return pairs % 2 ? slopes[pairs / 2] : (slopes[pairs / 2 - 1] + slopes[pairs / 2]) / 2;
}

static size_t
count_rises(const double *values, size_t count)
{
    size_t rises = 0;

    for (size_t i = 1; i < count; i++)
        rises += values[i] > values[i - 1];
    return rises;
}

/* Return true if T's ROW hardly changes in the second half. Its COUNT VALUES determine the trend,
 * and LARGEST is its scale. */
static bool
is_at_rest(const struct timeline *t, const struct timeline_row *row, const double *values,
           size_t count, double largest)
{
    double low = values[HALF], high = values[HALF];

    if (timeline_is_level(t->by)) {
        low = (double)row->half_low;
        high = (double)row->half_high;
    }
    for (size_t i = HALF; i < count; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    return (high - low) * REST_DIVISOR <= largest;
}

/* Return the trend of T's ROW from its COUNT VALUES. LARGEST is its scale. */
static enum timeline_trend
timeline_classify(const struct timeline *t, const struct timeline_row *row, const double *values,
                  size_t count, double largest)
{
    double tau = kendall(values, count), half = kendall(values + HALF, count - HALF);

    if (tau >= TAU_MIN && half >= TAU_HALF_MIN && count_rises(values, count) >= RISES_MIN &&
        median_slope(values + HALF, count - HALF) > 0)
        return TREND_GROWS;
    if (is_at_rest(t, row, values, count, largest))
        return tau >= TAU_MIN && count_rises(values, count) >= RISES_MIN ? TREND_GREW : TREND_RESTS;
    if (tau <= -TAU_MIN && half <= -TAU_HALF_MIN)
        return TREND_FALLS;
    return TREND_VARIES;
}

/* Store the values that determine the trend of ROW in VALUES, at most TREND_POINTS. Returns their
 * number. */
static size_t
trend_values(const struct timeline *t, const struct timeline_row *row, double *values)
{
    size_t count = 0;

    // Many programs clean up before they exit, so the last moment is not representative.
    for (size_t i = 0; i + 1 < TREND_POINTS; i++) {
        if (timeline_is_level(t->by))
            values[count++] = (double)row->rough[i];
        else if (i > 0)
            values[count++] = (double)row->rough[i] - (double)row->rough[i - 1];
    }
    return count;
}

void
timeline_find_trend(const struct timeline *t, struct timeline_row *row)
{
    double values[TREND_POINTS], largest = timeline_is_level(t->by) ? (double)row->max : 0;
    size_t count = trend_values(t, row, values);

    for (size_t i = 0; i < count; i++)
        largest = values[i] > largest ? values[i] : largest;
    row->trend = t->point_count < POINTS_MIN ? TREND_UNKNOWN
                                             : timeline_classify(t, row, values, count, largest);
}

static void
find_slope(const struct timeline *t, struct timeline_row *row)
{
    double values[TREND_POINTS], step_ns = (double)window_ns(t) / (TREND_POINTS - 1);
    size_t count = trend_values(t, row, values);

    row->per_minute =
        step_ns > 0 ? median_slope(values, count) / step_ns * NS_PER_MINUTE : 0;
}

static int
by_growth(const void *a, const void *b)
{
    const struct timeline_row *x = a, *y = b;
    bool x_grows = x->trend == TREND_GROWS, y_grows = y->trend == TREND_GROWS;

    if (x_grows != y_grows)
        return x_grows ? -1 : 1;
    if (x_grows && x->per_minute != y->per_minute)
        return x->per_minute > y->per_minute ? -1 : 1;
    if (x->max != y->max)
        return x->max > y->max ? -1 : 1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static int
by_max(const void *a, const void *b)
{
    const struct timeline_row *x = a, *y = b;

    if (x->max != y->max)
        return x->max > y->max ? -1 : 1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* Sort all stacks and take the first LIMIT: growing stacks by slope, then the others by size. With
 * by_size, growing stacks by slope take at most half of the rows, and all others are sorted by
 * size. */
static void
choose_rows(struct builder *b)
{
    struct timeline *t = b->t;
    size_t limit = b->options->limit, growing;
    int64_t least;

    qsort(b->all, t->stack_count, sizeof *b->all, by_growth);
    while (t->growing < t->stack_count && b->all[t->growing].trend == TREND_GROWS)
        t->growing++;
    growing = t->growing < limit / 2 ? t->growing : limit / 2;
    if (b->options->by_size)
        qsort(b->all + growing, t->stack_count - growing, sizeof *b->all, by_max);
    t->rows = b->all;
    least = b->options->by_size ? t->total.max / VISIBLE : 0;
    while (t->row_count < limit && t->row_count < t->stack_count &&
           t->rows[t->row_count].max > (t->row_count < growing ? 0 : least))
        t->row_count++;
}

static void
fill_values(struct builder *b)
{
    struct timeline *t = b->t;
    uint32_t *row_of = arena_array(b->arena, t->stack_count, sizeof *row_of);

    t->total.values = arena_array(b->arena, t->point_count, sizeof *t->total.values);
    t->rest.values = arena_array(b->arena, t->point_count, sizeof *t->rest.values);
    for (size_t i = 0; i < t->row_count; i++) {
        t->rows[i].values = arena_array(b->arena, t->point_count, sizeof *t->rows[i].values);
        row_of[t->rows[i].stack - b->stacks->v] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < b->p->change_count; i++) {
        const struct profile_change *change = &b->p->changes[i];
        size_t stack = timeline_stack_of(b->p, b->stacks, change),
               point = timeline_point_of(t, change);
        int64_t amount = timeline_amount(&change->amounts, t->by);

        if (stack == SIZE_MAX || point >= t->point_count)
            continue;
        timeline_add_to(&t->total.values[point], amount);
        timeline_add_to(row_of[stack] ? &t->rows[row_of[stack] - 1].values[point]
                                      : &t->rest.values[point],
                        amount);
    }
    timeline_sum_up(t->total.values, t->point_count);
    timeline_sum_up(t->rest.values, t->point_count);
    for (size_t i = 0; i < t->row_count; i++)
        timeline_sum_up(t->rows[i].values, t->point_count);
}

void
timeline_build(const struct profile *p, const struct stacks *stacks,
               const struct timeline_options *options, struct arena *arena, struct timeline *ret)
{
    struct builder b = {.p = p, .stacks = stacks, .options = options, .arena = arena, .t = ret};

    ENSURE(p->extent == EXTENT_WHOLE && p->has_history);
    *ret = (struct timeline){
        .by = options->by, .stack_count = stacks->count, .filtered = stacks->filtered};
    b.all = arena_array(arena, stacks->count, sizeof *b.all);
    for (size_t i = 0; i < stacks->count; i++)
        b.all[i].stack = &stacks->v[i];
    find_points(&b);
    find_collections(&b);
    find_slots(&b);
    fill_rough(&b);
    find_maxima(&b);
    timeline_find_trend(ret, &ret->total);
    find_slope(ret, &ret->total);
    for (size_t i = 0; i < stacks->count; i++) {
        timeline_find_trend(ret, &b.all[i]);
        if (b.all[i].trend == TREND_GROWS) // Growing stacks are sorted by their slopes.
            find_slope(ret, &b.all[i]);
    }
    choose_rows(&b);
    for (size_t i = 0; i < ret->row_count; i++)
        find_slope(ret, &ret->rows[i]);
    fill_values(&b);
    ENSURE_VALID(timeline_is_valid(p, stacks, ret));
}

static bool
points_are_valid(const struct profile *p, const struct timeline *t)
{
    VALID(t->point_count >= 2); // The window has a beginning and an end.
    VALID(t->points[t->point_count - 1].snapshots <= p->snapshot_count + 1); // The end is the last.
    for (size_t i = 1; i < t->point_count; i++) {
        // Points are in the order of snapshots.
        VALID(t->points[i - 1].snapshots < t->points[i].snapshots);
        // Points are in the order of time.
        VALID(t->points[i - 1].elapsed_ns <= t->points[i].elapsed_ns);
    }
    return true;
}

/* Return true if the rows and the rest sum to the total at each point. */
static bool
values_are_valid(const struct timeline *t)
{
    for (size_t k = 0; k < t->point_count; k++) {
        int64_t sum = t->rest.values[k];

        for (size_t i = 0; i < t->row_count; i++) {
            VALID(t->rows[i].values[k] <= t->rows[i].max); // Pictures scale by max.
            sum = counters_sum(sum, t->rows[i].values[k]);
        }
        VALID(sum == t->total.values[k]); // Each change is in one row or in the rest.
        VALID(sum <= t->total.max);       // Pictures drop rows by their share of max.
    }
    return true;
}

bool
timeline_is_valid(const struct profile *p, const struct stacks *stacks, const struct timeline *t)
{
    if (!points_are_valid(p, t))
        return false;
    VALID(t->row_count <= t->stack_count); // No two rows have the same stack.
    VALID(t->growing <= t->stack_count);   // Growing stacks are a part of all stacks.
    for (size_t i = 0; i < t->row_count; i++) {
        VALID(t->rows[i].stack != NULL);         // Views show the frames of this stack.
        VALID(t->rows[i].trend <= TREND_VARIES); // Each trend has a name.
    }
    // At the end of the run, live bytes equal the profile's counters of these stacks.
    VALID(t->by != TIMELINE_LIVE || t->points[t->point_count - 1].snapshots <= p->snapshot_count ||
          t->total.values[t->point_count - 1] == counters_live_bytes(&stacks->total));
    return values_are_valid(t);
}
