/* top_text.c: numbers and names in columns, for a terminal of any width.
 *
 * A narrow terminal has room for the name and one number. Wider ones get more columns, the most
 * useful first. A column has a constant width, so that digits stay below digits from one reading to
 * the next. */
#include "live/top_text.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "symbol/demangle.h"
#include "view/phrases.h"

#define NS_PER_S UINT64_C(1000000000)

enum { NAME_MIN = 24, PLACE_MIN = 12, PLACE_MAX = 40, SPARK = TREND_POINTS - 1, STEPS = 8 };

const char *const top_by_names[] = {"function", "site", "line", "module", "thread",
                                    "heap",     "label", "type", NULL};

static const enum group_by bys[] = {BY_FUNCTION, BY_SITE, BY_LINE, BY_MODULE, BY_THREAD,
                                    BY_HEAP,     BY_LABEL, BY_TYPE};

enum group_by
top_by(int choice)
{
    return bys[choice];
}

int
top_choice_of(enum group_by by)
{
    int i = 0;

    while (bys[i] != by)
        i++;
    return i;
}

static const char *const step_signs[STEPS + 1] = {
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

/* --- Columns -------------------------------------------------------------------------------------
 */

/* Return VALUE as a change: with its sign, "" for 0. */
static const char *
signed_bytes(struct arena *a, int64_t value)
{
    return value == 0 ? "" : arena_printf(a, "%s%s", value > 0 ? "+" : "", style_bytes(a, value));
}

static const char *
text_of_value(struct arena *a, const struct top_digest *d, const struct top_row *r,
              const struct top_column *c)
{
    int64_t value;

    if (!top_row_value(d, r, c->sort, &value))
        return "";
    switch (c->sort) {
    case TOP_CHANGE:
        return signed_bytes(a, value);
    case TOP_RATE:
        return value == 0 ? "" : arena_printf(a, "%s/s", style_bytes(a, value));
    case TOP_CALLS:
    case TOP_SHORT_LIVED:
        return style_count(a, value);
    default:
        return style_bytes(a, value);
    }
}

static const char *
text_of_error(struct arena *a, const struct top_digest *d, const struct top_row *r,
              const struct top_column *c)
{
    (void)d;
    (void)c;
    return sampling_mark(a, &r->inclusive, r->inclusive_errors, METRIC_INUSE);
}

const char *
top_sparkline(const struct top_row *r, struct arena *arena)
{
    struct strbuf text = {0};
    const char *copy;
    int64_t top = 1;

    for (size_t i = 1; i < TREND_POINTS; i++)
        top = r->history[i] > top ? r->history[i] : top;
    for (size_t i = 1; i < TREND_POINTS; i++) {
        double share = (double)r->history[i] / (double)top * STEPS;
        size_t step = r->history[i] <= 0 ? 0 : share < 1 ? 1 : (size_t)(share + 0.5);

        strbuf_str(&text, step_signs[step < STEPS ? step : STEPS]);
    }
    copy = arena_strdup(arena, strbuf_text(&text));
    strbuf_release(&text);
    return copy;
}

static const char *
text_of_history(struct arena *a, const struct top_digest *d, const struct top_row *r,
                const struct top_column *c)
{
    (void)c;
    return d->has_history ? top_sparkline(r, a) : "";
}

static const char *
text_of_trend(struct arena *a, const struct top_digest *d, const struct top_row *r,
              const struct top_column *c)
{
    (void)a;
    (void)c;
    return d->has_history && r->trend != TREND_UNKNOWN ? timeline_trend_name(r->trend) : "";
}

/* All columns, in their order on the screen. A lower rank is shown on narrower terminals. */
static const struct {
    struct top_column column;
    unsigned rank;
} every_column[] = {
    {{TOP_LIVE, "live", 10, text_of_value}, 0},
    {{TOP_SORTS, "error", 8, text_of_error}, 1},
    {{TOP_SELF, "self", 10, text_of_value}, 4},
    {{TOP_CHANGE, "change", 11, text_of_value}, 2},
    {{TOP_RATE, "rate", 12, text_of_value}, 3},
    {{TOP_CALLS, "calls", 11, text_of_value}, 7},
    {{TOP_ALLOCATED, "allocated", 10, text_of_value}, 8},
    {{TOP_PEAK, "at peak", 10, text_of_value}, 9},
    {{TOP_SHORT_LIVED, "short-lived", 11, text_of_value}, 10},
    {{TOP_SORTS, "history", SPARK, text_of_history}, 5},
    {{TOP_SORTS, "trend", 6, text_of_trend}, 6},
};

static bool
has_column(const struct top_digest *d, size_t i)
{
    if (every_column[i].column.text == text_of_error)
        return profile_has_errors(d->p) || profile_has_unbounded(d->p);
    if (every_column[i].column.sort == TOP_SELF)
        return d->has_rows_of_callees;
    return every_column[i].column.text == text_of_value || d->has_history;
}

void
top_layout_make(const struct top_digest *d, enum top_sort sort, size_t width,
                struct top_layout *ret)
{
    bool chosen[countof(every_column)] = {false};
    size_t used = 0;

    *ret = (struct top_layout){.name_title = top_by_names[top_choice_of(d->by)]};
    for (size_t i = 0; i < countof(every_column); i++)
        if (every_column[i].column.sort == sort && sort != TOP_SORTS && has_column(d, i)) {
            chosen[i] = true;
            used += every_column[i].column.width + 1;
        }
    for (unsigned rank = 0; rank < countof(every_column); rank++)
        for (size_t i = 0; i < countof(every_column); i++) {
            size_t more = every_column[i].column.width + 1;

            if (every_column[i].rank != rank || chosen[i] || !has_column(d, i) ||
                used + more + NAME_MIN > width)
                continue;
            chosen[i] = true;
            used += more;
        }
    for (size_t i = 0; i < countof(every_column); i++)
        if (chosen[i])
            ret->columns[ret->count++] = every_column[i].column;
    ret->name_width = width > used ? width - used : 1;
    if (ret->name_width >= 2 * NAME_MIN + PLACE_MIN) {
        ret->place_width = ret->name_width / 3 < PLACE_MAX ? ret->name_width / 3 : PLACE_MAX;
        ret->name_width -= ret->place_width + 1;
    }
}

static const char *
finish(struct arena *arena, struct strbuf *line)
{
    const char *copy;

    while (line->length > 0 && line->text[line->length - 1] == ' ')
        strbuf_cut(line, line->length - 1);
    copy = arena_strdup(arena, strbuf_text(line));
    strbuf_release(line);
    return copy;
}

const char *
top_titles(const struct top_layout *l, const struct top_order *o, struct arena *arena)
{
    struct strbuf line = {0};

    for (size_t i = 0; i < l->count; i++) {
        const struct top_column *c = &l->columns[i];
        const char *sign = c->sort != o->sort || c->sort == TOP_SORTS ? ""
                           : o->inverted                              ? "\xe2\x86\x91"
                                                                      : "\xe2\x86\x93";

        style_right(&line, arena_printf(arena, "%s%s", c->title, sign), c->width);
        strbuf_char(&line, ' ');
    }
    style_left(&line, l->name_title, l->name_width);
    if (l->place_width > 0)
        strbuf_str(&line, " where");
    return finish(arena, &line);
}

const char *
top_row_text(const struct top_layout *l, const struct top_digest *d, const struct top_row *r,
             struct arena *arena)
{
    bool is_function = d->by == BY_FUNCTION || d->by == BY_SITE || d->by == BY_TYPE;
    struct strbuf line = {0};
    const char *name = r->name;

    for (size_t i = 0; i < l->count; i++) {
        const struct top_column *c = &l->columns[i];

        style_right(&line, style_cut_end(arena, c->text(arena, d, r, c), c->width), c->width);
        strbuf_char(&line, ' ');
    }
    if (is_function)
        name = symbol_shorten(arena, name, l->name_width);
    else if (d->by == BY_LINE || d->by == BY_MODULE)
        name = style_cut_start(arena, name, l->name_width);
    name = style_cut_end(arena, name, l->name_width);
    if (l->place_width == 0) {
        strbuf_str(&line, name);
        return finish(arena, &line);
    }
    style_left(&line, name, l->name_width);
    strbuf_char(&line, ' ');
    strbuf_str(&line, d->by == BY_LINE ? style_cut_end(arena, r->place, l->place_width)
                                       : style_cut_start(arena, r->place, l->place_width));
    return finish(arena, &line);
}

enum top_sort
top_column_at(const struct top_layout *l, size_t x)
{
    size_t at = 0;

    for (size_t i = 0; i < l->count; i++) {
        at += l->columns[i].width + 1;
        if (x < at)
            return l->columns[i].sort;
    }
    return TOP_NAME;
}

/* --- Processes -----------------------------------------------------------------------------------
 */

enum { PROCESS_NUMBERS = 49 }; // Columns before the command.

const char *
top_process_titles(size_t width, struct arena *arena)
{
    return style_cut_end(
        arena, "     pid       live       peak   allocated/s   state  command", width);
}

const char *
top_process_text(const struct watched *process, size_t width, struct arena *arena)
{
    const struct profile *p = process->latest != NULL ? process->latest->p : NULL;
    struct strbuf line = {0};
    struct moment_change change = {0};
    const char *command = p != NULL ? profile_title(p, arena)
                          : process->trouble != NULL ? process->trouble
                                                     : process->what;

    style_right(&line, process->pid != 0 ? arena_printf(arena, "%" PRIu32, process->pid)
                       : p != NULL && p->process.pid != 0
                           ? arena_printf(arena, "%" PRIu32, p->process.pid)
                           : "",
                8);
    if (p != NULL) {
        change = moment_difference(&process->latest->before, &process->latest->now);
        style_right(&line, style_bytes(arena, counters_live_bytes(&p->totals)), 11);
        style_right(&line, style_bytes(arena, p->totals.peak_bytes), 11);
        style_right(&line,
                    change.seconds > 0 && !process->ended
                        ? style_bytes(arena, (int64_t)((double)change.amounts.allocated_bytes /
                                                       change.seconds))
                        : "",
                    14);
    } else {
        style_right(&line, "", 36);
    }
    style_right(&line, process->ended                           ? "ended"
                       : process->trouble != NULL || p == NULL ? "?"
                                                                : "runs",
                8);
    strbuf_str(&line, "  ");
    strbuf_str(&line, style_cut_end(arena, style_clean(arena, command),
                                    width > PROCESS_NUMBERS + 8 ? width - PROCESS_NUMBERS - 4
                                                                : 4));
    return style_cut_end(arena, finish(arena, &line), width);
}
