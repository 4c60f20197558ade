/* text_site.c: sites with their stacks.
 *
 * A site is a line of numbers, with its stack below. To keep a report short, a stack from an
 * earlier section is only referred to by its number.
 */
#include "text/text_view.h"

#include <inttypes.h>

#include "analyse/group.h"
#include "analyse/tags.h"
#include "view/phrases.h"

enum { NUMBER_WIDTH = 4 }; // "#123", with the blanks before the next column.

static const char *const metric_titles[] = {
    [METRIC_INUSE] = "Still live",    [METRIC_PEAK] = "At the peak",  [METRIC_ALLOC] = "Allocated",
    [METRIC_TEMPORARY] = "Short-lived", [METRIC_COUNT] = "Allocations",
};

/* Return the text after the value in the first line of a site. */
static const char *
site_details(struct text_view *v, const struct counters *c, enum metric metric)
{
    struct arena *a = v->base.arena;

    switch (metric) {
    case METRIC_INUSE:
        return phrase_blocks(a, counters_live_blocks(c), counters_live_bytes(c));
    case METRIC_PEAK:
        return phrase_blocks(a, c->peak_blocks, c->peak_bytes);
    case METRIC_ALLOC:
        return style_plural(a, c->allocations, "call");
    case METRIC_COUNT:
        return style_bytes(a, c->allocated_bytes);
    case METRIC_TEMPORARY:
        return arena_printf(
            a, "%s of its %s, %s on average",
            style_percent(a, counters_within_16(c), c->allocations),
            style_plural(a, c->allocations, "call"),
            style_bytes(a, c->allocations ? c->allocated_bytes / c->allocations : 0));
    }
    return "";
}

static void
text_site_put_tags(struct text_view *v, const struct stack *s)
{
    const struct profile_label_set *labels =
        s->labels == STACK_LABELS_SEVERAL ? NULL : &v->base.p->label_sets[s->labels];
    const char *text = tags_text(&v->base.p->heaps[s->heap], labels, v->base.arena);

    if (*text != '\0')
        text_note(v, text);
}

static void
put_extra(struct text_view *v, const struct stack *s)
{
    const struct view_extra *extra = v->base.extra;
    const char *text = extra != NULL ? extra->about(extra->arg, &v->base, s) : NULL;

    if (text != NULL)
        text_note(v, text);
}

void
text_site(struct text_view *v, const struct stack *s, enum metric metric)
{
    bool again = text_seen(v, s);
    const char *label = arena_printf(v->base.arena, "#%" PRIu32, s->number);
    const char *value = text_metric(v, &s->counters, metric);
    int64_t total = metric_value(&v->base.stacks->total, metric);
    size_t label_width = style_width(label);
    size_t used = 17 + (style_width(value) > 12 ? style_width(value) : 12);

    strbuf_char(v->out, '\n');
    style_attr(&v->style, v->out, ATTR_DIM);
    style_left(v->out, label, NUMBER_WIDTH);
    style_attr(&v->style, v->out, ATTR_PLAIN);
    style_attr(&v->style, v->out, ATTR_NUMBER);
    style_right(v->out, value, 16 - (label_width > NUMBER_WIDTH ? label_width : NUMBER_WIDTH));
    style_attr(&v->style, v->out, ATTR_PLAIN);
    style_right(
        v->out,
        // If other sites shrank by more, a share of the total growth would be meaningless.
        total <= 0 ? "" : style_percent(v->base.arena, metric_value(&s->counters, metric), total),
        10);
    strbuf_str(v->out, "   ");
    style_text(
        &v->style, v->out, ATTR_DIM,
        style_cut_end(v->base.arena,
                      arena_printf(v->base.arena, "%s%s", site_details(v, &s->counters, metric),
                                   sampling_error(v->base.arena, &s->counters, s->errors, metric)),
                      style_room(&v->style, used)));
    strbuf_char(v->out, '\n');
    text_site_put_tags(v, s);
    put_extra(v, s);
    text_stack(v, s, again ? 1 : v->depth, again ? s->number : 0);
}

