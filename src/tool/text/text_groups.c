/* text_groups.c: the tables by function, line, file, module, thread, size, type, heap and
 * labels.
 */
#include "text/text.h"

#include "analyse/frame_name.h"
#include "view/table.h"

/* Write the shares of blocks by the certainty of their types, in one line. */
static void
put_verdicts(struct text_view *v, const struct groups *groups, enum metric metric)
{
    int64_t whole = metric_value(&v->base.stacks->total, metric);
    int64_t sums[VERDICT_CERTAIN + 1];

    group_table_verdicts(groups, metric, sums);
    strbuf_char(v->out, '\n');
    text_prose(v, ATTR_DIM,
               arena_printf(v->base.arena,
                            "certain %s \xc2\xb7 likely %s \xc2\xb7 same size %s \xc2\xb7 "
                            "unknown %s",
                            style_percent(v->base.arena, sums[VERDICT_CERTAIN], whole),
                            style_percent(v->base.arena, sums[VERDICT_LIKELY], whole),
                            style_percent(v->base.arena, sums[VERDICT_SAME_SIZE], whole),
                            style_percent(v->base.arena, sums[VERDICT_UNKNOWN], whole)));
}

void
text_truncated(struct text_view *v)
{
    const struct counters *total = &v->base.stacks->total;
    struct arena *a = v->base.arena;
    struct counters c;
    const char *name = stacks_truncated(v->base.p, v->base.stacks, &c);

    if (name == NULL)
        return;
    text_wrapped(v, ATTR_WARNING, "",
                 arena_printf(a,
                              "%s: %s or %s of the calls, %s or %s of the allocated bytes. Their "
                              "callers are not known, so inclusive values (\xe2\x89\xa5) are lower "
                              "bounds.",
                              name, style_count(a, c.allocations),
                              style_percent(a, c.allocations, total->allocations),
                              style_bytes(a, c.allocated_bytes),
                              style_percent(a, c.allocated_bytes, total->allocated_bytes)));
}

void
text_groups(struct text_view *v, enum group_by by, enum metric metric)
{
    size_t limit = v->base.limit ? v->base.limit : TEXT_LIMIT;
    struct groups groups;
    struct table t;

    group_table_rows(&v->base, by, metric, &groups);
    group_table_fill(&v->base, &groups, by, metric, text_is_wide(v), &t);
    if (by == BY_TYPE)
        put_verdicts(v, &groups, metric);
    strbuf_char(v->out, '\n');
    // Sampled callers leave sizes and threads exact, unless a filter selects stacks by callers.
    if (profile_has_errors(v->base.p) && !group_table_has_errors(&v->base, by) &&
        (profile_is_estimate(v->base.p) || v->base.filter != NULL))
        text_prose(v, ATTR_DIM,
                   "Estimates; how far off they are is not known by thread and by size.");
    table_text(&t, &v->style, limit, v->out);
    if ((metric == METRIC_INUSE && groups.live_is_shared) ||
        (metric == METRIC_PEAK && groups.peak_is_shared))
        text_prose(v, ATTR_DIM,
                   "Blocks of one site that threads free for each other are shared in proportion.");
    if (by == BY_FUNCTION || by == BY_LINE || by == BY_FILE || by == BY_MODULE)
        text_truncated(v);
    if (by == BY_SIZE)
        text_not_in_size_totals(v);
    if (table_rows(&t) > limit)
        text_line(v, ATTR_DIM,
                  arena_printf(
                      v->base.arena, "\xe2\x80\xa6 %s; --limit shows more",
                      style_plural(v->base.arena, (int64_t)(table_rows(&t) - limit), "more row")));
}
