/* text_overview.c: the full report.
 *
 * Sections follow the questions of developers: live blocks, the peak, sizes, churn. */
#include "text/text.h"

#include <string.h>

#include "analyse/group.h"
#include "text/text_view.h"
#include "view/phrases.h"
#include "view/table.h"

// Smaller stacks are omitted.
#define OVERVIEW_PERCENT_MIN 0.5

static void text_overview_put_sizes(struct text_view *v);

void
text_overview(struct text_view *v)
{
    size_t limit = v->base.limit ? v->base.limit : TEXT_OVERVIEW_LIMIT;

    text_header(v);
    text_snapshots(v);
    text_recorder(v);
    text_corruptions(v);
    text_unknown_frees(v);
    text_heaps(v, limit);
    text_backings(v, limit);
    text_labels(v, limit);
    text_section(v, METRIC_INUSE, limit, OVERVIEW_PERCENT_MIN);
    text_section(v, METRIC_PEAK, limit, OVERVIEW_PERCENT_MIN);
    if (!v->base.stacks->filtered && v->base.p->extent == EXTENT_WHOLE)
        text_overview_put_sizes(v);
    if (v->base.p->extent == EXTENT_PEAK)
        return;
    text_section(v, METRIC_ALLOC, limit, OVERVIEW_PERCENT_MIN);
    text_section(v, METRIC_TEMPORARY, limit, OVERVIEW_PERCENT_MIN);
}

static const char *
range_text(struct arena *a, const struct size_range *r)
{
    if (r->size_max == UINT64_MAX)
        return arena_printf(a, "above %s", phrase_size(a, r->size_min - 1));
    return arena_printf(a, "up to %s", phrase_size(a, r->size_max));
}

static const char *
bar(struct arena *a, int64_t part, int64_t whole)
{
    size_t n = whole > 0 && part > 0 ? (size_t)(16.0 * (double)part / (double)whole + 0.5) : 0;
    char *out = arena_alloc(a, n * 3 + 1);

    for (size_t i = 0; i < n; i++)
        // NOLINTNEXTLINE(bugprone-not-null-terminated-result): the arena gives zeros.
        memcpy(out + 3 * i, "\xe2\x96\x87", 3);
    return out;
}

static void
text_overview_put_sizes(struct text_view *v)
{
    static const struct column columns[] = {
        {COLUMN_TEXT, NULL, "    size", false, NULL},
        {COLUMN_COUNT, NULL, "calls", false, NULL},
        {COLUMN_BYTES, NULL, "allocated", false, NULL},
        {COLUMN_COUNT, NULL, "live blocks", false, NULL},
        {COLUMN_BYTES, NULL, "live", false, NULL},
        {COLUMN_TEXT, NULL, "share of calls", true, NULL},
    };
    struct size_range ranges[SIZE_RANGE_COUNT];
    size_t n = group_size_ranges(v->base.p, ranges);
    int64_t calls = group_all_sizes(v->base.p).allocations;
    struct table t;

    if (n == 0)
        return;
    text_title(v, "Sizes", "");
    strbuf_char(v->out, '\n');
    table_begin(&t, v->base.arena, columns, countof(columns));
    for (size_t i = 0; i < n; i++) {
        const struct counters *c = &ranges[i].counters;

        table_string(&t,
                     arena_printf(v->base.arena, "    %s", range_text(v->base.arena, &ranges[i])));
        table_number(&t, c->allocations);
        table_number(&t, c->allocated_bytes);
        table_number(&t, counters_live_blocks(c));
        table_number(&t, counters_live_bytes(c));
        table_string(&t, bar(v->base.arena, c->allocations, calls));
    }
    table_text(&t, &v->style, SIZE_MAX, v->out);
    text_not_in_size_totals(v);
}
