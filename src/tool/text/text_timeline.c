/* text_timeline.c: a chart as text.
 *
 *                                       ▼ peak 5.2 MiB after 58.2 s
 *      5.2M ┤                ▁▂▄▆▇█
 *           │        ▂▄▆▇████████
 *           │  ▂▄▆█████████████████
 *         0 └┴─────────┴──────────┴
 *            0        16 s      32 s
 *            ↑ loaded        ↑ serving
 *
 * A column is a stretch of time; its height is the largest live bytes at a snapshot in it, in
 * eighths of a line, or the bytes allocated in it. So the scale does not depend on the width. The
 * peak is an instant that no snapshot may have met, so its column is raised to it. If the program
 * has a collector, a line below the axis shows how often it ran in each column. Below are the
 * stacks, growing ones first, each with a sparkline on its own scale: it
 * shows the shape, the numbers beside it the size. */
#include "text/text.h"

#include <inttypes.h>
#include <math.h>

#include "profile/collector.h"
#include "text/text_view.h"
#include "view/phrases.h"

enum {
    HEIGHT = 8, // Number of lines of the chart.
    STEPS = 8,  // Number of distinct heights within a line.
    AXIS = 9,   // Columns of the labels on the left, with the axis.
    CHART_MIN = 20,
    CHART_MAX = 200,
    WIDTH_DEFAULT = 80, // Width if lines have no limit.
    TICKS_MAX = 6,      // Maximum number of parts of the time axis.
    NAME_LINES = 3,
    SPARK = 22,
    AMOUNTS_WIDTH = 28,
};

// Least rise of the sum to state if no stack grows, relative to its maximum.
#define NOTABLE_RISE 0.1

static const char *const blocks[STEPS + 1] = {
    " ",
    "\xe2\x96\x81",
    "\xe2\x96\x82",
    "\xe2\x96\x83",
    "\xe2\x96\x84",
    "\xe2\x96\x85",
    "\xe2\x96\x86",
    "\xe2\x96\x87",
    "\xe2\x96\x88",
};

struct chart {
    struct text_view *v;
    const struct timeline *t;
    double values[CHART_MAX];
    size_t columns;
    double top;  // Top of the scale; above 0.
    size_t peak; // Column of the peak; `columns` = none.
};

static int64_t
text_timeline_rounded(double x)
{
    return x >= 0x1p62 ? INT64_MAX / 2 : x <= -0x1p62 ? INT64_MIN / 2 : llround(x);
}

/* Return X in the unit of T's series: bytes, bytes per second or calls per second. */
static const char *
text_timeline_amount(struct arena *a, const struct timeline *t, double x)
{
    switch (t->by) {
    case TIMELINE_LIVE:
    case TIMELINE_GROWTH:
        return style_bytes(a, text_timeline_rounded(x));
    case TIMELINE_ALLOCATED:
        return arena_printf(a, "%s/s", style_bytes(a, text_timeline_rounded(x)));
    default:
        return arena_printf(a, "%s/s", style_count(a, text_timeline_rounded(x)));
    }
}

static const char *
amount_short(struct arena *a, const struct timeline *t, double x)
{
    if (t->by != TIMELINE_CALLS)
        return style_bytes_short(a, text_timeline_rounded(x));
    return x < 1e4   ? style_count(a, text_timeline_rounded(x))
           : x < 1e7 ? arena_printf(a, "%.0fk", x / 1e3)
                     : arena_printf(a, "%.0fM", x / 1e6);
}

/* Return WHOLE of one unit and PART of the next unit; PART is left out if it is 0. */
static const char *
two_units(struct arena *a, uint64_t whole, const char *unit, uint64_t part, const char *next)
{
    return part == 0 ? arena_printf(a, "%" PRIu64 "%s", whole, unit)
                     : arena_printf(a, "%" PRIu64 "%s%02" PRIu64 "%s", whole, unit, part, next);
}

