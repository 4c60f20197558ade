/* text_diff.c: a comparison as text.
 *
 *     before  app-1.heaptap
 *     after   app-2.heaptap
 *
 *                      before        after       growth
 *     in use          2.0 KiB      5.1 KiB     +3.1 KiB   +155.0 %
 *     …
 *
 *     in use: 2 of 7 stacks changed
 *
 *       +3.1 KiB   2.0 KiB -> 5.1 KiB, 12 -> 40 blocks
 *           cache_insert     src/cache.c:41
 *           handle_request   src/server.c:20
 *
 * On a terminal, growth is red and shrinking green. A change that may be due to chance is marked
 * "within noise" and has no colour. If the sides had different recording modes, a line says so.
 * Rows without a change in the metric are only counted. Frames below main (the start-up code of the
 * C library) are omitted. No line exceeds the width of the style; names from files are cleaned.
 */
#include "text/text.h"

#include <inttypes.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "symbol/symbol.h"
#include "text/text_view.h"
#include "view/phrases.h"
#include "view/table.h"

enum { INDENT = 11, RANGE_INDENT = 38, PLACE_MIN = 24, GAP = 3, NOISE_WIDTH = 9 };

static const char *const metric_titles[] = {
    [METRIC_INUSE] = "in use",        [METRIC_PEAK] = "peak",   [METRIC_ALLOC] = "allocated",
    [METRIC_TEMPORARY] = "short-lived", [METRIC_COUNT] = "calls",
};

struct diff_text {
    const struct diff_view *d;
    struct style style;
    size_t depth; // Maximum number of frames shown of a stack.
    struct strbuf *out;
    struct strtab names; // By function: names of the rows.
    uint32_t *uses;      // Number of rows for each name.
};

static void text_diff_put_totals(struct diff_text *v);
static void text_diff_put_truncated(struct diff_text *v);
static void text_diff_put_rows(struct diff_text *v);

/* Write the sentence about the damage of P, uncut, if there is any. */
static void
text_diff_put_damage(struct diff_text *v, const struct profile *p)
{
    if (p->damage != NULL)
        text_damaged(&v->style, "Damaged: ", damage_sentence(v->d->arena, p), v->d->arena, v->out);
}

void
text_diff(const struct diff_view *d, const struct style *style, size_t depth, struct strbuf *out)
{
    struct diff_text v = {.d = d, .style = *style, .depth = depth, .out = out};

    text_diff_put_damage(&v, d->before);
    text_diff_put_damage(&v, d->after);
    text_diff_put_totals(&v);
    text_diff_put_truncated(&v);
    text_diff_put_rows(&v);
    strtab_release(&v.names);
}

/* Write TEXT as a line, cut to the width. */
static void
text_diff_line(struct diff_text *v, const char *text)
{
    strbuf_str(v->out, style_cut_end(v->d->arena, text, v->style.width));
    strbuf_char(v->out, '\n');
}

/* Write the rest of a line that already has USED columns. */
static void
line_from(struct diff_text *v, size_t used, const char *text)
{
    strbuf_str(v->out, style_cut_end(v->d->arena, text, style_room(&v->style, used)));
    strbuf_char(v->out, '\n');
}

static const char *
text_diff_amount(struct diff_text *v, int64_t value, enum metric metric)
{
    return metric_is_bytes(metric) ? style_bytes(v->d->arena, value)
                                   : style_count(v->d->arena, value);
}

static const char *
growth_text(struct diff_text *v, int64_t growth, enum metric metric)
{
    return arena_printf(v->d->arena, "%s%s", growth > 0 ? "+" : "",
                        text_diff_amount(v, growth, metric));
}

/* Write TEXT right-aligned in WIDTH columns, in the colour of GROWTH. */
static void
text_diff_put_growth(struct diff_text *v, const char *text, int64_t growth, size_t width)
{
    bool coloured = v->style.colour && growth != 0;

    for (size_t n = style_width(text); n < width; n++)
        strbuf_char(v->out, ' ');
    if (coloured)
        strbuf_str(v->out, growth > 0 ? "\x1b[31m" : "\x1b[32m");
    strbuf_str(v->out, text);
    if (coloured)
        strbuf_str(v->out, "\x1b[0m");
}

