/* timeline_svg.c: draw stacks as stacked areas over time.
 *
 *       │            ▗▖   ▗▄   ▗▄   the rest
 *       │     ▗▄▄▄▄▟███████████████  parse ← load
 *       │ ▄▄▟██████████████████████
 *       │             ▗▄▄▄▄▟██████  cache_put ← serve    what grows: red, on the ground
 *       └──────────────────────────
 *
 * Growing stacks are at the bottom, the fastest lowest, so that churn of others does not distort
 * their shape. Stacks at rest, varying ones, and the rest follow upwards. A point of a curve is the
 * live bytes at the moment of the largest total in its column of time: the largest values of two
 * stacks may lie at different moments, and their sum would be memory that nobody held. The thick
 * line is the total, and its highest point the peak. The legend below is in the order of the areas,
 * from the top down. The picture needs no scripts; browsers show a stack's frames when the pointer
 * rests on it. */
#include "svg/svg.h"

#include <math.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "export/exporter.h"
#include "svg/time_frame.h"
#include "util/amount.h"

enum { HEIGHT = 340, LEGEND_ROW = 20, LEGEND_FRAMES = 6, FOOT = 30, Y_TICKS = 4 };

#define CALLED_BY " \xe2\x86\x90 "

struct layer {
    const struct timeline_row *row;
    const char *class;
    double below[FRAME_COLUMNS], above[FRAME_COLUMNS];
};

struct areas {
    struct time_frame f;
    struct layer *layers; // From the bottom up.
    size_t count;
    double top; // Value at the top of the scale.
};

static double
bottom(void)
{
    return FRAME_TOP + HEIGHT;
}

static double
y_of(const struct areas *a, double value)
{
    return bottom() - (value > 0 ? value : 0) / a->top * HEIGHT;
}

/* Return the value of ROW in COLUMN, which adds up to the total's. */
static double
layer_value(const struct areas *a, const struct timeline_row *row, size_t column)
{
    const struct timeline *t = a->f.t;

    return timeline_is_level(t->by)
               ? (double)row->values[timeline_column_point(t, &t->total, column, FRAME_COLUMNS)]
               : timeline_column(t, row, column, FRAME_COLUMNS);
}

static void
add_layer(struct areas *a, const struct timeline_row *row, const char *class)
{
    const struct layer *under = a->count ? &a->layers[a->count - 1] : NULL;
    struct layer *l = &a->layers[a->count++];

    l->row = row;
    l->class = class;
    for (size_t i = 0; i < FRAME_COLUMNS; i++) {
        double value = layer_value(a, row, i);

        l->below[i] = under ? under->above[i] : 0;
        l->above[i] = l->below[i] + (value > 0 ? value : 0);
        a->top = l->above[i] > a->top ? l->above[i] : a->top;
    }
}

/* Return the level of rows with TREND; smaller ones are further down. */
static int
level(enum timeline_trend trend)
{
    return trend == TREND_GROWS ? 0 : trend == TREND_RESTS || trend == TREND_GREW ? 1 : 2;
}

static void
choose_layers(struct areas *a)
{
    const struct timeline *t = a->f.t;
    uint32_t taken = 0;
    int growing = 0;

    a->layers = arena_array(a->f.arena, t->row_count + 1, sizeof *a->layers);
    for (int now = 0; now <= 2; now++)
        for (size_t i = 0; i < t->row_count; i++) {
            const struct timeline_row *row = &t->rows[i];
            const char *name = frame_function(&a->f, row->stack, 0);

            if (level(row->trend) == now)
                add_layer(a, row,
                          now == 0 ? arena_printf(a->f.arena, "g%d", growing++ % FRAME_GROWING)
                                   : frame_colour(&a->f, name, &taken));
        }
    add_layer(a, &t->rest, "rest");
}

