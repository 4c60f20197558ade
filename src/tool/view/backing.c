/* backing.c: blocks that back heaps of the program.
 *
 * Such a heap makes its objects from chunks, mostly of malloc. Chunks are in no total. The share
 * that objects occupy shows how well a heap uses its chunks. */
#include "view/view.h"

#include <stdlib.h>

#include "view/style.h"

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

/* Return the backings of the heaps in PICKS that have blocks, or had some; most live bytes
 * first. */
const struct profile_backing **
backing_sorted(const struct view *v, const struct tag_picks *picks, size_t *ret_count)
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

const char *
backing_fullness(const struct view *v, const struct profile_heap *heap, enum metric metric)
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
