/* group.c: sum stacks into rows.
 *
 * The grouping gives each frame a key (below), and each new key creates a row. A stack adds to
 * `inclusive` of each row it touches once, however often recursion repeats the frame: a row stores
 * the last stack that touched it. A stack adds to `self` of its innermost frame's row only, so the
 * self values of a grouping sum to the total.
 *
 *     key:  | tag 2 bits | string id 30 bits | id 32 bits |
 *
 * Pure: no I/O, and the profile is not changed. */
#include "analyse/group.h"

#include <stdlib.h>
#include <string.h>

#include "profile/profile_valid.h"
#include "util/ensure.h"

/* Part of a row whose frames have one name. A row shows the name of its largest part. */
struct part {
    size_t row;
    uint32_t frame, location; // A frame of the part.
    size_t last_stack;        // Last stack counted in inclusive, plus 1.
    struct counters inclusive, self;
};

enum key_tag { KEY_NAMED = 0, KEY_ADDRESS = 1, KEY_FUNCTION = 2, KEY_OTHER = 3 };

struct grouper {
    const struct profile *p;
    struct arena *arena;
    enum group_by by;
    const char *key; // BY_LABEL_VALUE only.
    enum metric metric;
    struct groups *ret;
    size_t capacity;
    struct map rows;    // Key to row index plus 1.
    size_t *last_stack; // By row: the last stack counted in inclusive, plus 1.
    size_t last_capacity;
    struct part *parts;
    size_t part_count, part_capacity;
    struct map part_ids; // Row and name to part.
};

static void group_add_stack(struct grouper *g, const struct stacks *stacks, size_t index);
static void add_threads(struct grouper *g, const struct stacks *stacks);
static void add_sizes(struct grouper *g);
static void group_add_types(struct grouper *g, const struct stacks *stacks);
static void group_add_heaps(struct grouper *g, const struct stacks *stacks);
static void group_add_labels(struct grouper *g, const struct stacks *stacks);
static int compare_values(int64_t a, int64_t b);
static void group_name_rows(struct grouper *g);
static void group_sort_rows(struct groups *groups, enum metric metric);

static uint64_t
group_make_key(enum key_tag tag, uint32_t a, uint32_t b)
{
    return (uint64_t)tag << 62 | (uint64_t)(a & 0x3fffffff) << 32 | b;
}

uint64_t
group_function_key(const struct profile *p, uint32_t frame, uint32_t location)
{
    const struct profile_frame *f = &p->frames[frame];
    uint32_t same = p->locations[location].same;

    return f->function ? group_make_key(KEY_FUNCTION, f->function, profile_function_home(f))
                       : group_make_key(KEY_ADDRESS, 0, same != 0 ? same : location);
}

uint64_t
group_frame_key(const struct profile *p, enum group_by by, uint32_t frame, uint32_t location)
{
    const struct profile_frame *f = &p->frames[frame];

    if (by == BY_MODULE)
        return group_make_key(KEY_NAMED, f->language, f->module);
    if (by == BY_FILE)
        return f->file ? group_make_key(KEY_NAMED, f->file, 0)
                       : group_make_key(KEY_ADDRESS, 0, f->module);
    if (by == BY_LINE && f->file && f->line != 0)
        return group_make_key(KEY_NAMED, f->file, f->line);
    // Without a function, calls at different places are different lines.
    if (by == BY_LINE && f->function == 0)
        return group_make_key(KEY_ADDRESS, 0, location);
    return group_function_key(p, frame, location);
}

static size_t
group_find_row(struct grouper *g, uint64_t key, uint32_t frame, uint32_t location)
{
    bool is_new;
    uint64_t *slot = map_put(&g->rows, key, &is_new);
    size_t i = g->ret->count;

    if (!is_new)
        return *slot;
    arena_grow(g->arena, &g->ret->v, &g->capacity, i, sizeof *g->ret->v);
    arena_grow(g->arena, &g->last_stack, &g->last_capacity, i, sizeof *g->last_stack);
    g->ret->v[i] = (struct group_row){
        .frame = frame, .location = location, .inclusive = COUNTERS_ZERO, .self = COUNTERS_ZERO};
    g->last_stack[i] = 0;
    g->ret->count++;
    *slot = i;
    return i;
}