static bool
shows_peak(const struct areas *a)
{
    const struct timeline *t = a->f.t;
    uint64_t ns = a->f.p->peak_elapsed_ns;
    // With a filter, the shown peak is not the process's.

    return t->by == TIMELINE_LIVE && !t->filtered && ns >= t->points[0].elapsed_ns && ns != 0 &&
           ns <= t->points[t->point_count - 1].elapsed_ns;
}

/* Return a round number (of bytes if BINARY) that divides VALUE into at most Y_TICKS parts. */
static double
tick_step(double value, bool binary)
{
    double step = 1;

    if (binary) {
        while (step * Y_TICKS < value)
            step *= 2;
        return step;
    }
    while (step * 10 * Y_TICKS < value)
        step *= 10;
    return step * Y_TICKS >= value       ? step
           : step * 2 * Y_TICKS >= value ? step * 2
           : step * 5 * Y_TICKS >= value ? step * 5
                                         : step * 10;
}

static void
put_scale(struct areas *a)
{
    double step;

    if (shows_peak(a) && (double)a->f.p->totals.peak_bytes > a->top)
        a->top = (double)a->f.p->totals.peak_bytes;
    a->top = a->top > 0 ? a->top * 1.02 : 1;
    step = tick_step(a->top, a->f.t->by != TIMELINE_CALLS);
    for (double tick = 0; tick <= a->top; tick += step) {
        strbuf_fmt(a->f.out, "<path class=\"grid\" d=\"M%d %.1fH%.1f\"/>\n", FRAME_LEFT,
                   y_of(a, tick), a->f.right);
        frame_text(&a->f, FRAME_LEFT - 8, y_of(a, tick) + 4, "class=\"muted end\"",
                   tick == 0 ? "0" : frame_amount(&a->f, tick), 20);
    }
}

/* Continue the path along VALUES, or BACKWARDS, with a point at the end of each column. */
static void
put_edge(struct areas *a, const double *values, bool backwards)
{
    for (size_t k = 0; k < FRAME_COLUMNS; k++) {
        size_t i = backwards ? FRAME_COLUMNS - 1 - k : k;
        double x = frame_column_x(&a->f, i + 1);

        strbuf_fmt(a->f.out, "L%.1f %.1f", x, y_of(a, values[i]));
    }
}

static const char *
timeline_svg_row_text(struct areas *a, const struct timeline_row *row)
{
    const struct timeline *t = a->f.t;
    const char *text = arena_printf(a->f.arena, "%s at the end",
                                    frame_amount(&a->f, timeline_end(t, row, FRAME_COLUMNS)));

    if (row->stack == NULL || !timeline_is_level(t->by))
        return text;
    if (t->by == TIMELINE_LIVE && timeline_last(row) != row->rough[TREND_POINTS - 1])
        text = arena_printf(a->f.arena, "%s, freed at the end",
                            frame_amount(&a->f, (double)timeline_last(row)));
    if (row->trend == TREND_GROWS)
        return arena_printf(a->f.arena, "%s, grows by %s/min", text,
                            frame_amount(&a->f, row->per_minute));
    return row->max > timeline_last(row) ? arena_printf(a->f.arena, "%s, at most %s", text,
                                                        frame_amount(&a->f, (double)row->max))
                                         : text;
}

static void
put_layer(struct areas *a, const struct layer *l)
{
    struct strbuf *out = a->f.out;

    strbuf_fmt(out, "<path class=\"area %s\" d=\"M%d %.1f", l->class, FRAME_LEFT,
               y_of(a, l->below[0]));
    strbuf_fmt(out, "L%d %.1f", FRAME_LEFT, y_of(a, l->above[0]));
    put_edge(a, l->above, false);
    put_edge(a, l->below, true);
    strbuf_str(out, "Z\">");
    if (l->row->stack)
        frame_stack_title(&a->f, l->row->stack, timeline_svg_row_text(a, l->row));
    else
        strbuf_str(out, "<title>all other stacks</title>");
    strbuf_str(out, "</path>\n");
}