/* Write the interval I of the true change, marked "within noise" if it includes 0. */
static void
put_noise(struct diff_text *v, int indent, struct interval i, enum metric metric)
{
    text_diff_line(v, arena_printf(v->d->arena, "%*s(%s%s to %s)", indent, "",
                                   i.low <= 0 && i.high >= 0 ? "within noise: " : "",
                                   growth_text(v, interval_rounded(i.low), metric),
                                   growth_text(v, interval_rounded(i.high), metric)));
}

/* Return the interval of the peak's growth. With threads, the true peaks may be higher than the
 * recorded ones, by an amount that is only known for all stacks together. If some are left out,
 * there is not an interval. */
static struct interval
text_diff_peak_interval(const struct diff_text *v)
{
    int64_t before = v->d->before->totals.peak_bytes, after = v->d->after->totals.peak_bytes;

    if (v->d->diff->before.peak_bytes != before || v->d->diff->after.peak_bytes != after ||
        before == after)
        return (struct interval){0, 0};
    return (struct interval){
        (double)after - (double)before - (double)v->d->before->peak_error_bytes,
        (double)after - (double)before + (double)v->d->after->peak_error_bytes};
}

/* Return the name of METRIC in D. */
static const char *
text_diff_title(const struct diff *d, enum metric metric)
{
    bool old = metric == METRIC_TEMPORARY && d->after.lifetimes_unknown;

    return old ? metric_name(metric) : metric_titles[metric];
}

/* Return the number of columns to take from each column of the totals, to leave room for
 * percentages. */
static size_t
totals_narrowing(const struct diff_text *v)
{
    return v->style.width < 66 ? 2 : 0;
}

static void
text_diff_put_total(struct diff_text *v, enum metric metric)
{
    const struct diff *d = v->d->diff;
    int64_t before = metric_value(&d->before, metric), after = metric_value(&d->after, metric);
    int64_t growth = diff_growth(&d->before, &d->after, metric);
    size_t narrow = totals_narrowing(v);
    const char *percent = "";
    struct interval i =
        diff_interval(&d->before, &d->before_errors, &d->after, &d->after_errors, metric);

    if (!metric_is_known(&d->before, metric) || !metric_is_known(&d->after, metric))
        return;
    style_left(v->out, text_diff_title(d, metric), 11);
    style_right(v->out, text_diff_amount(v, before, metric), 13 - narrow);
    style_right(v->out, text_diff_amount(v, after, metric), 14 - narrow);
    text_diff_put_growth(v, growth_text(v, growth, metric), growth, 14 - narrow);
    if (before > 0 && after != before)
        percent = arena_printf(v->d->arena, "  %s%s", after > before ? "+" : "",
                               style_percent(v->d->arena, growth, before));
    if (style_width(percent) <= style_room(&v->style, 52 - 3 * narrow))
        strbuf_str(v->out, percent);
    strbuf_char(v->out, '\n');
    if (i.low >= i.high && metric == METRIC_PEAK)
        i = text_diff_peak_interval(v);
    if (i.low < i.high)
        put_noise(v, RANGE_INDENT, i, metric);
}

static void
put_side(struct diff_text *v, const char *side, const struct profile *p)
{
    const char *command = profile_title(p, v->d->arena);

    text_diff_line(v,
                   style_clean(v->d->arena, arena_printf(v->d->arena, "%-7s %s%s%s", side, p->path,
                                                         *command ? "  " : "", command)));
    if (p->extent != EXTENT_WHOLE)
        text_diff_line(v, style_clean(v->d->arena, arena_printf(v->d->arena, "        %s",
                                                                sampling_extent(v->d->arena, p))));
    if (p->losses.file_failed)
        text_diff_line(v, arena_printf(v->d->arena, "        %s", loss_of_file));
}

static bool
left_out(const struct profile *p)
{
    for (size_t i = 0; i < p->mode_count; i++)
        if (p->modes[i].mode == MODE_OFF)
            return true;
    return false;
}

static bool
recorded_alike(const struct profile *a, const struct profile *b)
{
    return a->mode_count == 1 && b->mode_count == 1 && a->modes[0].mode == b->modes[0].mode &&
           a->modes[0].period == b->modes[0].period &&
           a->modes[0].callers_period == b->modes[0].callers_period;
}