/* Return a time in as few characters as possible, because several share the line below the axis. */
static const char *
time_text(struct arena *a, uint64_t ns)
{
    uint64_t s = ns / 1000000000;

    if (ns == 0)
        return "0";
    if (s < 1)
        return arena_printf(a, "%.0fms", (double)ns / 1e6);
    if (s < 60)
        return arena_printf(a, "%.3gs", (double)ns / 1e9);
    if (s < 3600)
        return two_units(a, s / 60, "m", s % 60, "s");
    if (s < 86400)
        return two_units(a, s / 3600, "h", s / 60 % 60, "m");
    return two_units(a, s / 86400, "d", s / 3600 % 24, "h");
}

/* Return the column of a moment within the window. */
static size_t
column_at(const struct chart *c, uint64_t elapsed_ns)
{
    uint64_t from = c->t->points[0].elapsed_ns, to = c->t->points[c->t->point_count - 1].elapsed_ns;
    size_t column;

    if (elapsed_ns <= from || to <= from)
        return 0;
    column = (size_t)((double)(elapsed_ns - from) / (double)(to - from) * (double)c->columns);
    return column < c->columns ? column : c->columns - 1;
}

static bool
peak_is_inside(const struct chart *c)
{
    uint64_t peak_ns = c->v->base.p->peak_elapsed_ns;

    return c->t->by == TIMELINE_LIVE && !c->t->filtered && peak_ns != 0 &&
           peak_ns >= c->t->points[0].elapsed_ns &&
           peak_ns <= c->t->points[c->t->point_count - 1].elapsed_ns;
}

static void
text_timeline_measure(struct chart *c)
{
    size_t width = text_is_wide(c->v) ? WIDTH_DEFAULT : c->v->style.width;
    double peak = (double)c->v->base.p->totals.peak_bytes;

    c->columns = width > AXIS + CHART_MIN ? width - AXIS - 1 : CHART_MIN;
    if (c->columns > CHART_MAX)
        c->columns = CHART_MAX;
    for (size_t i = 0; i < c->columns; i++)
        c->values[i] = timeline_column(c->t, &c->t->total, i, c->columns);
    c->peak = c->columns;
    if (peak_is_inside(c)) {
        c->peak = column_at(c, c->v->base.p->peak_elapsed_ns);
        if (c->values[c->peak] < peak)
            c->values[c->peak] = peak;
    }
    for (size_t i = 0; i < c->columns; i++)
        c->top = c->values[i] > c->top ? c->values[i] : c->top;
    c->top = c->top > 0 ? c->top : 1;
}

static void
put_peak(struct chart *c)
{
    struct text_view *v = c->v;
    const char *text = arena_printf(v->base.arena, "peak %s after %s",
                                    style_bytes(v->base.arena, v->base.p->totals.peak_bytes),
                                    style_duration(v->base.arena, v->base.p->peak_elapsed_ns));
    size_t width = style_width(text), at = AXIS + c->peak;

    if (c->peak == c->columns)
        return;
    if (width + 1 <= at)
        style_right(v->out, arena_printf(v->base.arena, "%s \xe2\x96\xbc", text), at + 1);
    else
        style_right(v->out, arena_printf(v->base.arena, "\xe2\x96\xbc %s", text), at + width + 2);
    strbuf_char(v->out, '\n');
}

/* Return the number of eighths of line LINE (0 = lowest) that a column of VALUE fills. */
static size_t
eighths(const struct chart *c, double value, size_t line)
{
    double steps = value / c->top * HEIGHT * STEPS - (double)(line * STEPS);

    // Every value above 0 must be visible.
    if (line == 0 && value > 0 && steps < 1)
        return 1;
    return steps <= 0 ? 0 : steps >= STEPS ? STEPS : (size_t)(steps + 0.5);
}

