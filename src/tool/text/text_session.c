/* text_session.c: a session with several processes: the sum of all, and a line for each. */
#include "text/text.h"

#include "text/text_view.h"
#include "view/phrases.h"
#include "view/table.h"

enum { PROCESSES_SHOWN = 20 };

/* Write the moment that SET shows, and how many of its processes did not run then. */
static void
text_session_put_moment(struct text_view *v, const struct view_set *set)
{
    const struct profile *p = set->v[0];
    struct arena *a = v->base.arena;
    size_t before = 0, after = 0;
    const char *text = "";

    if (p->extent != EXTENT_AT && p->extent != EXTENT_BETWEEN)
        return;
    for (size_t i = 0; i < set->count; i++) {
        before += set->v[i]->to.life == POINT_BEFORE_START;
        after += (p->extent == EXTENT_BETWEEN ? &set->v[i]->from : &set->v[i]->to)->life ==
                 POINT_AFTER_END;
    }
    if (before > 0)
        text = arena_printf(a, "%zu had not started", before);
    if (after > 0)
        text = arena_printf(a, "%s%s%zu had ended", text, before > 0 ? ", " : "", after);
    if (p->to.unreached_ns != 0)
        text = arena_printf(a, "%s%sall ended before %s", text, *text ? "; " : "",
                            style_duration(a, p->to.unreached_ns));
    if (*text)
        text_wrapped(v, ATTR_PLAIN, "", arena_printf(a, "At that time: %s", text));
}

/* Write the totals of all processes of SET, and its losses, as sentences. */
static void
text_session_put_head(struct text_view *v, const struct view_set *set,
                      const struct counters *total, const struct errors *errors)
{
    bool grown = set->v[0]->extent == EXTENT_BETWEEN;
    struct arena *a = v->base.arena;
    struct profile_losses losses = {0};
    const char *live, *peaks;

    for (size_t i = 0; i < set->count; i++)
        profile_losses_add(&losses, &set->v[i]->losses);
    live = arena_printf(a, "%s %s in %s%s", grown ? "live bytes grew by" : "still live",
                        style_bytes(a, counters_live_bytes(total)),
                        style_plural(a, counters_live_blocks(total), "block"),
                        sampling_error(a, total, errors, METRIC_INUSE));
    peaks = arena_printf(a, "the peaks added up %s%s", style_bytes(a, total->peak_bytes),
                         sampling_error(a, total, errors, METRIC_PEAK));
    text_wrapped(v, ATTR_PLAIN, "",
                 arena_printf(a, "%zu processes: %s, %s in all%s", set->count,
                              style_plural(a, total->allocations, "allocation"),
                              style_bytes(a, total->allocated_bytes),
                              sampling_error(a, total, errors, METRIC_ALLOC)));
    if (!total->partial && style_width(live) + 2 + style_width(peaks) <= v->style.width) {
        text_wrapped(v, ATTR_PLAIN, "", arena_printf(a, "%s; %s", live, peaks));
    } else {
        text_wrapped(v, ATTR_PLAIN, "", live);
        if (!total->partial)
            text_wrapped(v, ATTR_PLAIN, "", peaks);
    }
    if (losses.events)
        text_wrapped(v, ATTR_PLAIN, "",
                     arena_printf(a, "%s not recorded: %s",
                                  style_plural(a, (int64_t)losses.events, "event"),
                                  loss_causes(a, &losses)));
    if (losses.file_failed)
        text_wrapped(v, ATTR_PLAIN, "",
                     "Incomplete: a profile's file could not grow, so not all is counted");
}

void
text_session(const struct view_set *set, const struct style *style, size_t limit,
             struct arena *arena, struct strbuf *out)
{
    struct text_view v = {.base.arena = arena, .style = *style, .out = out};
    struct counters total = COUNTERS_ZERO;
    struct errors errors = {0};
    struct table t = {.arena = arena};

    limit = limit ? limit : PROCESSES_SHOWN;
    session_table(set, &t, &total, &errors);
    text_session_put_head(&v, set, &total, &errors);
    text_session_put_moment(&v, set);
    strbuf_char(out, '\n');
    table_text(&t, style, limit, out);
    if (set->count > limit)
        text_line(&v, ATTR_PLAIN,
                  arena_printf(arena, "and %zu more with smaller peaks (--limit N shows more)",
                               set->count - limit));
}
