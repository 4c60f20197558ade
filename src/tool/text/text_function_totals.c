/* text_function_totals.c: the memory that each function allocates itself.
 *
 *         %  allocated                 kept               calls  function
 *     100.0       1.9M  mmmmmmmm     999.9K  mmmmmmmm    10,000  total
 *     100.0       1.9M  mmmmmmmm     999.9K  mmmmmmmm    10,000  make_widget
 *
 * In the paper's layout, percentages are of all memory, by size class, and blank below 1:
 *
 *       % mem       bytes | % mem(size) |  bytes kept | % all kept  |     calls  name
 *     ----------------------s--m--l--x-----------------s--m--l--x-------------------
 *                 2040000 |    99       |     1023876 |    99       |     10000  <TOTAL>
 */
#include "text/text.h"

#include <inttypes.h>
#include <string.h>

#include "text/text_view.h"
#include "view/phrases.h"
#include "view/table.h"

enum { BAR_MIN = 8, BAR_MAX = 20, WIDE_ENOUGH = 100, CLASSIC_NAME = 24 };

struct functions_layout {
    const struct functions *functions;
    size_t value, kept, calls, bar; // Widths.
    bool has_kept;                  // False if the metric is live bytes.
};

static size_t
wider(size_t width, const char *text)
{
    return style_width(text) > width ? style_width(text) : width;
}

static size_t
columns_before_name(const struct functions_layout *l)
{
    return 5 + l->value + 2 + l->bar + 2 + l->calls + 4 +
           (l->has_kept ? l->kept + l->bar + 4 : 0);
}

static struct functions_layout
text_function_totals_lay_out(const struct text_view *v, const struct functions *f,
                             const struct function_totals *d, enum metric metric)
{
    struct functions_layout l = {
        .functions = f,
        .value = strlen(phrase_metric_column(v->base.p, metric)),
        .kept = strlen("kept"),
        .calls = strlen("calls"),
        .bar = v->style.width >= WIDE_ENOUGH ? BAR_MAX : BAR_MIN,
        .has_kept = metric != METRIC_INUSE,
    };

    l.value = wider(l.value, text_short(v->base.arena, amount_sum(&d->total.amount), metric));
    l.calls = wider(l.calls, style_count(v->base.arena, d->total.amount.calls));
    // A part may need more columns than the total: "1023.9K" and "1.0M".
    l.value = l.value < 7 && metric_is_bytes(metric) ? 7 : l.value;
    l.kept = 7;
    while (l.bar > 0 && columns_before_name(&l) + TEXT_NAME_MIN > v->style.width)
        l.bar--;
    return l;
}

static void
text_function_totals_put_titles(struct text_view *v, const struct functions_layout *l,
                                enum metric metric)
{
    style_attr(&v->style, v->out, ATTR_DIM);
    style_right(v->out, "%", 5);
    style_right(v->out, phrase_metric_column(v->base.p, metric), l->value + 2);
    style_left(v->out, "", l->bar + 2);
    if (l->has_kept) {
        style_right(v->out, "kept", l->kept + 2);
        style_left(v->out, "", l->bar + 2);
    }
    style_right(v->out, "calls", l->calls + 2);
    strbuf_str(v->out, "  function");
    style_attr(&v->style, v->out, ATTR_PLAIN);
    strbuf_char(v->out, '\n');
}

static void
text_function_totals_put_bar(struct text_view *v, const struct functions_layout *l,
                             const struct amount *part, const struct amount *whole)
{
    strbuf_str(v->out, "  ");
    style_attr(&v->style, v->out, ATTR_DIM);
    style_left(v->out,
               text_classes(l->functions, v->base.arena, part, amount_sum(whole), l->bar), l->bar);
    style_attr(&v->style, v->out, ATTR_PLAIN);
}

