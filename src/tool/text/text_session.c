/* text_session.c: a session with several processes: the sum of all, and a line for each. */
#include "text/text.h"

#include "view/phrases.h"
#include "view/table.h"

enum { PROCESSES_SHOWN = 20 };

void
text_session(const struct view_set *set, const struct style *style, size_t limit,
             struct arena *arena, struct strbuf *out)
{
    bool grown = set->v[0]->extent == EXTENT_BETWEEN;
    struct counters total = COUNTERS_ZERO;
    struct errors errors = {0};
    struct table t = {.arena = arena};
    struct profile_losses losses = {0};

    limit = limit ? limit : PROCESSES_SHOWN;
    session_table(set, &t, &total, &errors);
    for (size_t i = 0; i < set->count; i++)
        profile_losses_add(&losses, &set->v[i]->losses);
    strbuf_fmt(out, "%zu processes: %s allocations, %s in all%s\n", set->count,
               style_count(arena, total.allocations), style_bytes(arena, total.allocated_bytes),
               sampling_error(arena, &total, &errors, METRIC_ALLOC));
    strbuf_fmt(out, "%s %s in %s%s", grown ? "live bytes grew by" : "still live",
               style_bytes(arena, counters_live_bytes(&total)),
               style_plural(arena, counters_live_blocks(&total), "block"),
               sampling_error(arena, &total, &errors, METRIC_INUSE));
    if (!total.partial)
        strbuf_fmt(out, "; the peaks added up %s%s", style_bytes(arena, total.peak_bytes),
                   sampling_error(arena, &total, &errors, METRIC_PEAK));
    strbuf_char(out, '\n');
    if (losses.events)
        strbuf_fmt(out, "%s not recorded: %s\n",
                   style_plural(arena, (int64_t)losses.events, "event"),
                   loss_causes(arena, &losses));
    if (losses.file_failed)
        strbuf_str(out, "Incomplete: a profile's file could not grow, so not all is counted\n");
    strbuf_char(out, '\n');
    table_text(&t, style, limit, out);
    if (set->count > limit)
        strbuf_fmt(out, "and %zu more with smaller peaks (--limit N shows more)\n",
                   set->count - limit);
}