static void
text_timeline_put_lines(struct chart *c)
{
    struct text_view *v = c->v;

    for (size_t line = HEIGHT; line-- > 0;) {
        bool labelled = line == HEIGHT - 1 || line == HEIGHT / 2 - 1;
        const char *label =
            labelled ? amount_short(v->base.arena, c->t, c->top * (double)(line + 1) / HEIGHT) : "";
        struct strbuf bar = {0};

        style_right(v->out, label, AXIS - 2);
        strbuf_str(v->out, labelled ? " \xe2\x94\xa4" : " \xe2\x94\x82");
        for (size_t i = 0; i < c->columns; i++)
            strbuf_str(&bar, blocks[eighths(c, c->values[i], line)]);
        while (bar.length > 0 && bar.text[bar.length - 1] == ' ')
            bar.text[--bar.length] = '\0';
        style_text(&v->style, v->out, ATTR_NUMBER, strbuf_text(&bar));
        strbuf_char(v->out, '\n');
        strbuf_release(&bar);
    }
}

/* Write the labels below the axis: one at each tick, and one at the end if there is room. */
static void
put_times(struct chart *c, uint64_t first, uint64_t step)
{
    uint64_t end = c->t->points[c->t->point_count - 1].elapsed_ns;
    struct strbuf line = {0};
    const char *last = time_text(c->v->base.arena, end);

    for (size_t i = 0; i <= TICKS_MAX && first + i * step <= end; i++) {
        const char *text = time_text(c->v->base.arena, first + i * step);
        size_t at = AXIS + column_at(c, first + i * step);

        if (at + style_width(text) + style_width(last) >= AXIS + c->columns)
            break;
        style_left(&line, "", at - style_width(strbuf_text(&line)));
        strbuf_str(&line, text);
    }
    style_right(&line, last, AXIS + c->columns - style_width(strbuf_text(&line)));
    text_line(c->v, ATTR_PLAIN, strbuf_text(&line));
    strbuf_release(&line);
}

static void
put_axis(struct chart *c)
{
    uint64_t from = c->t->points[0].elapsed_ns,
             end = c->t->points[c->t->point_count - 1].elapsed_ns;
    uint64_t step = timeline_tick_ns(c->t, TICKS_MAX), first = from + (step - from % step) % step;
    bool ticks[CHART_MAX] = {0};
    struct text_view *v = c->v;

    for (size_t i = 0; i <= TICKS_MAX && first + i * step <= end; i++)
        ticks[column_at(c, first + i * step)] = true;
    style_right(v->out, "0", AXIS - 2);
    strbuf_str(v->out, " \xe2\x94\x94");
    for (size_t i = 0; i < c->columns; i++)
        strbuf_str(v->out, ticks[i] ? "\xe2\x94\xb4" : "\xe2\x94\x80");
    strbuf_char(v->out, '\n');
    put_times(c, first, step);
}

/* Write the number of collections in each column. */
static void
text_timeline_put_collections(struct chart *c)
{
    struct text_view *v = c->v;
    struct strbuf line = {0};
    uint64_t all = 0;

    if (c->t->collections == NULL)
        return;
    style_right(&line, "gc", AXIS - 2);
    style_left(&line, "", 2);
    for (size_t i = 0; i < c->columns; i++) {
        uint64_t n = timeline_collections(c->t, i, c->columns);

        strbuf_char(&line, n == 0 ? ' ' : n < 10 ? (char)('0' + n) : '+');
        all += n;
    }
    while (line.length > 0 && line.text[line.length - 1] == ' ')
        line.text[--line.length] = '\0';
    text_line(v, ATTR_PLAIN, strbuf_text(&line));
    text_below(v, AXIS,
               arena_printf(v->base.arena, "%s; what died counts as live until the next",
                            style_plural(v->base.arena, (int64_t)(all & INT64_MAX),
                                         "collection")));
    strbuf_release(&line);
}