void
group_stacks(const struct profile *p, const struct stacks *stacks, enum group_by by,
             const char *key, enum metric metric, struct arena *arena, struct groups *ret)
{
    struct grouper g = {
        .p = p, .arena = arena, .by = by, .key = key, .metric = metric, .ret = ret};

    *ret = (struct groups){0};
    if (by == BY_THREAD)
        add_threads(&g, stacks);
    else if (by == BY_SIZE)
        add_sizes(&g);
    else if (by == BY_TYPE)
        group_add_types(&g, stacks);
    else if (by == BY_HEAP)
        group_add_heaps(&g, stacks);
    else if (by == BY_LABEL || by == BY_LABEL_VALUE)
        group_add_labels(&g, stacks);
    else
        for (size_t i = 0; i < stacks->count; i++)
            group_add_stack(&g, stacks, i);
    group_name_rows(&g);
    group_sort_rows(ret, metric);
    map_release(&g.rows);
    map_release(&g.part_ids);
    ENSURE_VALID(groups_are_valid(p, stacks, by, metric, ret));
}

static void
group_add_inclusive(struct grouper *g, size_t row, const struct stacks *stacks,
                    const struct stack *s, uint32_t frame)
{
    struct group_row *r = &g->ret->v[row];

    counters_add(&r->inclusive, &s->counters);
    stack_errors_add(&r->inclusive_errors, stacks, s, frame, g->arena);
    // Any file or module may have callers, even if only its sites were seen.
    if ((g->by == BY_FILE || g->by == BY_MODULE) && stacks->has_callerless)
        memcpy(r->inclusive_errors->callerless, stacks->callerless, sizeof stacks->callerless);
}

static void
add_self(struct grouper *g, size_t row, const struct stacks *stacks, const struct stack *s)
{
    struct group_row *r = &g->ret->v[row];

    counters_add(&r->self, &s->counters);
    stack_errors_add(&r->self_errors, stacks, s, 0, g->arena);
}

/* Add stack S, number INDEX, to the part of ROW that has the name of its frame I. */
static void
group_add_part(struct grouper *g, size_t row, const struct stack *s, size_t index, uint32_t i)
{
    bool is_new;
    uint64_t key = (uint64_t)row << 32 | g->p->frames[s->frames[i]].function;
    uint64_t *id = map_put(&g->part_ids, key, &is_new);
    struct part *part;

    if (is_new) {
        arena_grow(g->arena, &g->parts, &g->part_capacity, g->part_count, sizeof *g->parts);
        g->parts[g->part_count] = (struct part){.row = row,
                                                .frame = s->frames[i],
                                                .location = s->locations[i],
                                                .inclusive = COUNTERS_ZERO,
                                                .self = COUNTERS_ZERO};
        *id = g->part_count++;
    }
    part = &g->parts[*id];
    if (i == 0)
        counters_add(&part->self, &s->counters);
    if (part->last_stack != index + 1)
        counters_add(&part->inclusive, &s->counters);
    part->last_stack = index + 1;
}

static int
group_compare_parts(const struct part *a, const struct part *b, enum metric m)
{
    int order = compare_values(metric_value(&a->self, m), metric_value(&b->self, m));

    return order ? order
                 : compare_values(metric_value(&a->inclusive, m), metric_value(&b->inclusive, m));
}

/* Give each row the frame of its largest part. */
static void
group_name_rows(struct grouper *g)
{
    const struct part **best = arena_array(g->arena, g->ret->count, sizeof *best);

    for (size_t i = 0; i < g->part_count; i++) {
        const struct part *part = &g->parts[i];
        struct group_row *r = &g->ret->v[part->row];

        r->names++;
        if (best[part->row] != NULL && group_compare_parts(part, best[part->row], g->metric) >= 0)
            continue;
        best[part->row] = part;
        r->frame = part->frame;
        r->location = part->location;
    }
}

