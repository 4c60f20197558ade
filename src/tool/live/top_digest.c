/* top_digest.c: from a profile to rows that can be compared with the rows of other readings.
 *
 *     profile ─► stacks ─► groups ─► the largest ─► rows ─► amounts before, history, trend
 *                                                    ▲
 *                              digest before, marks ─┘ by key
 *
 * A row's key is made from its texts, because ids and addresses belong to one reading. A profile
 * may have millions of rows, so only the largest by each metric get names, keys and histories; the
 * rest is counted.
 *
 * The history is the profile's own: the changes between its snapshots, added up at evenly spread
 * moments. So a row has its past, and the trend that `heaptap timeline` shows, as soon as it
 * appears. */
#include "live/top_digest.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "open/pick_stacks.h"
#include "view/table.h"
#include "view/view.h"

/* Amounts at the mark, of all rows of one grouping. */
struct top_mark {
    struct top_mark *next;
    uint32_t process;
    enum group_by by;
    struct moment now;
    uint64_t unix_ns;
    bool complete; // A row without amounts had nothing.
    struct map index;
    struct top_amounts *amounts;
};

enum { METRICS = METRIC_COUNT + 1 };

struct top_amounts
top_row_amounts(const struct top_row *r)
{
    const struct counters *c = &r->inclusive;

    return (struct top_amounts){counters_live_bytes(c), c->allocated_bytes, c->allocations,
                                counters_within_16(c)};
}

const struct top_row *
top_digest_find(const struct top_digest *d, uint64_t key)
{
    const uint64_t *slot = map_get(&d->index, key);

    return slot != NULL ? &d->rows[*slot - 1] : NULL;
}

/* --- Selection -----------------------------------------------------------------------------------
 */

/* A heap of the largest rows by one metric: the root is the smallest of them. */
struct largest {
    struct largest_item {
        int64_t value;
        size_t index;
    } *v;
    size_t count, limit;
};

static void
sift_down(struct largest *l, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;
        struct largest_item item = l->v[i];

        if (child >= l->count)
            return;
        if (child + 1 < l->count && l->v[child + 1].value < l->v[child].value)
            child++;
        if (l->v[child].value >= item.value)
            return;
        l->v[i] = l->v[child];
        l->v[child] = item;
        i = child;
    }
}

static void
largest_offer(struct largest *l, int64_t value, size_t index)
{
    if (l->count < l->limit) {
        l->v[l->count++] = (struct largest_item){value, index};
        if (l->count == l->limit)
            for (size_t i = l->count / 2; i-- > 0;)
                sift_down(l, i);
    } else if (value > l->v[0].value) {
        l->v[0] = (struct largest_item){value, index};
        sift_down(l, 0);
    }
}

/* Mark in CHOSEN the LIMIT largest of COUNT rows by METRIC. */
static void
choose_largest(const struct group_row *rows, size_t count, size_t limit, enum metric metric,
               bool *chosen)
{
    struct largest l = {xcalloc(limit, sizeof *l.v), 0, limit};

    for (size_t i = 0; i < count; i++)
        largest_offer(&l, metric_value(&rows[i].inclusive, metric), i);
    for (size_t i = 0; i < l.count; i++)
        chosen[l.v[i].index] = true;
    free(l.v);
}

/* Remove the functions of the C library that call main or a thread's function. */
static void
remove_start_up(const struct profile *p, enum group_by by, struct groups *g)
{
    size_t kept = 0;

    if (by != BY_FUNCTION && by != BY_LINE)
        return;
    for (size_t i = 0; i < g->count; i++) {
        const struct group_row *r = &g->v[i];

        if (r->frame == GROUP_NO_FRAME || counters_live_bytes(&r->self) != 0 ||
            !stack_function_is_start_up(profile_string(p, p->frames[r->frame].function)))
            g->v[kept++] = *r;
    }
    g->count = kept;
}

/* Reduce G to the rows that are large by some metric. */
static void
select_rows(struct groups *g, struct arena *arena)
{
    size_t limit = TOP_ROWS_MAX / METRICS, kept = 0;
    bool *chosen;

    if (g->count <= TOP_ROWS_MAX)
        return;
    chosen = arena_array(arena, g->count, sizeof *chosen);
    for (int m = 0; m < METRICS; m++)
        choose_largest(g->v, g->count, limit, (enum metric)m, chosen);
    for (size_t i = 0; i < g->count; i++)
        if (chosen[i])
            g->v[kept++] = g->v[i];
    g->count = kept;
}

