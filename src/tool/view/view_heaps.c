/* view_heaps.c: the heaps that a program has made for itself, and its labels, as sections of the
 * overview and in JSON.
 *
 * A heap is told by what is live in it, its share of the peak and of all calls, and by how full its
 * backing is: the blocks that it makes its own from. Those are in no total, so the heaps sum up to
 * the totals, malloc being one of them. Nothing is shown of a program that has neither heaps nor
 * labels.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/tags.h"
#include "view/view_json.h"
#include "view/view_text.h"

#define BESIDE " \xc2\xb7 " // Between a heap's name and how full it is.

const char *
text_fullness(const struct text_view *v, const struct profile_heap *heap, enum metric metric)
{
    const struct counters *b = &heap->backing, *c = &heap->counters;
    bool at_peak = metric == METRIC_PEAK;
    int64_t whole = at_peak ? b->peak_bytes : counters_live_bytes(b);
    int64_t part = at_peak ? c->peak_bytes : counters_live_bytes(c);

    if (b->allocations == 0 || v->filter != NULL || v->tags.label != NULL)
        return "";
    if (whole <= 0)
        return "nothing backs it";
    return arena_printf(v->arena, "%s of %s", style_percent(v->arena, part, whole),
                        style_bytes(v->arena, whole));
}

/* Cut the name, not how full it is. */
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
    const char *full = text_fullness(v, r->heap, METRIC_INUSE);

    return *full ? arena_printf(v->arena, "%s" BESIDE "%s", r->heap->name, full) : r->heap->name;
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
        {COLUMN_PERCENT, NULL, v->stacks->total.peak_bytes ? "% of peak" : NULL, true, NULL},
        {COLUMN_BYTES, NULL, "allocated", true, NULL},
        {COLUMN_COUNT, NULL, "calls", true, NULL},
        {COLUMN_COUNT, NULL, heaps ? "resets" : NULL, true, NULL},
        {COLUMN_TEXT, NULL, heaps ? "heap" BESIDE "how full" : "labels", false,
         heaps ? fit_heap : NULL},
    };
    struct table t;

    table_begin(&t, v->arena, columns, countof(columns));
    for (size_t i = 0; i < groups->count; i++) {
        const struct group_row *r = &groups->v[i];

        table_number(&t, counters_live_bytes(&r->self));
        table_percent(&t, r->self.peak_bytes, v->stacks->total.peak_bytes);
        table_number(&t, r->self.allocated_bytes);
        table_number(&t, r->self.allocations);
        table_number(&t, heaps ? (int64_t)r->heap->resets : 0);
        table_string(&t, heaps ? heap_title(v, r) : labels_title(r));
    }
    strbuf_char(v->out, '\n');
    table_text(&t, &v->style, limit, v->out);
    if (table_rows(&t) > limit)
        text_line(
            v, INK_DIM,
            arena_printf(v->arena, "\xe2\x80\xa6 %s; --by %s shows them",
                         style_plural(v->arena, (int64_t)(table_rows(&t) - limit), "more row"),
                         heaps ? "heap" : "label"));
}

void
text_heaps(struct text_view *v, size_t limit)
{
    struct groups groups;

    if (!tags_has_heaps(v->p))
        return;
    text_build_groups(v, BY_HEAP, METRIC_INUSE, &groups);
    text_title(v, "Heaps", "");
    put_table(v, &groups, BY_HEAP, limit);
}