static struct group_row *
group_add_row(struct grouper *g, const struct counters *c)
{
    size_t i = g->ret->count++;

    arena_grow(g->arena, &g->ret->v, &g->capacity, i, sizeof *g->ret->v);
    g->ret->v[i] = (struct group_row){.frame = GROUP_NO_FRAME, .inclusive = *c, .self = *c};
    return &g->ret->v[i];
}

static void
group_add_stack(struct grouper *g, const struct stacks *stacks, size_t index)
{
    const struct stack *s = &stacks->v[index];
    size_t row;

    if (g->by == BY_SITE) {
        struct group_row *r = group_add_row(g, &s->counters);

        r->stack = s;
        r->inclusive_errors = r->self_errors = s->errors;
        r->frame = s->depth ? s->frames[0] : GROUP_NO_FRAME;
        r->location = s->depth ? s->locations[0] : 0;
        return;
    }
    if (s->depth == 0) {
        row = group_find_row(g, group_make_key(KEY_OTHER, 0, 0), GROUP_NO_FRAME, 0);
        group_add_inclusive(g, row, stacks, s, 0);
        add_self(g, row, stacks, s);
    }
    for (uint32_t i = 0; i < s->depth; i++) {
        row = group_find_row(g, group_frame_key(g->p, g->by, s->frames[i], s->locations[i]),
                             s->frames[i], s->locations[i]);
        if (i == 0)
            add_self(g, row, stacks, s);
        if (g->last_stack[row] != index + 1)
            group_add_inclusive(g, row, stacks, s, i);
        g->last_stack[row] = index + 1;
        if (g->by == BY_LINE)
            group_add_part(g, row, s, index, i);
    }
}

/* Create rows for the threads' counters at the sites that passed the filter. */
static void
add_threads(struct grouper *g, const struct stacks *stacks)
{
    struct thread_shares shares;

    threads_charge(g->p, stacks, g->arena, &shares);
    g->ret->live_is_shared = shares.live_is_shared;
    g->ret->peak_is_shared = shares.peak_is_shared;
    for (size_t i = 0; i < g->p->thread_count; i++) {
        const struct thread_share *share = &shares.v[i];
        const struct counters *c = &share->counters;
        struct group_row *row;

        if (c->allocations == 0 && c->frees == 0 && share->for_others_blocks <= 0)
            continue;
        row = group_add_row(g, c);
        row->thread = &g->p->threads[i];
        row->share = share;
    }
}

static void
add_sizes(struct grouper *g)
{
    for (size_t i = 0; i < g->p->bin_count; i++) {
        const struct profile_bin *bin = &g->p->bins[i];
        struct counters known = bin->counters;

        if (known.allocations == 0 && known.frees == 0)
            continue;
        known.partial = true; // Nothing else is counted by size.
        group_add_row(g, &known)->bin = bin;
    }
}

/* Return the key of SITE's type. Sites without a single type are split by size, if types of that
 * size are known. */
static uint64_t
type_key(const struct profile_site *site)
{
    uint64_t size = site->verdict == VERDICT_SAME_SIZE ? profile_site_size_min(site) : 0;

    return (uint64_t)(site->verdict & 3) << 62 | (size & 0x3fffffff) << 32 | site->type;
}

/* Return true if nothing happened at SITE in the period that its profile was cut to. */
static bool
is_idle(const struct profile_site *site)
{
    const struct counters *c = &site->counters;

    return c->partial && c->allocations == 0 && c->frees == 0 && c->allocated_bytes == 0 &&
           c->freed_bytes == 0;
}

/* Sum the sites that passed the filter by the type of their blocks. */
static void
group_add_types(struct grouper *g, const struct stacks *stacks)
{
    for (size_t i = 0; i < g->p->site_count; i++) {
        const struct profile_site *site = &g->p->sites[i];
        size_t row;

        if (stacks->site_stacks[i] == 0 || is_idle(site))
            continue;
        row = group_find_row(g, type_key(site), GROUP_NO_FRAME, 0);
        g->ret->v[row].site = site;
        counters_add(&g->ret->v[row].self, &site->counters);
        counters_add(&g->ret->v[row].inclusive, &site->counters);
    }
}