/* Write the names of the snapshots below the axis, each on the first line that has room. */
static void
put_names(struct chart *c)
{
    struct strbuf lines[NAME_LINES] = {{0}};
    size_t left_out = 0;

    for (size_t i = 0; i < c->t->point_count; i++) {
        const struct profile_point *m = &c->t->points[i];
        size_t column = AXIS + column_at(c, m->elapsed_ns), line = 0;
        const char *name = style_clean(c->v->base.arena, m->name);

        if (*name == '\0' || profile_is_collection(c->v->base.p, m) || m->snapshots == 0 ||
            m->snapshots > c->v->base.p->snapshot_count)
            continue;
        while (line < NAME_LINES && lines[line].length > 0 &&
               style_width(lines[line].text) >= column)
            line++;
        if (line == NAME_LINES || column + 2 + style_width(name) > AXIS + c->columns + 1) {
            left_out++;
            continue;
        }
        style_left(&lines[line], "", column - style_width(strbuf_text(&lines[line])));
        strbuf_str(&lines[line], arena_printf(c->v->base.arena, "\xe2\x86\x91 %s", name));
    }
    for (size_t i = 0; i < NAME_LINES; i++) {
        if (lines[i].length > 0)
            text_line(c->v, ATTR_PLAIN, lines[i].text);
        strbuf_release(&lines[i]);
    }
    if (left_out)
        text_line(c->v, ATTR_DIM,
                  arena_printf(c->v->base.arena, "%*s\xe2\x80\xa6 and %s", AXIS, "",
                               style_plural(c->v->base.arena, (int64_t)left_out, "more snapshot")));
}

/* Return the lower end of a sparkline's scale. It is 0; for a row with a trend, it is the lowest
 * value after the start, because otherwise a trend that is small beside the value would be
 * invisible. */
static double
ground(const struct timeline_row *row, const double *values)
{
    double low = values[SPARK - 1];

    if (row->trend != TREND_GROWS && row->trend != TREND_GREW && row->trend != TREND_FALLS)
        return 0;
    for (size_t i = SPARK / (TREND_POINTS - 1); i < SPARK; i++)
        low = values[i] < low ? values[i] : low;
    return low;
}

static const char *
sparkline(struct arena *a, const struct timeline *t, const struct timeline_row *row)
{
    struct strbuf text = {0};
    double values[SPARK], top = 0, low;
    const char *out;

    for (size_t i = 0; i < SPARK; i++) {
        values[i] = timeline_column(t, row, i, SPARK);
        top = values[i] > top ? values[i] : top;
    }
    low = ground(row, values);
    for (size_t i = 0; i < SPARK; i++) {
        double share = top > low ? (values[i] - low) / (top - low) : 0;
        size_t step = share > 0 ? (size_t)ceil(share * STEPS) : values[i] > 0;

        strbuf_str(&text, blocks[step < STEPS ? step : STEPS]);
    }
    out = arena_strdup(a, strbuf_text(&text));
    strbuf_release(&text);
    return out;
}

/* Return the growth of ROW in the long run, "+40.1 KiB/min"; or "at most 40.1 KiB" if ROW once had
 * more than the numbers before it show. */
static const char *
slope_text(struct arena *a, const struct timeline *t, const struct timeline_row *row)
{
    double slope = row->per_minute;

    if (!timeline_is_level(t->by))
        return "";
    if (row->trend != TREND_GROWS && row->trend != TREND_FALLS)
        return row->max > row->rough[1] && row->max > timeline_last(row)
                   ? arena_printf(a, "at most %s", style_bytes(a, row->max))
                   : "";
    return arena_printf(a, "%s%s/min", slope > 0 ? "+" : "",
                        style_bytes(a, text_timeline_rounded(slope)));
}