/* Write the recording modes of both sides, unless both were exact. */
static void
text_diff_put_modes(struct diff_text *v)
{
    const char *before = sampling_how(v->d->arena, v->d->before);
    const char *after = sampling_how(v->d->arena, v->d->after);

    if (!v->d->diff->is_estimate)
        return;
    strbuf_char(v->out, '\n');
    if (recorded_alike(v->d->before, v->d->after))
        text_diff_line(v, arena_printf(v->d->arena, "Both %s.", before));
    else
        text_diff_line(v, arena_printf(v->d->arena, "Recorded differently. Before: %s; after: %s.",
                                       before, after));
    text_diff_line(v, "Estimates: the growth lies in the range in brackets, in 95 of 100 cases.");
    if (left_out(v->d->before) || left_out(v->d->after))
        text_diff_line(v, "The numbers lack all allocations made while recording was off.");
}

static void
text_diff_put_totals(struct diff_text *v)
{
    int narrow = (int)totals_narrowing(v);

    put_side(v, "before", v->d->before);
    put_side(v, "after", v->d->after);
    text_diff_put_modes(v);
    strbuf_char(v->out, '\n');
    strbuf_fmt(v->out, "%*s%*s%*s\n", 24 - narrow, "before", 14 - narrow, "after", 14 - narrow,
               "growth");
    for (int m = 0; m <= METRIC_COUNT; m++)
        text_diff_put_total(v, (enum metric)m);
}

/* Return the place of FRAME: the last two parts of the file's path and the line, or the module. */
static const char *
text_diff_place(struct diff_text *v, const struct diff_frame *f)
{
    const char *text = path_basename(f->module), *file = f->file;
    const char *slash = strrchr(file, '/');

    while (slash > file && slash[-1] != '/')
        slash--;
    if (*file)
        text = slash ? slash : file;
    if (*file && f->line)
        text = arena_printf(v->d->arena, "%s:%" PRIu32 "%s", text, f->line,
                            f->several_lines ? " and other lines" : "");
    if (f->inlined)
        text = arena_printf(v->d->arena, "%s (inlined)", text);
    return style_clean(v->d->arena, text);
}

static const char *
function(struct diff_text *v, const struct diff_frame *f, size_t width)
{
    const char *name = v->style.width == STYLE_NO_LIMIT
                           ? f->function
                           : symbol_shorten(v->d->arena, f->function, width);

    return style_cut_end(v->d->arena, style_clean(v->d->arena, name), width);
}

/* Return the number of columns for the names in the row's stack, so that places are aligned and
 * have some room. */
static size_t
name_width(struct diff_text *v, const struct diff_row *row, size_t depth)
{
    size_t widest = 0, limit = v->style.width;

    if (limit != STYLE_NO_LIMIT)
        limit -= INDENT + GAP + PLACE_MIN < limit ? INDENT + GAP + PLACE_MIN : limit / 2;
    for (size_t i = 0; i < depth; i++) {
        size_t width = style_width(function(v, &row->frames[i], limit));

        widest = width > widest ? width : widest;
    }
    return widest;
}

static void
text_diff_put_stack(struct diff_text *v, const struct diff_row *row)
{
    size_t depth = row->useful_depth < v->depth ? row->useful_depth : v->depth;
    size_t width = name_width(v, row, depth);

    for (size_t i = 0; i < depth; i++) {
        const char *where = text_diff_place(v, &row->frames[i]),
                   *name = function(v, &row->frames[i], width);
        struct strbuf text = {0};

        strbuf_fmt(&text, "%*s", INDENT, "");
        if (*where) {
            style_left(&text, name, width + GAP);
            strbuf_str(&text, where);
        } else {
            strbuf_str(&text, name);
        }
        text_diff_line(v, strbuf_text(&text));
        strbuf_release(&text);
    }
    if (depth < row->useful_depth)
        text_diff_line(v,
                       arena_printf(v->d->arena, "%*s\xe2\x80\xa6 %s", INDENT, "",
                                    style_plural(v->d->arena, (int64_t)(row->useful_depth - depth),
                                                 "more frame")));
}

static int64_t
blocks(const struct counters *c, enum metric metric)
{
    return metric == METRIC_INUSE  ? counters_live_blocks(c)
           : metric == METRIC_PEAK ? c->peak_blocks
                                   : c->allocations;
}