static void
add_whole_site(struct grouper *g, struct group_row *r, size_t i)
{
    const struct profile *p = g->p;
    const struct profile_site *site = &p->sites[i];

    counters_add(&r->self, &site->counters);
    counters_add(&r->inclusive, &site->counters);
    if (p->site_error_capacity == 0)
        return;
    errors_add_site(errors_of(&r->self_errors, g->arena), profile_site_errors(p, i));
    errors_add_site(errors_of(&r->inclusive_errors, g->arena), profile_site_errors(p, i));
}

static struct group_row *
heap_row(struct grouper *g, uint32_t heap)
{
    size_t row = group_find_row(g, heap, GROUP_NO_FRAME, 0);

    g->ret->v[row].heap = &g->p->heaps[heap];
    return &g->ret->v[row];
}

/* Sum the sites that passed the filter by heap. Adds a row for a heap that has backing but no
 * sites. */
static void
group_add_heaps(struct grouper *g, const struct stacks *stacks)
{
    for (size_t i = 0; i < g->p->site_count; i++)
        if (stacks->site_stacks[i] != 0)
            add_whole_site(g, heap_row(g, g->p->sites[i].heap), i);
    for (uint32_t i = 1; i < g->p->heap_count && !stacks->filtered; i++)
        if (g->p->heaps[i].made != 0 || g->p->heaps[i].backing.allocations != 0)
            heap_row(g, i);
}

/* Sum the sites that passed the filter by label set, or by the value of one label. Equal texts have
 * equal addresses. */
static void
group_add_labels(struct grouper *g, const struct stacks *stacks)
{
    for (size_t i = 0; i < g->p->site_count; i++) {
        const struct profile_site *site = &g->p->sites[i];
        const struct profile_label_set *set = &g->p->label_sets[site->labels];
        const char *text = g->by == BY_LABEL ? set->text : tags_value(set, g->key);
        size_t row;

        if (stacks->site_stacks[i] == 0)
            continue;
        row = group_find_row(g, (uintptr_t)text, GROUP_NO_FRAME, 0);
        g->ret->v[row].labels = text;
        add_whole_site(g, &g->ret->v[row], i);
    }
}

static int
compare_values(int64_t a, int64_t b)
{
    return a > b ? -1 : a < b;
}

static int
group_compare_rows(const void *a, const void *b, void *arg)
{
    const struct group_row *x = a, *y = b;
    enum metric m = *(enum metric *)arg;
    int order = compare_values(metric_value(&x->self, m), metric_value(&y->self, m));

    if (order == 0)
        order = compare_values(metric_value(&x->inclusive, m), metric_value(&y->inclusive, m));
    if (order == 0)
        order = compare_values(x->inclusive.allocations, y->inclusive.allocations);
    if (order == 0 && x->bin)
        order = compare_values((int64_t)y->bin->size_min, (int64_t)x->bin->size_min);
    if (order == 0 && x->site)
        order = compare_values((int64_t)type_key(x->site), (int64_t)type_key(y->site));
    if (order == 0 && x->heap && y->heap)
        order = strcmp(x->heap->name, y->heap->name);
    if (order == 0 && x->labels && y->labels)
        order = strcmp(x->labels, y->labels);
    if (order == 0)
        order = compare_values(y->frame, x->frame);
    return order;
}

static void
group_sort_rows(struct groups *groups, enum metric metric)
{
    if (groups->count > 1)
        qsort_r(groups->v, groups->count, sizeof *groups->v, group_compare_rows, &metric);
}

static int
compare_stacks(const void *a, const void *b, void *arg)
{
    const struct stack *x = *(const struct stack *const *)a, *y = *(const struct stack *const *)b;
    enum metric m = *(enum metric *)arg;
    int order = compare_values(metric_value(&x->counters, m), metric_value(&y->counters, m));

    if (order == 0)
        order = compare_values(x->counters.allocated_bytes, y->counters.allocated_bytes);
    if (order == 0)
        order = compare_values(x->counters.allocations, y->counters.allocations);
    return order ? order : compare_values(y->node, x->node);
}