static int
by_live_bytes(const void *a, const void *b)
{
    const struct profile_backing *x = *(const struct profile_backing *const *)a;
    const struct profile_backing *y = *(const struct profile_backing *const *)b;
    int64_t bx = counters_live_bytes(&x->counters), by = counters_live_bytes(&y->counters);

    if (bx != by)
        return bx > by ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* What backs the heaps that PICKS has, with something live or ever used; most live bytes first. */
static const struct profile_backing **
sorted_backings(const struct text_view *v, const struct tag_picks *picks, size_t *ret_count)
{
    const struct profile *p = v->p;
    const struct profile_backing **all = arena_array(v->arena, p->backing_count, sizeof *all);
    size_t count = 0;

    for (size_t i = 0; i < p->backing_count; i++)
        if (picks->heaps == NULL || picks->heaps[p->backings[i].heap])
            all[count++] = &p->backings[i];
    if (count > 1)
        qsort(all, count, sizeof *all, by_live_bytes);
    *ret_count = count;
    return all;
}

static void
put_backing(struct text_view *v, const struct profile_backing *b)
{
    struct stack stack = stack_of_node(v->p, b->node, v->arena);

    strbuf_char(v->out, '\n');
    text_line(v, INK_PLAIN,
              arena_printf(v->arena, "    %12s   %s of %s, for %s",
                           style_bytes(v->arena, counters_live_bytes(&b->counters)),
                           style_plural(v->arena, counters_live_blocks(&b->counters), "block"),
                           style_plural(v->arena, b->counters.allocations, "call"),
                           v->p->heaps[b->heap].name));
    text_stack(v, &stack, v->depth, 0);
}

void
text_backings(struct text_view *v, size_t limit)
{
    struct tag_picks picks;
    const struct profile_backing **all;
    size_t count;

    tags_pick(v->p, &v->tags, v->arena, &picks);
    all = sorted_backings(v, &picks, &count);
    if (v->tags.heap == NULL || count == 0)
        return;
    text_title(v, "Where the heap's own memory comes from", "in no total");
    for (size_t i = 0; i < count && i < limit; i++)
        put_backing(v, all[i]);
    if (count > limit)
        text_line(v, INK_DIM,
                  arena_printf(v->arena, "\xe2\x80\xa6 %s; --limit shows more",
                               style_plural(v->arena, (int64_t)(count - limit), "more stack")));
}

void
text_labels(struct text_view *v, size_t limit)
{
    struct groups groups;

    if (!tags_has_labels(v->p))
        return;
    text_build_groups(v, BY_LABEL, METRIC_INUSE, &groups);
    text_title(v, "Labels", "");
    put_table(v, &groups, BY_LABEL, limit);
}

void
text_not_in_bins(struct text_view *v)
{
    const struct profile *p = v->p;
    int64_t calls =
        counters_difference(p->totals.allocations, p->heaps[0].counters.allocations);

    // The sizes of a chunk that backs a heap are known as malloc saw it.
    if (calls > 0)
        text_line(v, INK_DIM,
                  arena_printf(v->arena,
                               "Without %s of the program's own heaps, but with what backs them.",
                               style_plural(v->arena, calls, "call")));
}

void
json_labels(struct json *j, const struct profile_label_set *set)
{
    if (set->count == 0 && *set->text != '\0') {
        json_string(j, "labels", NULL);
        return;
    }
    json_object_line(j, "labels");
    for (size_t i = 0; i < set->count; i++)
        json_string(j, set->v[i].key, set->v[i].value);
    json_end(j);
}

/* Is there anything to tell of heap I of P? */
static bool
is_known(const struct profile *p, size_t i)
{
    const struct profile_heap *h = &p->heaps[i];

    return i == 0 || h->made != 0 || h->counters.allocations != 0 || h->counters.frees != 0 ||
           h->backing.allocations != 0;
}

void
json_heaps(struct json *j, const struct profile *p)
{
    json_array(j, "heaps");
    for (size_t i = 0; i < p->heap_count; i++) {
        const struct profile_heap *h = &p->heaps[i];

        if (!is_known(p, i))
            continue;
        json_object(j, NULL);
        json_string(j, "heap", h->name);
        json_uint(j, "created_ns", h->created_ns);
        json_uint(j, "made", h->made);
        json_uint(j, "destroyed", h->destroyed);
        json_uint(j, "resets", h->resets);
        json_counters(j, &h->counters);
        if (p->extent == EXTENT_WHOLE) {
            json_object(j, "backing");
            json_counters(j, &h->backing);
            json_end(j);
        } else {
            json_string(j, "backing", NULL);
        }
        json_end(j);
    }
    json_end(j);
}

void
json_backings(struct json *j, const struct text_view *v)
{
    const struct profile_backing **all;
    size_t count;

    all = sorted_backings(v, &(struct tag_picks){0}, &count);
    json_array(j, "backings");
    for (size_t i = 0; i < count; i++) {
        struct stack stack = stack_of_node(v->p, all[i]->node, v->arena);

        json_object(j, NULL);
        json_string(j, "heap", v->p->heaps[all[i]->heap].name);
        json_counters(j, &all[i]->counters);
        json_stack(j, "stack", v->p, &stack);
        json_end(j);
    }
    json_end(j);
}

void
json_label_sets(struct json *j, const struct profile *p)
{
    json_array(j, "labels");
    for (size_t i = 0; i < p->label_set_count; i++) {
        const struct profile_label_set *set = &p->label_sets[i];

        if (set->counters.allocations == 0 && set->counters.frees == 0)
            continue;
        json_object(j, NULL);
        json_labels(j, set);
        json_counters(j, &set->counters);
        json_end(j);
    }
    json_end(j);
}