/* --- Keys ----------------------------------------------------------------------------------------
 */

static uint64_t
key_add(uint64_t key, const void *data, size_t size_bytes)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size_bytes; i++)
        key = (key ^ bytes[i]) * UINT64_C(0x100000001b3);
    return key;
}

static uint64_t
key_add_text(uint64_t key, const char *text)
{
    return key_add(key, text, strlen(text) + 1);
}

/* Add what identifies FRAME in all readings: its texts, its line if WITH_LINE. */
static uint64_t
key_add_frame(uint64_t key, const struct profile *p, uint32_t frame, uint32_t location,
              bool with_line, struct arena *scratch)
{
    const struct profile_frame *f = &p->frames[frame];

    key = key_add_text(key, frame_name(p, frame, location, scratch));
    key = key_add_text(key, profile_code_of(p, f));
    if (profile_is_of_file(f) || with_line)
        key = key_add_text(key, profile_string(p, f->file));
    return with_line ? key_add(key, &f->line, sizeof f->line) : key;
}

static uint64_t
key_of(const struct view *v, enum group_by by, const struct group_row *r, struct arena *scratch)
{
    const struct profile *p = v->p;
    uint64_t key = UINT64_C(0xcbf29ce484222325) + (uint64_t)by;

    if (by == BY_SITE) {
        const struct stack *s = r->stack;

        for (uint32_t i = 0; i < s->depth; i++)
            key = key_add_frame(key, p, s->frames[i], s->locations[i], true, scratch);
        key = key_add_text(key, p->heaps[s->heap].name);
        if (s->labels != STACK_LABELS_SEVERAL)
            key = key_add_text(key, p->label_sets[s->labels].text);
    } else if (by == BY_THREAD) {
        key = key_add_text(key, r->thread->name);
        key = key_add(key, &r->thread->tid, sizeof r->thread->tid);
    } else if (by == BY_TYPE) {
        uint64_t size = profile_site_size_min(r->site);

        key = key_add_text(key, profile_string(p, r->site->type));
        key = key_add(key, &r->site->verdict, sizeof r->site->verdict);
        if (r->site->verdict == VERDICT_SAME_SIZE)
            key = key_add(key, &size, sizeof size);
    } else if (by == BY_HEAP) {
        key = key_add_text(key, r->heap->name);
    } else if (by == BY_LABEL) {
        key = key_add_text(key, r->labels);
    } else if (r->frame != GROUP_NO_FRAME && by == BY_MODULE) {
        key = key_add_text(key, profile_code_of(p, &p->frames[r->frame]));
    } else if (r->frame != GROUP_NO_FRAME) {
        key = key_add_frame(key, p, r->frame, r->location, by == BY_LINE, scratch);
    }
    return key;
}

/* --- Rows of stacks ------------------------------------------------------------------------------
 */

/* Find the rows that a stack belongs to. */
struct finder {
    struct top_digest *d;
    const struct groups *groups;
    uint32_t *by_frame;  // Row of each frame plus 1; UNKNOWN = not yet sought.
    struct map by_key;   // Key of the grouping within this profile, to row plus 1.
    uint32_t *by_other;  // By stack, thread, heap, or set of labels: row plus 1.
    uint32_t *last_seen; // By row: the latest stack, to count recursion once.
    uint32_t found[2048];
};

#define UNKNOWN UINT32_MAX

/* Return a number that is equal for frames of one row. */
static uint64_t
row_key(const struct finder *f, uint32_t frame, uint32_t location)
{
    return group_frame_key(f->d->p, f->d->by, frame, location);
}

static uint32_t
other_of(const struct finder *f, const struct group_row *r)
{
    const struct profile *p = f->d->p;

    switch (f->d->by) {
    case BY_SITE:
        return (uint32_t)(r->stack - f->d->stacks.v);
    case BY_THREAD:
        return (uint32_t)(r->thread - p->threads);
    case BY_HEAP:
        return (uint32_t)(r->heap - p->heaps);
    default:
        return UNKNOWN;
    }
}