const struct stack **
group_sorted_stacks(const struct stacks *stacks, enum metric metric, struct arena *arena)
{
    const struct stack **v = arena_array(arena, stacks->count, sizeof *v);

    for (size_t i = 0; i < stacks->count; i++)
        v[i] = &stacks->v[i];
    qsort_r(v, stacks->count, sizeof *v, compare_stacks, &metric);
    return v;
}

size_t
group_positive(const struct stacks *stacks, const struct stack *const *sorted, enum metric metric)
{
    size_t n = 0;

    while (n < stacks->count && metric_value(&sorted[n]->counters, metric) > 0)
        n++;
    return n;
}

struct counters
group_all_sizes(const struct profile *p)
{
    struct counters sum = COUNTERS_ZERO;

    for (size_t i = 0; i < p->bin_count; i++)
        counters_add(&sum, &p->bins[i].counters);
    return sum;
}

size_t
group_size_ranges(const struct profile *p, struct size_range ret[SIZE_RANGE_COUNT])
{
    // Each of these sizes is the end of a bin; above 1 KiB only powers of two are.
    static const uint64_t ends[SIZE_RANGE_COUNT] = {16,       64,      256,      1 * KIB,   4 * KIB,
                                                    64 * KIB, 1 * MIB, 16 * MIB, UINT64_MAX};
    struct size_range all[SIZE_RANGE_COUNT];
    size_t n = 0;

    for (size_t i = 0; i < SIZE_RANGE_COUNT; i++)
        all[i] = (struct size_range){i ? ends[i - 1] + 1 : 0, ends[i], COUNTERS_ZERO};
    for (size_t i = 0; i < p->bin_count; i++) {
        size_t k = 0;

        while (p->bins[i].size_max > ends[k])
            k++;
        counters_add(&all[k].counters, &p->bins[i].counters);
    }
    for (size_t i = 0; i < SIZE_RANGE_COUNT; i++)
        if (all[i].counters.allocations != 0 || all[i].counters.frees != 0)
            ret[n++] = all[i];
    return n;
}

/* Return true if R has the members that its grouping requires. */
static bool
row_is_valid(const struct profile *p, enum group_by by, const struct group_row *r)
{
    // Views show the name of this frame.
    VALID(r->frame == GROUP_NO_FRAME || r->frame < p->frame_count);
    // Views show the frames of this stack.
    VALID(by != BY_SITE || r->stack != NULL);
    // Views show the name of this thread.
    VALID(by != BY_THREAD || r->thread != NULL);
    // Views show the counters of this share.
    VALID(by != BY_THREAD || r->share != NULL);
    // Views show the range of this bin.
    VALID(by != BY_SIZE || r->bin != NULL);
    // Views show the type of this site.
    VALID(by != BY_TYPE || r->site != NULL);
    // Views show the name of this heap.
    VALID(by != BY_HEAP || r->heap != NULL);
    // The inclusive blocks contain the self blocks, so their smallest is no larger.
    VALID(r->inclusive.size_min <= r->self.size_min);
    // For the same reason their largest is no smaller.
    VALID(r->inclusive.size_max >= r->self.size_max);
    return true;
}

bool
groups_are_valid(const struct profile *p, const struct stacks *stacks, enum group_by by,
                 enum metric metric, const struct groups *g)
{
    struct counters selves = COUNTERS_ZERO;

    for (size_t i = 0; i < g->count; i++) {
        if (!row_is_valid(p, by, &g->v[i]))
            return false;
        counters_add(&selves, &g->v[i].self);
        // Views show the first rows.
        VALID(i == 0 ||
              metric_value(&g->v[i - 1].self, metric) >= metric_value(&g->v[i].self, metric));
    }
    VALID(by != BY_SITE || g->count == stacks->count); // Each stack is a row.
    // Each stack is in the self values of one row. Rows by thread and by size may be omitted.
    VALID(by == BY_THREAD || by == BY_SIZE || counters_are_same(&selves, &stacks->total));
    return true;
}