static const char *
text_timeline_row_text(struct arena *a, const struct timeline *t, const struct timeline_row *row)
{
    double first = timeline_is_level(t->by) ? (double)row->rough[1]
                                            : timeline_column(t, row, 0, TREND_POINTS - 1);
    const char *from = text_timeline_amount(a, t, first);

    // Blocks freed only when the program ended were live until then.
    if (t->by == TIMELINE_LIVE && timeline_is_freed(row))
        return arena_printf(a, "%s \xe2\x86\x92 %s, freed", from,
                            text_timeline_amount(a, t, (double)timeline_last(row)));
    return arena_printf(a, "%s \xe2\x86\x92 %s", from,
                        text_timeline_amount(a, t, timeline_end(t, row, TREND_POINTS - 1)));
}

static bool
is_estimate_row(const struct timeline *t, const struct timeline_row *row)
{
    return sampling_is_estimate(&row->stack->counters, row->stack->errors, timeline_metric(t->by));
}

/* Return the mark after the amounts of ROW: the error of the last amount, or " ~" if it is not
 * known; "" if the amounts are exact. */
static const char *
text_timeline_mark(const struct text_view *v, const struct timeline *t,
                   const struct timeline_row *row)
{
    struct arena *a = v->base.arena;

    if (!is_estimate_row(t, row))
        return "";
    return timeline_ends_live(t, v->base.p) && !timeline_is_freed(row)
               ? arena_printf(a, " %s",
                              sampling_mark(a, &row->stack->counters, row->stack->errors,
                                            METRIC_INUSE))
               : " ~";
}

/* Return true if the line of ROW would be empty: its blocks were allocated and freed between two
 * snapshots. */
static bool
is_empty_row(const struct timeline *t, const struct timeline_row *row)
{
    for (size_t i = 0; i < SPARK; i++)
        if (text_timeline_rounded(timeline_column(t, row, i, SPARK)) != 0)
            return false;
    return timeline_last(row) == 0;
}

/* Write the meaning of the marks, if a row has one. */
static void
put_marks(struct text_view *v, const struct timeline *t)
{
    bool any = false;

    for (size_t i = 0; i < t->row_count; i++)
        any |= !is_empty_row(t, &t->rows[i]) && is_estimate_row(t, &t->rows[i]);
    if (any)
        text_wrapped(v, ATTR_DIM, "",
                     "\xc2\xb1, few: the error of the live bytes at the end; ~: an estimate whose "
                     "error is not known");
}

static void
text_timeline_put_row(struct text_view *v, const struct timeline *t, const struct timeline_row *row)
{
    struct arena *a = v->base.arena;
    const char *number = arena_printf(a, "#%-2" PRIu32 " ", row->stack->number);
    size_t room = style_room(&v->style, style_width(number) + 8 + SPARK + 2);
    const char *amounts = style_cut_end(a,
                                        arena_printf(a, "%s%s", text_timeline_row_text(a, t, row),
                                                     text_timeline_mark(v, t, row)),
                                        room);
    size_t used = style_width(amounts) > AMOUNTS_WIDTH ? style_width(amounts) : AMOUNTS_WIDTH;
    const char *slope = slope_text(a, t, row);
    bool fits = used + style_width(slope) <= room;

    strbuf_char(v->out, '\n');
    style_attr(&v->style, v->out, ATTR_DIM);
    strbuf_str(v->out, number);
    style_attr(&v->style, v->out, ATTR_PLAIN);
    style_attr(&v->style, v->out, row->trend == TREND_GROWS ? ATTR_WARNING : ATTR_PLAIN);
    style_left(v->out, timeline_trend_name(row->trend), 8);
    style_attr(&v->style, v->out, ATTR_PLAIN);
    style_text(&v->style, v->out, ATTR_NUMBER, sparkline(a, t, row));
    strbuf_str(v->out, "  ");
    style_left(v->out, amounts, AMOUNTS_WIDTH);
    style_text(&v->style, v->out, ATTR_BOLD, fits ? slope : "");
    while (v->out->length > 0 && v->out->text[v->out->length - 1] == ' ')
        v->out->text[--v->out->length] = '\0';
    strbuf_char(v->out, '\n');
    if (!fits)
        text_below(v, style_width(number) + 8 + SPARK + 2, slope);
    text_stack(v, row->stack, v->depth, 0);
}

