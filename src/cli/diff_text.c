/* diff_text.c: a comparison for people.
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
 * Growth is red and shrinking green, on a terminal only. Rows that did not change in the metric
 * are counted and not shown. No line is longer than the style allows; names from files are
 * cleaned.
 */
#include <inttypes.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "cli/diff_show.h"
#include "symbol/symbol.h"

static const char *const metric_titles[] = {
    [METRIC_INUSE] = "in use",        [METRIC_PEAK] = "peak",   [METRIC_ALLOC] = "allocated",
    [METRIC_TEMPORARY] = "temporary", [METRIC_COUNT] = "calls",
};

static void text_totals(struct diff_view *v);
static void text_rows(struct diff_view *v);

void
diff_text(struct diff_view *v)
{
    text_totals(v);
    text_rows(v);
}

/* TEXT as a line, cut to the width. */
static void
line(struct diff_view *v, const char *text)
{
    strbuf_str(v->out, style_cut_end(v->arena, text, v->style.width));
    strbuf_char(v->out, '\n');
}

static const char *
amount(struct diff_view *v, int64_t value, enum metric metric)
{
    return metric_is_bytes(metric) ? style_bytes(v->arena, value) : style_count(v->arena, value);
}

static const char *
growth_text(struct diff_view *v, int64_t growth, enum metric metric)
{
    return arena_printf(v->arena, "%s%s", growth > 0 ? "+" : "", amount(v, growth, metric));
}

/* TEXT right-aligned in WIDTH columns, in the colour of GROWTH. */
static void
put_growth(struct diff_view *v, const char *text, int64_t growth, size_t width)
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

static void
text_total(struct diff_view *v, enum metric metric)
{
    int64_t before = metric_value(&v->diff->before, metric),
            after = metric_value(&v->diff->after, metric);

    style_left(v->out, metric_titles[metric], 10);
    style_right(v->out, amount(v, before, metric), 14);
    style_right(v->out, amount(v, after, metric), 14);
    put_growth(v, growth_text(v, after - before, metric), after - before, 14);
    if (before > 0 && after != before)
        strbuf_fmt(v->out, "  %s%s", after > before ? "+" : "",
                   style_percent(v->arena, after - before, before));
    strbuf_char(v->out, '\n');
}

static void
text_side(struct diff_view *v, const char *side, const struct profile *p)
{
    const char *command = p->process.command ? p->process.command : "";

    line(v, style_clean(v->arena, arena_printf(v->arena, "%-7s %s%s%s", side, p->path,
                                               *command ? "  " : "", command)));
}

static void
text_totals(struct diff_view *v)
{
    text_side(v, "before", v->before);
    text_side(v, "after", v->after);
    strbuf_char(v->out, '\n');
    strbuf_fmt(v->out, "%24s%14s%14s\n", "before", "after", "growth");
    for (int m = 0; m <= METRIC_COUNT; m++)
        text_total(v, (enum metric)m);
}

/* Where FRAME is: the last two parts of the file's path and the line, or the module. */
static const char *
place(struct diff_view *v, const struct diff_frame *f)
{
    const char *text = path_basename(f->module), *file = f->file;
    const char *slash = strrchr(file, '/');

    while (slash > file && slash[-1] != '/')
        slash--;
    if (*file)
        text = slash ? slash : file;
    if (*file && f->line)
        text = arena_printf(v->arena, "%s:%" PRIu32, text, f->line);
    if (f->inlined)
        text = arena_printf(v->arena, "%s (inlined)", text);
    return style_clean(v->arena, text);
}

static const char *
function(struct diff_view *v, const struct diff_frame *f, size_t width)
{
    const char *name = v->style.width == STYLE_NO_LIMIT
                           ? f->function
                           : symbol_shorten(v->arena, f->function, width);

    return style_cut_end(v->arena, style_clean(v->arena, name), width);
}

enum { INDENT = 11, PLACE_MIN = 24, GAP = 3 };