static void
text_diff_put_site(struct diff_text *v, const struct diff_row *row)
{
    int64_t growth = diff_growth(&row->before, &row->after, v->d->metric);
    int64_t hue = diff_is_noise(row, v->d->metric, false) ? 0 : growth;
    const char *tags = tags_text(row->heap, row->labels, v->d->arena), *sides;
    struct interval i = diff_interval(&row->before, row->before_errors, &row->after,
                                      row->after_errors, v->d->metric);

    text_diff_put_growth(v, growth_text(v, growth, v->d->metric), hue, INDENT - 1);
    sides =
        arena_printf(v->d->arena, "   %s -> %s",
                     text_diff_amount(v, metric_value(&row->before, v->d->metric), v->d->metric),
                     text_diff_amount(v, metric_value(&row->after, v->d->metric), v->d->metric));
    if (metric_is_bytes(v->d->metric))
        sides = arena_printf(v->d->arena, "%s, %s -> %s", sides,
                             style_count(v->d->arena, blocks(&row->before, v->d->metric)),
                             style_plural(v->d->arena, blocks(&row->after, v->d->metric),
                                          v->d->metric == METRIC_ALLOC ? "call" : "block"));
    line_from(v, INDENT, sides);
    if (i.low < i.high)
        put_noise(v, INDENT, i, v->d->metric);
    if (*tags)
        text_diff_line(
            v, style_clean(v->d->arena, arena_printf(v->d->arena, "%*s%s", INDENT, "", tags)));
    text_diff_put_stack(v, row);
    strbuf_char(v->out, '\n');
}

/* Return the width of a number in the table of functions. */
static size_t
function_column(const struct diff_text *v)
{
    return v->d->diff->is_estimate && v->style.width < 70 ? 10 : 12;
}

static void
put_function_titles(struct diff_text *v)
{
    static const char *const titles[] = {"growth", "before", "after", "w. callees"};

    for (size_t i = 0; i < countof(titles); i++)
        style_right(v->out,
                    i + 1 == countof(titles) && v->d->diff->truncated != NULL
                        ? "callees ?"
                        : titles[i],
                    function_column(v));
    strbuf_fmt(v->out, "%s  function\n", v->d->diff->is_estimate ? "    noise" : "");
}

/* Count the rows for each name. Several functions may have the same name in different files. */
static void
count_names(struct diff_text *v)
{
    v->uses = arena_array(v->d->arena, v->d->diff->count + 1, sizeof *v->uses);
    for (size_t i = 0; i < v->d->diff->count; i++)
        v->uses[strtab_id(&v->names, v->d->diff->rows[i].frames[0].function)]++;
}

/* Return the name of ROW's function in WIDTH columns, with its file if other rows have the name. */
static const char *
text_diff_name(struct diff_text *v, const struct diff_row *row, size_t width)
{
    const struct diff_frame *f = row->frames;
    const char *file = *f->file != '\0' ? f->file : f->module;
    size_t taken;

    if (v->uses[strtab_id(&v->names, f->function)] < 2 || *file == '\0')
        return function(v, f, width);
    file = style_clean(v->d->arena, path_basename(file));
    if (width != STYLE_NO_LIMIT) { // The name gets at least a third.
        file = style_cut_start(v->d->arena, file, width - width / 3 - 2);
        taken = style_width(file) + 2;
        width = width > taken ? width - taken : 1;
    }
    return arena_printf(v->d->arena, "%s  %s", function(v, f, width), file);
}

static void
put_function_row(struct diff_text *v, const struct diff_row *row)
{
    int64_t growth = diff_growth(&row->before, &row->after, v->d->metric);
    int64_t inclusive = diff_growth(&row->inclusive_before, &row->inclusive_after, v->d->metric);
    bool own_noise = diff_is_noise(row, v->d->metric, false);
    bool inclusive_noise = diff_is_noise(row, v->d->metric, true);
    size_t column = function_column(v);
    size_t taken = 4 * column + 2 + (v->d->diff->is_estimate ? NOISE_WIDTH : 0u),
           left = v->style.width == STYLE_NO_LIMIT ? STYLE_NO_LIMIT
                                                : style_room(&v->style, taken);

    text_diff_put_growth(v, growth_text(v, growth, v->d->metric), own_noise ? 0 : growth, column);
    style_right(v->out, text_diff_amount(v, metric_value(&row->before, v->d->metric), v->d->metric),
                column);
    style_right(v->out, text_diff_amount(v, metric_value(&row->after, v->d->metric), v->d->metric),
                column);
    text_diff_put_growth(v, growth_text(v, inclusive, v->d->metric),
                         inclusive_noise ? 0 : inclusive, column);
    if (v->d->diff->is_estimate)
        style_right(v->out,
                    own_noise && inclusive_noise ? "both"
                    : own_noise                  ? "growth"
                    : inclusive_noise            ? "callees"
                                                 : "",
                    NOISE_WIDTH);
    strbuf_fmt(v->out, "  %s\n", text_diff_name(v, row, left));
}