static void
text_function_totals_put_row(struct text_view *v, const struct functions_layout *l,
                             const struct function_total *r, const struct function_total *total,
                             const char *name, enum metric metric)
{
    int64_t value = amount_sum(&r->amount), whole = amount_sum(&total->amount);

    style_right(v->out,
                arena_printf(v->base.arena, "%.1f",
                             whole > 0 ? 100.0 * (double)value / (double)whole : 0.0),
                5);
    style_attr(&v->style, v->out, ATTR_NUMBER);
    style_right(v->out, text_short(v->base.arena, value, metric), l->value + 2);
    style_attr(&v->style, v->out, ATTR_PLAIN);
    text_function_totals_put_bar(v, l, &r->amount, &total->amount);
    if (l->has_kept) {
        style_right(v->out, style_bytes_short(v->base.arena, amount_sum(&r->kept)), l->kept + 2);
        text_function_totals_put_bar(v, l, &r->kept, &total->kept);
    }
    style_right(v->out, style_count(v->base.arena, r->amount.calls), l->calls + 2);
    strbuf_str(v->out, "  ");
    style_text(&v->style, v->out, r == total ? ATTR_BOLD : ATTR_PLAIN, name);
    strbuf_char(v->out, '\n');
}

void
text_function_totals(struct text_view *v, struct functions *f,
                     const struct function_totals *d, enum metric metric)
{
    size_t limit = v->base.limit ? v->base.limit : TEXT_LIMIT, used;
    struct functions_layout l = text_function_totals_lay_out(v, f, d, metric);

    text_header(v);
    strbuf_char(v->out, '\n');
    text_function_totals_put_titles(v, &l, metric);
    text_function_totals_put_row(v, &l, &d->total, &d->total, "total", metric);
    used = columns_before_name(&l);
    for (size_t i = 0; i < d->count && i < limit; i++) {
        const struct function_total *r = &d->v[i];
        const char *error = sampling_error(v->base.arena, &r->counters, r->errors, metric);
        size_t room = style_room(&v->style, used);

        room = room < TEXT_NAME_MIN ? TEXT_NAME_MIN : room;
        text_function_totals_put_row(v, &l, r, &d->total, text_function(v, f, r->function, room),
                                     metric);
        if (*error != '\0')
            text_below(v, used, error + 1);
    }
    text_more(v, limit, d->count, "function");
    text_classes_legend(v, f);
    text_losses(v, loss_stack_field_count);
}

/* Write the shares of PART by class, as two characters each: " s  m  l  x". */
static void
put_classic_classes(struct text_view *v, const struct amount *part, const struct amount *whole)
{
    for (size_t i = 0; i < SIZE_CLASS_COUNT; i++)
        strbuf_fmt(v->out, " %s", classic_percent(part->by_class[i], amount_sum(whole)));
}

static void
put_classic_row(struct text_view *v, const struct function_total *r,
                const struct function_total *total, const char *name)
{
    int64_t whole = amount_sum(&total->amount), bytes = amount_sum(&r->amount);

    if (r == total)
        strbuf_str(v->out, "       ");
    else
        strbuf_fmt(v->out, "%7.1f", whole > 0 ? 100.0 * (double)bytes / (double)whole : 0.0);
    strbuf_fmt(v->out, "%12" PRId64 " |", bytes);
    put_classic_classes(v, &r->amount, &total->amount);
    strbuf_fmt(v->out, " |%12" PRId64 " |", amount_sum(&r->kept));
    put_classic_classes(v, &r->kept, &total->kept);
    strbuf_fmt(v->out, " |%10" PRId64 "  %s\n", r->amount.calls, name);
}

void
classic_function_totals(struct text_view *v, struct functions *f,
                        const struct function_totals *d)
{
    size_t limit = v->base.limit ? v->base.limit : SIZE_MAX;

    strbuf_fmt(v->out,
               "  %% mem       bytes | %% mem(%s) |  bytes kept | %% all kept  |     calls  "
               "name\n",
               f->heap_classes != NULL ? "type" : "size");
    strbuf_str(v->out, text_classic_rule(v, f, "----------------------s--m--l--x-----------------"
                                               "s--m--l--x-------------------\n"));
    put_classic_row(v, &d->total, &d->total, "<TOTAL>");
    for (size_t i = 0; i < d->count && i < limit; i++)
        put_classic_row(v, &d->v[i], &d->total,
                        text_function(v, f, d->v[i].function, CLASSIC_NAME));
}