static const char *
text_timeline_title(const struct timeline *t)
{
    static const char *const titles[] = {[TIMELINE_LIVE] = "Live bytes",
                                         [TIMELINE_GROWTH] = "Growth of live bytes",
                                         [TIMELINE_ALLOCATED] = "Bytes allocated per second",
                                         [TIMELINE_CALLS] = "Allocations per second"};

    return titles[t->by];
}

/* Return how many stacks of T grow. If none does, memory may still rise in a few steps, or in many
 * stacks that come and go: the change of the sum shows that. */
static const char *
text_timeline_growth(const struct timeline *t, struct arena *a)
{
    const char *what = timeline_is_level(t->by) ? "" : " in how much they allocate";
    int64_t rise = t->total.rough[TREND_POINTS - 2] - t->total.rough[1];

    if (t->growing > 0)
        return arena_printf(a, "%zu of %zu grow%s steadily%s", t->growing, t->stack_count,
                            t->growing == 1 ? "s" : "", what);
    if (t->total.trend == TREND_UNKNOWN)
        return "growth is not known";
    if (timeline_is_level(t->by) && rise > 0 &&
        (double)rise >= NOTABLE_RISE * (double)t->total.max)
        return arena_printf(a, "none grows steadily; their sum by %s", style_bytes(a, rise));
    return "none grows steadily";
}

static void
text_timeline_put_rows(struct text_view *v, const struct timeline *t)
{
    struct arena *a = v->base.arena;
    uint64_t from = timeline_column_ns(t, 1, TREND_POINTS - 1),
             to = t->points[t->point_count - 1].elapsed_ns;

    text_title(v, "Stacks",
               arena_printf(a, "%s; from %s to %s", text_timeline_growth(t, a),
                            style_duration(a, from), style_duration(a, to)));
    for (size_t i = 0; i < t->row_count; i++)
        if (!is_empty_row(t, &t->rows[i]))
            text_timeline_put_row(v, t, &t->rows[i]);
    strbuf_char(v->out, '\n');
    put_marks(v, t);
    if (t->total.trend == TREND_UNKNOWN)
        text_line(v, ATTR_WARNING, "Too few snapshots to determine growth.");
    if (t->growing > t->row_count)
        text_line(v, ATTR_DIM,
                  arena_printf(
                      a, "\xe2\x80\xa6 %s; --limit shows more",
                      style_plural(a, (int64_t)(t->growing - t->row_count), "more growing stack")));
    if (t->growing > 0 && timeline_is_level(t->by))
        text_unchecked(v);
}

void
text_timeline(struct text_view *v, const struct timeline *t)
{
    struct chart c = {.v = v, .t = t};

    text_header(v);
    if (v->base.p->merged_processes > 1)
        text_prose(v, ATTR_DIM, "Blocks that a process still held at its end count as freed then.");
    if (v->base.p->losses.history_records > 0)
        text_prose(v, ATTR_WARNING,
                   arena_printf(v->base.arena,
                                "The curve is too late in places: %s or snapshots found no room",
                                style_plural(v->base.arena,
                                             (int64_t)v->base.p->losses.history_records,
                                             "value")));
    text_timeline_measure(&c);
    text_title(
        v, text_timeline_title(t),
        arena_printf(v->base.arena, "%s %s%s",
                     text_timeline_amount(v->base.arena, t, timeline_end(t, &t->total, c.columns)),
                     v->base.p->process.ended || v->base.p->extent != EXTENT_WHOLE ? "at the end"
                                                                                   : "now",
                     v->base.stacks->filtered ? ", of the stacks kept" : ""));
    strbuf_char(v->out, '\n');
    put_peak(&c);
    text_timeline_put_lines(&c);
    put_axis(&c);
    text_timeline_put_collections(&c);
    put_names(&c);
    text_timeline_put_rows(v, t);
}