static void
finder_init(struct finder *f, struct arena *arena)
{
    const struct profile *p = f->d->p;
    size_t others = f->d->by == BY_SITE     ? f->d->stacks.count
                    : f->d->by == BY_THREAD ? p->thread_count
                                            : p->heap_count;

    f->by_frame = arena_array(arena, p->frame_count + 1, sizeof *f->by_frame);
    memset(f->by_frame, 0xff, (p->frame_count + 1) * sizeof *f->by_frame);
    f->by_other = arena_array(arena, others + 1, sizeof *f->by_other);
    f->last_seen = arena_array(arena, f->d->count + 1, sizeof *f->last_seen);
    for (uint32_t i = 0; i < f->d->count; i++) {
        const struct group_row *r = &f->groups->v[i];

        if (other_of(f, r) != UNKNOWN)
            f->by_other[other_of(f, r)] = i + 1;
        else if (r->frame != GROUP_NO_FRAME)
            *map_put(&f->by_key, row_key(f, r->frame, r->location), NULL) = i + 1;
    }
}

/* Return the row of FRAME plus 1; 0 if it has none. */
static uint32_t
row_of_frame(struct finder *f, uint32_t frame, uint32_t location)
{
    if (f->by_frame[frame] == UNKNOWN) {
        const uint64_t *slot = map_get(&f->by_key, row_key(f, frame, location));

        f->by_frame[frame] = slot != NULL ? (uint32_t)*slot : 0;
    }
    return f->by_frame[frame];
}

/* Store the rows of stack INDEX, allocated by THREAD, in F's found, each once. SEEN differs in each
 * call. Return their number. */
static size_t
rows_of_stack(struct finder *f, uint32_t index, uint32_t thread, uint32_t seen)
{
    const struct stack *s = &f->d->stacks.v[index];
    enum group_by by = f->d->by;
    size_t n = 0;

    if (by == BY_SITE || by == BY_THREAD || by == BY_HEAP) {
        f->found[0] = f->by_other[by == BY_SITE ? index : by == BY_THREAD ? thread : s->heap];
        return f->found[0] != 0;
    }
    if (by != BY_FUNCTION && by != BY_LINE && by != BY_MODULE)
        return 0;
    for (uint32_t i = 0; i < s->depth && n < countof(f->found); i++) {
        uint32_t row = row_of_frame(f, s->frames[i], s->locations[i]);

        if (row == 0 || f->last_seen[row] == seen)
            continue;
        f->last_seen[row] = seen;
        f->found[n++] = row;
    }
    return n;
}

/* Give each row the stack with most live bytes. */
static void
find_stacks(struct finder *f)
{
    struct top_digest *d = f->d;

    for (uint32_t i = 0; i < d->stacks.count && d->by != BY_THREAD; i++) {
        int64_t live = counters_live_bytes(&d->stacks.v[i].counters);
        size_t n = rows_of_stack(f, i, 0, i + 1);

        for (size_t k = 0; k < n; k++) {
            struct top_row *r = &d->rows[f->found[k] - 1];

            if (r->stack == UINT32_MAX ||
                live > counters_live_bytes(&d->stacks.v[r->stack].counters))
                r->stack = i;
        }
    }
    memset(f->last_seen, 0, (d->count + 1) * sizeof *f->last_seen);
}

/* --- History -------------------------------------------------------------------------------------
 */

/* Return the first of the evenly spread moments that contains what happened up to snapshot
 * INTERVAL. */
static size_t
slot_of(const struct profile *p, uint32_t interval)
{
    uint64_t all_ns = p->process.elapsed_ns, at_ns;
    size_t slot;

    if (interval >= p->snapshot_count || all_ns == 0)
        return TREND_POINTS - 1;
    at_ns = p->snapshots[interval].elapsed_ns;
    slot = (size_t)((double)at_ns / (double)all_ns * (TREND_POINTS - 1));
    slot += (double)slot / (TREND_POINTS - 1) * (double)all_ns < (double)at_ns;
    return slot < TREND_POINTS - 1 ? slot : TREND_POINTS - 1;
}