/* Columns for the names in S's stack, so that places line up and have some room. */
static size_t
name_width(struct diff_view *v, const struct diff_row *row, size_t depth)
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
text_stack(struct diff_view *v, const struct diff_row *row)
{
    size_t depth = row->depth < v->depth ? row->depth : v->depth, width = name_width(v, row, depth);

    for (size_t i = 0; i < depth; i++) {
        const char *where = place(v, &row->frames[i]), *name = function(v, &row->frames[i], width);
        struct strbuf text = {0};

        strbuf_fmt(&text, "%*s", INDENT, "");
        if (*where) {
            style_left(&text, name, width + GAP);
            strbuf_str(&text, where);
        } else {
            strbuf_str(&text, name);
        }
        line(v, strbuf_text(&text));
        strbuf_release(&text);
    }
    if (depth < row->depth)
        line(v, arena_printf(v->arena, "%*s\xe2\x80\xa6 %s", INDENT, "",
                             style_plural(v->arena, (int64_t)(row->depth - depth), "more frame")));
}

static int64_t
blocks(const struct counters *c, enum metric metric)
{
    return metric == METRIC_INUSE  ? counters_live_blocks(c)
           : metric == METRIC_PEAK ? c->peak_blocks
                                   : c->allocations;
}

static void
text_site(struct diff_view *v, const struct diff_row *row)
{
    int64_t growth = diff_growth(&row->before, &row->after, v->metric);

    put_growth(v, growth_text(v, growth, v->metric), growth, INDENT - 1);
    strbuf_fmt(v->out, "   %s -> %s", amount(v, metric_value(&row->before, v->metric), v->metric),
               amount(v, metric_value(&row->after, v->metric), v->metric));
    if (metric_is_bytes(v->metric))
        strbuf_fmt(v->out, ", %s -> %s", style_count(v->arena, blocks(&row->before, v->metric)),
                   style_plural(v->arena, blocks(&row->after, v->metric),
                                v->metric == METRIC_ALLOC ? "call" : "block"));
    strbuf_char(v->out, '\n');
    text_stack(v, row);
    strbuf_char(v->out, '\n');
}

static void
text_function_row(struct diff_view *v, const struct diff_row *row)
{
    int64_t growth = diff_growth(&row->before, &row->after, v->metric);
    int64_t inclusive = diff_growth(&row->inclusive_before, &row->inclusive_after, v->metric);
    size_t taken = 4 * 12 + 2,
           left = v->style.width == STYLE_NO_LIMIT ? STYLE_NO_LIMIT : v->style.width - taken;

    if (v->style.width < taken + 8)
        left = 8;
    put_growth(v, growth_text(v, growth, v->metric), growth, 12);
    style_right(v->out, amount(v, metric_value(&row->before, v->metric), v->metric), 12);
    style_right(v->out, amount(v, metric_value(&row->after, v->metric), v->metric), 12);
    put_growth(v, growth_text(v, inclusive, v->metric), inclusive, 12);
    strbuf_fmt(v->out, "  %s\n", function(v, row->frames, left));
}

static bool
row_changed(const struct diff_view *v, const struct diff_row *row)
{
    return diff_growth(&row->before, &row->after, v->metric) != 0 ||
           diff_growth(&row->inclusive_before, &row->inclusive_after, v->metric) != 0;
}

static void
text_rows(struct diff_view *v)
{
    const char *noun = v->by == DIFF_BY_SITE ? "stack" : "function";
    size_t changed = 0, shown = 0;

    for (size_t i = 0; i < v->diff->count; i++)
        changed += row_changed(v, &v->diff->rows[i]);
    line(v, arena_printf(v->arena, "\n%s: %s of %s changed", metric_titles[v->metric],
                         style_count(v->arena, (int64_t)changed),
                         style_plural(v->arena, (int64_t)v->diff->count, noun)));
    if (changed == 0)
        return;
    strbuf_char(v->out, '\n');
    if (v->by == DIFF_BY_FUNCTION)
        strbuf_str(v->out, "      growth      before       after  w. callees  function\n");
    for (size_t i = 0; i < v->diff->count && shown < v->limit; i++) {
        if (!row_changed(v, &v->diff->rows[i]))
            continue;
        if (v->by == DIFF_BY_FUNCTION)
            text_function_row(v, &v->diff->rows[i]);
        else
            text_site(v, &v->diff->rows[i]);
        shown++;
    }
    if (shown < changed)
        line(v, arena_printf(v->arena, "\xe2\x80\xa6 %s; --limit shows more",
                             style_plural(v->arena, (int64_t)(changed - shown),
                                          arena_printf(v->arena, "more %s", noun))));
}