void
text_whole_stack(struct text_view *v, const struct stack *s, bool with_amount)
{
    strbuf_char(v->out, '\n');
    if (with_amount)
        text_line(v, ATTR_DIM,
                  arena_printf(v->base.arena, "  %s in %s",
                               text_metric(v, &s->counters, METRIC_ALLOC),
                               site_details(v, &s->counters, METRIC_ALLOC)));
    text_site_put_tags(v, s);
    put_extra(v, s);
    text_stack(v, s, v->depth, 0);
}

/* Write a line for the sites whose live bytes shrank. Return their total growth. */
static int64_t
put_shrunk(struct text_view *v)
{
    int64_t sum = 0, count = 0;

    for (size_t i = 0; i < v->base.stacks->count; i++) {
        int64_t growth = counters_live_bytes(&v->base.stacks->v[i].counters);

        sum = counters_sum(sum, growth < 0 ? growth : 0);
        count += growth < 0;
    }
    if (count == 0)
        return 0;
    strbuf_char(v->out, '\n');
    text_line(v, ATTR_DIM,
              arena_printf(v->base.arena, "    %12s  in %s that shrank",
                           style_bytes(v->base.arena, sum),
                           style_plural(v->base.arena, count, "site")));
    return sum;
}

static const char *
text_site_section_title(struct text_view *v, enum metric metric)
{
    if (metric == METRIC_INUSE)
        return phrase_live(v->base.p);
    return metric == METRIC_TEMPORARY ? phrase_short_lived_title(&v->base.stacks->total)
                                      : metric_titles[metric];
}

static const char *
text_site_section_total(struct text_view *v, enum metric metric)
{
    const struct counters *c = &v->base.stacks->total;
    const char *total = text_metric(v, c, metric);

    return metric != METRIC_TEMPORARY
               ? total
               : arena_printf(v->base.arena, "%s %s", total, phrase_short_lived(c));
}

void
text_section(struct text_view *v, enum metric metric, size_t limit, double percent_min)
{
    const struct stack **top = group_sorted_stacks(v->base.stacks, metric, v->base.arena);
    size_t count = group_positive(v->base.stacks, top, metric), shown;
    const char *title = text_site_section_title(v, metric);
    int64_t total = metric_value(&v->base.stacks->total, metric), rest = total;

    if (count == 0)
        return;
    text_title(v, title,
               arena_printf(v->base.arena, "%s, %s", text_site_section_total(v, metric),
                            style_plural(v->base.arena, (int64_t)count, "site")));
    for (shown = 0; shown < count && shown < limit; shown++) {
        int64_t value = metric_value(&top[shown]->counters, metric);

        if (shown > 0 && (double)value * 100 < (double)total * percent_min)
            break;
        text_site(v, top[shown], metric);
        rest = counters_difference(rest, value);
    }
    if (v->base.p->extent == EXTENT_BETWEEN && metric == METRIC_INUSE)
        rest = counters_difference(rest, put_shrunk(v));
    if (shown == count)
        return;
    strbuf_char(v->out, '\n');
    text_line(v, ATTR_DIM,
              arena_printf(v->base.arena, "    %12s  in %s",
                           metric_is_bytes(metric) ? style_bytes(v->base.arena, rest)
                                                   : style_count(v->base.arena, rest),
                           style_plural(v->base.arena, (int64_t)(count - shown), "more site")));
}

void
text_sites(struct text_view *v, enum metric metric)
{
    if (metric_value(&v->base.stacks->total, metric) <= 0)
        text_line(v, ATTR_DIM,
                  arena_printf(v->base.arena, "%s: nothing.",
                               metric == METRIC_INUSE ? metric_titles[metric]
                                                      : text_site_section_title(v, metric)));
    text_section(v, metric, v->base.limit ? v->base.limit : TEXT_LIMIT, 0);
}