static void
find_trend(const struct profile *p, struct top_row *r)
{
    struct profile_point points[2] = {{.elapsed_ns = 0}, {.elapsed_ns = p->process.elapsed_ns}};
    struct timeline t = {.by = TIMELINE_LIVE, .points = points, .point_count = 2};
    struct timeline_row row = {.max = INT64_MIN, .half_low = INT64_MAX, .half_high = INT64_MIN};

    memcpy(row.rough, r->history, sizeof row.rough);
    for (size_t i = 0; i < TREND_POINTS; i++) {
        row.max = r->history[i] > row.max ? r->history[i] : row.max;
        if (i < TREND_POINTS / 2 || i == TREND_POINTS - 1)
            continue;
        row.half_low = r->history[i] < row.half_low ? r->history[i] : row.half_low;
        row.half_high = r->history[i] > row.half_high ? r->history[i] : row.half_high;
    }
    timeline_find_trend(&t, &row);
    r->trend = row.trend;
}

/* Fill in the histories of all rows: first the changes at each moment, then their sums. */
static void
find_histories(struct finder *f)
{
    struct top_digest *d = f->d;
    const struct profile *p = d->p;
    uint32_t seen = 0;

    d->has_history = p->has_history && p->merged_processes == 0 && d->by != BY_LABEL &&
                     d->by != BY_TYPE;
    for (size_t i = 0; i < p->change_count && d->has_history; i++) {
        const struct profile_change *c = &p->changes[i];
        const struct profile_thread_site *ts = &p->thread_sites[c->thread_site];
        uint32_t stack = d->stacks.site_stacks[ts->site];
        size_t n = stack != 0 ? rows_of_stack(f, stack - 1, ts->thread, ++seen) : 0;
        size_t slot = slot_of(p, c->interval);

        for (size_t k = 0; k < n; k++) {
            int64_t *at = &d->rows[f->found[k] - 1].history[slot];

            *at = counters_sum(*at, profile_amounts_live(&c->amounts));
        }
    }
    for (size_t i = 0; i < d->count && d->has_history; i++) {
        for (size_t k = 1; k < TREND_POINTS; k++)
            d->rows[i].history[k] =
                counters_sum(d->rows[i].history[k], d->rows[i].history[k - 1]);
        find_trend(p, &d->rows[i]);
    }
}

/* --- Marks ---------------------------------------------------------------------------------------
 */

static void
free_mark(struct top_mark *m)
{
    map_release(&m->index);
    free(m->amounts);
    free(m);
}

static void
free_marks(struct top_wishes *w)
{
    while (w->marks != NULL) {
        struct top_mark *next = w->marks->next;

        free_mark(w->marks);
        w->marks = next;
    }
}

void
top_wishes_mark(struct top_wishes *w, struct reading *reading)
{
    reading_release(w->marked);
    w->marked = reading;
    free_marks(w);
}

void
top_wishes_forget(struct top_wishes *w)
{
    free_marks(w);
}

/* Return a mark at D, the digest of READING. */
static struct top_mark *
mark_at(const struct top_digest *d, const struct reading *reading)
{
    struct top_mark *m = xcalloc(1, sizeof *m);

    *m = (struct top_mark){.by = d->by,
                           .now = d->now,
                           .process = reading->process,
                           .unix_ns = reading->unix_ns,
                           .complete = d->count == d->all,
                           .amounts = xcalloc(d->count + 1, sizeof *m->amounts)};
    for (size_t i = 0; i < d->count; i++) {
        m->amounts[i] = top_row_amounts(&d->rows[i]);
        *map_put(&m->index, d->rows[i].key, NULL) = i;
    }
    return m;
}

static struct top_digest *digest_of(const struct top_wishes *w, const struct profile *p,
                                    const struct reading *reading);

/* Return the mark of D's grouping, made if there is none: at the reading that the user marked, else
 * at D. */
static const struct top_mark *
find_mark(struct top_wishes *w, const struct top_digest *d, const struct reading *reading)
{
    struct top_mark *m = w->marks;

    while (m != NULL && (m->by != d->by || m->process != reading->process))
        m = m->next;
    if (m != NULL)
        return m;
    if (w->marked != NULL && w->marked->process == reading->process) {
        struct top_digest *marked = digest_of(w, w->marked->p, w->marked);

        m = mark_at(marked, w->marked);
        top_digest_free(marked);
    } else {
        m = mark_at(d, reading);
    }
    m->next = w->marks;
    w->marks = m;
    return m;
}

static void
compare_with_mark(struct top_digest *d, const struct top_mark *m)
{
    d->mark = m->now;
    d->mark_unix_ns = m->unix_ns;
    for (size_t i = 0; i < d->count; i++) {
        const uint64_t *slot = map_get(&m->index, d->rows[i].key);

        d->rows[i].has_marked = slot != NULL || m->complete;
        if (slot != NULL)
            d->rows[i].marked = m->amounts[*slot];
    }
}