static bool
row_changed(const struct diff_text *v, const struct diff_row *row)
{
    return diff_growth(&row->before, &row->after, v->d->metric) != 0 ||
           diff_growth(&row->inclusive_before, &row->inclusive_after, v->d->metric) != 0;
}

/* Return true if the whole change is within noise. */
static bool
is_noise(const struct diff_text *v, const struct diff_row *row)
{
    return diff_is_noise(row, v->d->metric, false) &&
           (v->d->by == DIFF_BY_SITE || diff_is_noise(row, v->d->metric, true));
}

/* Write the other metrics with changes, when the shown metric has none. */
static void
put_other_changes(struct diff_text *v)
{
    const struct diff *d = v->d->diff;
    struct arena *a = v->d->arena;
    const char *options = "";

    for (int m = METRIC_INUSE; m <= METRIC_COUNT; m++) {
        size_t changed = 0;

        if (!metric_is_known(&d->before, (enum metric)m) ||
            !metric_is_known(&d->after, (enum metric)m))
            continue;
        for (size_t i = 0; i < d->count; i++)
            changed += diff_growth(&d->rows[i].before, &d->rows[i].after, (enum metric)m) != 0;
        if (changed > 0)
            options = arena_printf(a, "%s%s--%s (%s)", options, *options ? ", " : "",
                                   metric_name((enum metric)m), style_count(a, (int64_t)changed));
    }
    if (*options)
        text_diff_line(v, arena_printf(a, "Others changed: %s", options));
}

/* State how much each side's inclusive values may lack. */
static void
text_diff_put_truncated(struct diff_text *v)
{
    const struct diff *d = v->d->diff;
    enum metric metric = v->d->metric;

    if (d->truncated == NULL)
        return;
    text_diff_line(
        v, arena_printf(v->d->arena, "\n%s: %s before, %s after", d->truncated,
                        text_diff_amount(v, metric_value(&d->before_truncated, metric), metric),
                        text_diff_amount(v, metric_value(&d->after_truncated, metric), metric)));
    if (v->d->by == DIFF_BY_SITE) {
        text_diff_line(v, "Their callers are not known.");
        return;
    }
    text_diff_line(v, "Their callers are not known, so growth with callees (?) may be");
    text_diff_line(
        v, arena_printf(v->d->arena, "%s less or %s more.",
                        text_diff_amount(v, metric_value(&d->before_truncated, metric), metric),
                        text_diff_amount(v, metric_value(&d->after_truncated, metric), metric)));
}

static void
text_diff_put_rows(struct diff_text *v)
{
    const char *noun = v->d->by == DIFF_BY_SITE ? "stack" : "function";
    size_t changed = 0, noisy = 0, shown = 0;

    for (size_t i = 0; i < v->d->diff->count; i++) {
        changed += row_changed(v, &v->d->diff->rows[i]);
        noisy += row_changed(v, &v->d->diff->rows[i]) && is_noise(v, &v->d->diff->rows[i]);
    }
    text_diff_line(v, arena_printf(v->d->arena, "\n%s: %s of %s changed%s",
                                   text_diff_title(v->d->diff, v->d->metric),
                                   style_count(v->d->arena, (int64_t)changed),
                                   style_plural(v->d->arena, (int64_t)v->d->diff->count, noun),
                                   noisy ? arena_printf(v->d->arena, ", %s within noise",
                                                        style_count(v->d->arena, (int64_t)noisy))
                                         : ""));
    if (changed == 0) {
        put_other_changes(v);
        return;
    }
    strbuf_char(v->out, '\n');
    if (v->d->by == DIFF_BY_FUNCTION) {
        count_names(v);
        put_function_titles(v);
    }
    for (size_t i = 0; i < v->d->diff->count && shown < v->d->limit; i++) {
        if (!row_changed(v, &v->d->diff->rows[i]))
            continue;
        if (v->d->by == DIFF_BY_FUNCTION)
            put_function_row(v, &v->d->diff->rows[i]);
        else
            text_diff_put_site(v, &v->d->diff->rows[i]);
        shown++;
    }
    if (shown < changed)
        text_diff_line(v, arena_printf(v->d->arena, "\xe2\x80\xa6 %s; --limit shows more",
                                       style_plural(v->d->arena, (int64_t)(changed - shown),
                                                    arena_printf(v->d->arena, "more %s", noun))));
}