static void
timeline_svg_put_total(struct areas *a)
{
    const struct layer *last = &a->layers[a->count - 1];
    const struct profile *p = a->f.p;
    double x = frame_x(&a->f, p->peak_elapsed_ns), y = y_of(a, (double)p->totals.peak_bytes);
    bool left = x > (a->f.right + FRAME_LEFT) / 2;

    strbuf_fmt(a->f.out, "<path class=\"total\" d=\"M%d %.1f", FRAME_LEFT, y_of(a, last->above[0]));
    put_edge(a, last->above, false);
    strbuf_str(a->f.out, "\"/>\n");
    if (!shows_peak(a))
        return;
    strbuf_fmt(a->f.out, "<circle class=\"peak\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", x, y);
    frame_text(
        &a->f, left ? x - 8 : x + 8, y + 4, left ? "class=\"strong end\"" : "class=\"strong\"",
        arena_printf(a->f.arena, "peak %s", amount_text(a->f.arena, p->totals.peak_bytes, true)),
        40);
}

/* Return the frames of S as text: "cache_put ← serve ← main". */
static const char *
stack_text(struct areas *a, const struct stack *s)
{
    const char *root = s->depth > 0 ? stack_root(a->f.p, s) : NULL;
    uint32_t depth = stack_useful_depth(a->f.p, s);
    const char *text = frame_function(&a->f, s, 0);

    for (uint32_t i = 1; i < depth && i < LEGEND_FRAMES; i++)
        text = arena_printf(a->f.arena, "%s" CALLED_BY "%s", text, frame_function(&a->f, s, i));
    if (root != NULL)
        text = arena_printf(a->f.arena, "%s" CALLED_BY "%s%s", text,
                            depth > LEGEND_FRAMES ? "\xe2\x80\xa6" CALLED_BY : "", root);
    return text;
}

static void
timeline_svg_put_legend(struct areas *a)
{
    double y = bottom() + 48;

    for (size_t i = a->count; i-- > 0; y += LEGEND_ROW) {
        const struct layer *l = &a->layers[i];
        bool grows = l->row->stack && l->row->trend == TREND_GROWS;

        strbuf_fmt(a->f.out,
                   "<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"12\" height=\"12\" rx=\"3\"/>\n",
                   l->class, FRAME_LEFT, y - 10);
        frame_entry(&a->f, y, l->row->stack ? stack_text(a, l->row->stack) : "all other stacks",
                    timeline_svg_row_text(a, l->row),
                    grows ? "class=\"grows end\"" : "class=\"muted end\"");
    }
}

void
timeline_svg(const struct profile *p, const struct stacks *stacks, const struct timeline *t,
             struct arena *arena, struct strbuf *out)
{
    static const char *const subjects[] = {[TIMELINE_LIVE] = "live bytes over time",
                                           [TIMELINE_GROWTH] = "growth of live bytes",
                                           [TIMELINE_ALLOCATED] = "bytes allocated over time",
                                           [TIMELINE_CALLS] = "allocations over time"};
    struct areas a = {
        .f = {.p = p, .t = t, .arena = arena, .out = out, .right = FRAME_WIDTH - FRAME_RIGHT}};

    frame_name_functions(&a.f, stacks);
    choose_layers(&a);
    frame_begin(&a.f, bottom() + 48 + LEGEND_ROW * (double)a.count + FOOT,
                arena_printf(arena, "%s: %s", title_program(p, arena), subjects[t->by]),
                arena_printf(arena, "%s%zu of %s grow%s steadily; heaptap %s", frame_process(&a.f),
                             t->growing, amount_plural(arena, (int64_t)t->stack_count, "stack"),
                             t->growing == 1 ? "s" : "",
                             p->process.heaptap ? p->process.heaptap : ""));
    put_scale(&a);
    for (size_t i = 0; i < a.count; i++)
        put_layer(&a, &a.layers[i]);
    frame_axis(&a.f, FRAME_TOP, bottom());
    timeline_svg_put_total(&a);
    frame_names(&a.f, bottom());
    timeline_svg_put_legend(&a);
    frame_end(&a.f);
}