/* Compare with PREVIOUS, or with the reading before it if that is a repeated digest. */
static void
compare_with_previous(struct top_digest *d, const struct top_digest *previous)
{
    bool repeated = previous->now.monotonic_ns == d->now.monotonic_ns;

    if (previous->by != d->by)
        return;
    for (size_t i = 0; i < d->count; i++) {
        struct top_row *r = &d->rows[i];
        const struct top_row *before = top_digest_find(previous, r->key);

        r->has_before = before != NULL ? !repeated || before->has_before
                                       : previous->count == previous->all && !repeated;
        if (before != NULL)
            r->before = repeated ? before->before : top_row_amounts(before);
    }
}

/* --- The digest ----------------------------------------------------------------------------------
 */

/* Fill in the rows of GROUPS. */
static void
make_rows(struct top_digest *d, const struct view *v, const struct groups *groups)
{
    struct group_names names = group_table_names(v, groups, d->by);
    struct arena scratch = {0};

    d->rows = arena_array(&d->arena, groups->count, sizeof *d->rows);
    d->count = groups->count;
    map_reserve(&d->index, d->count);
    for (size_t i = 0; i < d->count; i++) {
        const struct group_row *r = &groups->v[i];

        d->rows[i] = (struct top_row){
            .key = key_of(v, d->by, r, &scratch),
            .name = style_clean(&d->arena, names.names[i]),
            .place = style_clean(&d->arena, names.places[i]),
            .inclusive = r->inclusive,
            .self = r->self,
            .inclusive_errors = r->inclusive_errors,
            .self_errors = r->self_errors,
            .stack = UINT32_MAX,
            .frame = r->frame,
        };
        *map_put(&d->index, d->rows[i].key, NULL) = i + 1;
    }
    arena_release(&scratch);
}

static struct top_digest *
digest_of(const struct top_wishes *w, const struct profile *p, const struct reading *reading)
{
    struct top_digest *d = xcalloc(1, sizeof *d);
    struct view_options view = *w->view;
    struct stacks_options options;
    struct finder f = {.d = d};
    struct arena scratch = {0};
    struct groups groups;
    struct err err = {""};
    struct view v = {.p = p, .stacks = &d->stacks, .arena = &d->arena};

    view.filter = w->filter;
    options = pick_options(&view, true);
    options.merge_labels = w->by != BY_LABEL;
    d->p = p;
    d->by = w->by;
    d->now = reading->now;
    d->before = reading->before;
    if (stacks_build(p, &options, &d->arena, &d->stacks, &err) != 0) {
        // The pattern was checked before; only its size for this profile may be too large.
        d->trouble = arena_strdup(&d->arena, err.text);
        options.filter = NULL;
        stacks_build(p, &options, &d->arena, &d->stacks, &err);
    }
    group_stacks(p, &d->stacks, d->by, NULL, METRIC_INUSE, &d->arena, &groups);
    remove_start_up(p, d->by, &groups);
    d->all = groups.count;
    d->has_rows_of_callees = d->by == BY_FUNCTION || d->by == BY_LINE || d->by == BY_MODULE;
    select_rows(&groups, &scratch);
    make_rows(d, &v, &groups);
    f.groups = &groups;
    finder_init(&f, &scratch);
    find_stacks(&f);
    find_histories(&f);
    map_release(&f.by_key);
    arena_release(&scratch);
    return d;
}

void *
top_digest_make(void *arg, struct profile *p, const struct reading *reading, const void *previous)
{
    struct top_wishes *w = arg;
    struct top_digest *d;

    if (reading->process != w->process)
        return NULL;
    // A model that others see already cannot get types.
    if (w->types && !p->typed && !reading->repeated)
        symbolise_types(p, &w->view->symbols);
    d = digest_of(w, p, reading);
    if (previous != NULL)
        compare_with_previous(d, previous);
    compare_with_mark(d, find_mark(w, d, reading));
    return d;
}

void
top_digest_free(void *digest)
{
    struct top_digest *d = digest;

    if (d == NULL)
        return;
    map_release(&d->index);
    arena_release(&d->arena);
    free(d);
}
