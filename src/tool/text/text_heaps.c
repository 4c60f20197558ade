/* text_heaps.c: heaps and labels of the program, as sections of the overview.
 *
 * A heap's row has its live bytes, its share of the peak and of all calls, and how full its chunks
 * are. Chunks are in no total, so the rows, malloc's included, sum to the totals. Without heaps and
 * labels the section is empty. */
#include "text/text_view.h"

#include <string.h>

#include "analyse/tags.h"
#include "profile/collector.h"
#include "view/table.h"
#include "view/view.h"

#define BESIDE " \xc2\xb7 " // Separator between a heap's name and its backing.

/* Shorten the name, but not the text about backing. */
static const char *
fit_heap(struct arena *arena, const char *text, size_t width)
{
    const char *full = NULL;
    size_t room;

    for (const char *s = text; (s = strstr(s, BESIDE)) != NULL; s++)
        full = s;
    if (full == NULL || style_width(full) + 2 > width)
        return style_cut_end(arena, text, width);
    room = width - style_width(full);
    return arena_printf(
        arena, "%s%s",
        style_cut_end(arena, arena_strndup(arena, text, (size_t)(full - text)), room), full);
}

static const char *
heap_title(struct text_view *v, const struct group_row *r)
{
    const char *full = backing_fullness(&v->base, r->heap, METRIC_INUSE);

    return *full ? arena_printf(v->base.arena, "%s" BESIDE "%s", r->heap->name, full)
                 : r->heap->name;
}

static const char *
labels_title(const struct group_row *r)
{
    return *r->labels ? r->labels : "without labels";
}

static void
put_table(struct text_view *v, const struct groups *groups, enum group_by by, size_t limit)
{
    bool heaps = by == BY_HEAP;
    const struct column columns[] = {
        {COLUMN_BYTES, NULL, "live", false, NULL},
        {COLUMN_PERCENT, NULL, v->base.stacks->total.peak_bytes ? "% of peak" : NULL, true, NULL},
        {COLUMN_BYTES, NULL, "allocated", true, NULL},
        {COLUMN_COUNT, NULL, "calls", true, NULL},
        {COLUMN_COUNT, NULL, heaps ? "resets" : NULL, true, NULL},
        {COLUMN_TEXT, NULL, heaps ? "heap" BESIDE "how full" : "labels", false,
         heaps ? fit_heap : NULL},
    };
    struct table t;

    table_begin(&t, v->base.arena, columns, countof(columns));
    for (size_t i = 0; i < groups->count; i++) {
        const struct group_row *r = &groups->v[i];

        table_number(&t, counters_live_bytes(&r->self));
        table_percent(&t, r->self.peak_bytes, v->base.stacks->total.peak_bytes);
        table_number(&t, r->self.allocated_bytes);
        table_number(&t, r->self.allocations);
        table_number(&t, heaps ? (int64_t)r->heap->resets : 0);
        table_string(&t, heaps ? heap_title(v, r) : labels_title(r));
    }
    strbuf_char(v->out, '\n');
    table_text(&t, &v->style, limit, v->out);
    if (table_rows(&t) > limit)
        text_line(
            v, ATTR_DIM,
            arena_printf(v->base.arena, "\xe2\x80\xa6 %s; --by %s shows them",
                         style_plural(v->base.arena, (int64_t)(table_rows(&t) - limit), "more row"),
                         heaps ? "heap" : "label"));
}

static void
put_lists(struct text_view *v)
{
    text_prose(v, ATTR_DIM,
               "libgc lists: objects given out many at once, at the stack that asked for the list. "
               "The code that took one of them, if any, is not seen.");
}

void
text_heaps(struct text_view *v, size_t limit)
{
    struct groups groups;

    if (!tags_has_heaps(v->base.p))
        return;
    group_table_rows(&v->base, BY_HEAP, METRIC_INUSE, &groups);
    text_title(v, "Heaps", "");
    put_table(v, &groups, BY_HEAP, limit);
    if (profile_collected(v->base.p).listed != 0)
        put_lists(v);
}

static void
put_backing(struct text_view *v, const struct profile_backing *b)
{
    struct stack stack = stack_of_node(v->base.p, b->node, v->base.arena);

    strbuf_char(v->out, '\n');
    text_line(v, ATTR_PLAIN,
              arena_printf(v->base.arena, "    %12s   %s of %s, for %s",
                           style_bytes(v->base.arena, counters_live_bytes(&b->counters)),
                           style_plural(v->base.arena, counters_live_blocks(&b->counters), "block"),
                           style_plural(v->base.arena, b->counters.allocations, "call"),
                           v->base.p->heaps[b->heap].name));
    text_stack(v, &stack, v->depth, 0);
}

void
text_backings(struct text_view *v, size_t limit)
{
    struct tag_picks picks;
    const struct profile_backing **all;
    size_t count;

    tags_pick(v->base.p, &v->base.tags, v->base.arena, &picks);
    all = backing_sorted(&v->base, &picks, &count);
    if (v->base.tags.heap == NULL || count == 0)
        return;
    text_title(v, "Where the heap's own memory comes from", "in no total");
    for (size_t i = 0; i < count && i < limit; i++)
        put_backing(v, all[i]);
    if (count > limit)
        text_line(
            v, ATTR_DIM,
            arena_printf(v->base.arena, "\xe2\x80\xa6 %s; --limit shows more",
                         style_plural(v->base.arena, (int64_t)(count - limit), "more stack")));
}

void
text_labels(struct text_view *v, size_t limit)
{
    struct groups groups;

    if (!tags_has_labels(v->base.p))
        return;
    group_table_rows(&v->base, BY_LABEL, METRIC_INUSE, &groups);
    text_title(v, "Labels", "");
    put_table(v, &groups, BY_LABEL, limit);
}

void
text_not_in_size_totals(struct text_view *v)
{
    const struct profile *p = v->base.p;
    int64_t calls = counters_difference(p->totals.allocations, p->heaps[0].counters.allocations);

    // The bins count blocks of malloc: the chunks that back heaps, but not the objects of heaps.
    if (calls > 0)
        text_prose(v, ATTR_DIM,
                   arena_printf(v->base.arena, "Without %s of the program's own heaps%s.",
                                style_plural(v->base.arena, calls, "call"),
                                p->extent == EXTENT_WHOLE ? ", but with what backs them" : ""));
}
