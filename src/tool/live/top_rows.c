/* top_rows.c: sort rows, and keep rows in place.
 *
 * Numbers change with each reading, and a row that jumps away from the cursor cannot be read. So
 * the row under the cursor keeps its place in the list while the others are sorted around it, and a
 * frozen list keeps its whole order. */
#include "live/top_rows.h"

#include <stdlib.h>
#include <string.h>

const char *const top_sort_names[] = {"live",      "self", "change",      "rate", "calls",
                                      "allocated", "peak", "short-lived", "name", NULL};

bool
top_row_value(const struct top_digest *d, const struct top_row *r, enum top_sort sort, int64_t *ret)
{
    struct top_amounts now = top_row_amounts(r);
    double seconds;

    switch (sort) {
    case TOP_LIVE:
        *ret = now.live_bytes;
        return true;
    case TOP_SELF:
        *ret = counters_live_bytes(&r->self);
        return true;
    case TOP_CHANGE:
        *ret = counters_difference(now.live_bytes, r->marked.live_bytes);
        return r->has_marked && d->mark.monotonic_ns != d->now.monotonic_ns;
    case TOP_RATE:
        seconds = (double)(d->now.monotonic_ns - d->before.monotonic_ns) / 1e9;
        if (!r->has_before || d->before.monotonic_ns == 0 || seconds <= 0)
            return false;
        *ret = (int64_t)((double)counters_difference(now.allocated_bytes,
                                                     r->before.allocated_bytes) /
                         seconds);
        return true;
    case TOP_CALLS:
        *ret = now.allocations;
        return true;
    case TOP_ALLOCATED:
        *ret = now.allocated_bytes;
        return true;
    case TOP_PEAK:
        *ret = r->inclusive.peak_bytes;
        return true;
    case TOP_SHORT_LIVED:
        *ret = now.short_lived;
        return true;
    default:
        *ret = 0;
        return true;
    }
}

/* A row with the value that sorts it. */
struct sortable {
    const struct top_row *row;
    bool known;
    int64_t value;
    size_t rank; // In the frozen order; SIZE_MAX = not in it.
};

static int64_t
self_bytes(const struct sortable *s)
{
    return counters_live_bytes(&s->row->self);
}

static int
top_rows_compare(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    int by_name;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->known != y->known)
        return x->known ? -1 : 1;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    if (self_bytes(x) != self_bytes(y))
        return self_bytes(x) > self_bytes(y) ? -1 : 1;
    by_name = strcmp(x->row->name, y->row->name);
    if (by_name == 0)
        by_name = strcmp(x->row->place, y->row->place);
    return by_name != 0 ? by_name : x->row->key < y->row->key ? -1 : x->row->key > y->row->key;
}

/* Move the row that O holds to its place. */
static void
hold_row(const struct top_order *o, const struct top_row **rows, size_t count)
{
    size_t at = 0, to = o->held_at < count ? o->held_at : count - 1;
    const struct top_row *held;

    while (at < count && rows[at]->key != o->held)
        at++;
    if (at == count)
        return;
    held = rows[at];
    if (at < to)
        memmove(&rows[at], &rows[at + 1], (to - at) * sizeof(const struct top_row *));
    else
        memmove(&rows[to + 1], &rows[to], (at - to) * sizeof(const struct top_row *));
    rows[to] = held;
}

/* Invert the order of the COUNT items at V that are known and not frozen. */
static void
invert(struct sortable *v, size_t count)
{
    size_t begin = 0, end;

    while (begin < count && v[begin].rank != SIZE_MAX)
        begin++;
    for (end = begin; end < count && v[end].known; end++)
        ;
    while (begin + 1 < end) {
        struct sortable swap = v[begin];

        v[begin++] = v[--end];
        v[end] = swap;
    }
}

size_t
top_rows_order(const struct top_digest *d, const struct top_order *o, struct arena *arena,
               const struct top_row ***ret)
{
    struct sortable *v = xcalloc(d->count + 1, sizeof *v);
    struct map ranks = {0};
    size_t count = 0;

    for (size_t i = 0; i < o->frozen_count; i++)
        *map_put(&ranks, o->frozen[i], NULL) = i;
    for (size_t i = 0; i < d->count; i++) {
        const struct top_row *r = &d->rows[i];
        const uint64_t *rank = map_get(&ranks, r->key);
        int64_t change;

        if (o->changed_only && (!top_row_value(d, r, TOP_CHANGE, &change) || change == 0))
            continue;
        v[count].row = r;
        v[count].rank = rank != NULL ? (size_t)*rank : SIZE_MAX;
        v[count].known = top_row_value(d, r, o->sort, &v[count].value);
        count++;
    }
    qsort(v, count, sizeof *v, top_rows_compare);
    if (o->inverted)
        invert(v, count);
    *ret = arena_array(arena, count + 1, sizeof **ret);
    for (size_t i = 0; i < count; i++)
        (*ret)[i] = v[i].row;
    if (o->held != 0 && o->frozen == NULL && count > 0)
        hold_row(o, *ret, count);
    map_release(&ranks);
    free(v);
    return count;
}

size_t
top_rows_search(const struct top_row *const *rows, size_t count, size_t from, bool back,
                const char *text)
{
    for (size_t i = 1; i <= count; i++) {
        size_t at = back ? (from + count - i) % count : (from + i) % count;

        if (strcasestr(rows[at]->name, text) != NULL || strcasestr(rows[at]->place, text) != NULL)
            return at;
    }
    return count;
}
