/* top_holders.c: build the table of a report's first screen.
 *
 * A row per innermost function would often name a library, and a row per line would split one
 * function into several rows. So a row is the function in which user code begins (user_code.c), and
 * its callers are listed below it. A row sums the function's lines, shows the largest, and counts
 * the others.
 *
 * The first row alone does not need all stacks. Sites are summed by holder from their innermost
 * frames, and only the stacks of the largest holders are built. */
#include "analyse/top_holders.h"

#include <stdlib.h>

#include "analyse/group.h"
#include "analyse/user_code.h"

struct builder {
    const struct profile *p;
    const struct stacks *stacks;
    enum metric metric;
    struct arena *arena;
    struct top_holders *ret;
    size_t capacity;
    struct map functions;            // Function key to dense id, from 1.
    // `top_holders` is keyed by function, `callers` by holder and function.
    struct map top_holders, callers;
    // `places`: file and line to a dense id. `lines` is keyed by holder and place.
    struct map places, lines;
    struct map callees;              // Holder and called function to the value of the metric.
};

uint32_t
top_holder_next(const struct profile *p, const struct stack *s, uint32_t i)
{
    uint32_t depth = stack_useful_depth(p, s), next = i + 1;
    uint64_t key = group_function_key(p, s->frames[i], s->locations[i]);

    while (next < depth && group_function_key(p, s->frames[next], s->locations[next]) == key)
        next++;
    return next;
}

/* Return the id of the function at frame I of S; 0 if S has no such frame. */
static uint64_t
top_holders_function_id(struct builder *b, const struct stack *s, uint32_t i)
{
    uint64_t *slot;

    if (s->depth == 0 || i >= stack_useful_depth(b->p, s))
        return 0;
    slot = map_put(&b->functions, group_function_key(b->p, s->frames[i], s->locations[i]), NULL);
    if (*slot == 0)
        *slot = b->functions.count;
    return *slot;
}

static struct top_holder *
find_holder(struct builder *b, const struct stack *s, uint32_t own)
{
    bool is_new;
    uint64_t *slot = map_put(&b->top_holders, top_holders_function_id(b, s, own), &is_new);

    if (is_new) {
        arena_grow(b->arena, &b->ret->v, &b->capacity, b->ret->count, sizeof *b->ret->v);
        b->ret->v[b->ret->count] =
            (struct top_holder){.largest = s, .own = own, .counters = COUNTERS_ZERO};
        *slot = b->ret->count++;
    }
    return &b->ret->v[*slot];
}

static struct top_holder_caller *
find_caller(struct builder *b, struct top_holder *h, const struct stack *s, uint32_t own)
{
    uint64_t caller = top_holders_function_id(b, s, s->depth ? top_holder_next(b->p, s, own) : 0);
    bool is_new;
    uint64_t *slot = map_put(&b->callers, (uint64_t)(h - b->ret->v) << 32 | caller, &is_new);

    if (is_new) {
        arena_grow(b->arena, &h->callers, &h->caller_capacity, h->caller_count, sizeof *h->callers);
        h->callers[h->caller_count] =
            (struct top_holder_caller){.largest = s, .own = own, .counters = COUNTERS_ZERO};
        *slot = h->caller_count++;
    }
    return &h->callers[*slot];
}

/* Add S, whose frame OWN belongs to H, to the line of that frame. */
static void
top_holders_add_line(struct builder *b, struct top_holder *h, const struct stack *s, uint32_t own,
                     int64_t value)
{
    const struct profile_frame *f = s->depth != 0 ? &b->p->frames[s->frames[own]] : NULL;
    struct top_holder_line *line;
    uint64_t *place, *slot;
    bool is_new;

    if (f == NULL || f->file == 0 || f->line == 0)
        return;
    place = map_put(&b->places, (uint64_t)f->file << 32 | f->line, &is_new);
    if (is_new)
        *place = b->places.count;
    slot = map_put(&b->lines, (uint64_t)(h - b->ret->v) << 32 | *place, &is_new);
    if (is_new) {
        arena_grow(b->arena, &h->lines, &h->line_capacity, h->line_count, sizeof *h->lines);
        h->lines[h->line_count] = (struct top_holder_line){.largest = s, .own = own};
        *slot = h->line_count++;
    }
    line = &h->lines[*slot];
    if (value > metric_value(&line->largest->counters, b->metric)) {
        line->largest = s;
        line->own = own;
    }
    line->value = counters_sum(line->value, value);
}

/* Return the sum of the values of H's stacks in which H calls the same function as in S at frame
 * OWN. If OWN is innermost, that is an allocation function. */
static int64_t *
callee_value(struct builder *b, const struct top_holder *h, const struct stack *s, uint32_t own)
{
    uint64_t callee = own == 0 ? 0 : top_holders_function_id(b, s, own - 1);

    return (int64_t *)map_put(&b->callees, (uint64_t)(h - b->ret->v) << 32 | callee, NULL);
}

static void
top_holders_add_stack(struct builder *b, const struct user_code *code, const struct stack *s)
{
    uint32_t own = s->depth ? user_code_frame(code, s) : 0;
    int64_t value = metric_value(&s->counters, b->metric);
    struct top_holder *h = find_holder(b, s, own);
    struct top_holder_caller *c = find_caller(b, h, s, own);
    int64_t *sum;

    top_holders_add_line(b, h, s, own, value);
    sum = callee_value(b, h, s, own);
    *sum = counters_sum(*sum, value);
    if (value > metric_value(&h->largest->counters, b->metric)) {
        h->largest = s;
        h->own = own;
    }
    if (value > metric_value(&c->largest->counters, b->metric)) {
        c->largest = s;
        c->own = own;
    }
    counters_add(&h->counters, &s->counters);
    stack_errors_add(&h->errors, b->stacks, s, own, b->arena);
    counters_add(&c->counters, &s->counters);
    stack_errors_add(&c->errors, b->stacks, s, own + 1, b->arena);
}

/* Compare values, larger first. Equal ones are in the order of their largest stacks, which is the
 * same in every run. */
static int
top_holders_compare(int64_t x, int64_t y, const struct stack *a, const struct stack *b)
{
    if (x != y)
        return x > y ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static int
compare_holders(const void *a, const void *b, void *metric)
{
    const struct top_holder *x = a, *y = b;
    const enum metric *m = metric;

    return top_holders_compare(metric_value(&x->counters, *m), metric_value(&y->counters, *m),
                               x->largest, y->largest);
}

static int
compare_callers(const void *a, const void *b, void *metric)
{
    const struct top_holder_caller *x = a, *y = b;
    const enum metric *m = metric;

    return top_holders_compare(metric_value(&x->counters, *m), metric_value(&y->counters, *m),
                               x->largest, y->largest);
}

static int
top_holders_compare_lines(const void *a, const void *b)
{
    const struct top_holder_line *x = a, *y = b;

    return top_holders_compare(x->value, y->value, x->largest, y->largest);
}

/* Sort the lines of H, drop empty ones, and store the value of the first line's callee. */
static void
top_holders_sort_lines(struct builder *b, struct top_holder *h)
{
    const struct stack *s = h->largest;
    uint32_t own = h->own;

    if (h->line_count > 0)
        qsort(h->lines, h->line_count, sizeof *h->lines, top_holders_compare_lines);
    while (h->line_count > 1 && h->lines[h->line_count - 1].value <= 0)
        h->line_count--;
    if (h->line_count > 0) {
        s = h->lines[0].largest;
        own = h->lines[0].own;
    }
    h->callee_value = *callee_value(b, h, s, own);
}

void
top_holders_build(const struct profile *p, const struct stacks *stacks, enum metric metric,
                  struct arena *arena, struct top_holders *ret)
{
    struct builder b = {
        .p = p, .stacks = stacks, .metric = metric, .arena = arena, .ret = ret};
    struct user_code code;

    *ret = (struct top_holders){0};
    user_code_init(&code, p, arena);
    for (size_t i = 0; i < stacks->count; i++)
        top_holders_add_stack(&b, &code, &stacks->v[i]);
    for (size_t i = 0; i < ret->count; i++) {
        top_holders_sort_lines(&b, &ret->v[i]);
        qsort_r(ret->v[i].callers, ret->v[i].caller_count, sizeof *ret->v[i].callers,
                compare_callers, &metric);
    }
    if (ret->count > 0)
        qsort_r(ret->v, ret->count, sizeof *ret->v, compare_holders, &metric);
    map_release(&b.functions);
    map_release(&b.top_holders);
    map_release(&b.callers);
    map_release(&b.places);
    map_release(&b.lines);
    map_release(&b.callees);
}

enum { NEAR_FRAMES = 8 }; // User code is nearly always within this many frames.

struct first_finder {
    struct builder b; // Provides ids of functions and holders.
    struct user_code code;
    struct stack_ends *ends;
    int64_t *sums; // By holder.
    size_t sum_capacity;
};

/* Return true if OWN, the frame of user code in S, is final. S is the inner end of a stack, and
 * further frames could change the choice. */
static bool
is_certain(const struct user_code *code, const struct stack *s, uint32_t own)
{
    return code->kinds[code->p->frames[s->frames[own]].module] == CODE_USER &&
           own + USER_CODE_FRAMES < s->depth;
}

/* Return the number of the holder of SITE, from 0. */
static uint32_t
holder_of_site(struct first_finder *f, const struct profile_site *site)
{
    uint32_t own = 0;
    struct stack s;
    bool whole, new;
    uint64_t *slot;

    s = stack_ends_read(f->ends, site->node, NEAR_FRAMES, &whole);
    if (s.depth != 0)
        own = user_code_frame(&f->code, &s);
    if (!whole && !is_certain(&f->code, &s, own)) {
        s = stack_ends_read(f->ends, site->node, UINT32_MAX, &whole);
        own = user_code_frame(&f->code, &s);
    }
    slot = map_put(&f->b.top_holders, top_holders_function_id(&f->b, &s, own), &new);
    if (new)
        *slot = f->b.top_holders.count - 1;
    return (uint32_t)*slot;
}

/* Set ONLY[i] to true for the sites of the largest holder by METRIC, or of several holders in a
 * tie. */
static void
find_first(struct first_finder *f, bool *only)
{
    const struct profile *p = f->b.p;
    uint32_t *top_holders = arena_array(f->b.arena, p->site_count, sizeof *top_holders);
    int64_t most = INT64_MIN;

    for (size_t i = 0; i < p->site_count; i++) {
        int64_t value = metric_value(&p->sites[i].counters, f->b.metric);

        top_holders[i] = UINT32_MAX;
        if (value == 0)
            continue;
        top_holders[i] = holder_of_site(f, &p->sites[i]);
        arena_grow(f->b.arena, &f->sums, &f->sum_capacity, top_holders[i], sizeof *f->sums);
        f->sums[top_holders[i]] = counters_sum(f->sums[top_holders[i]], value);
    }
    for (size_t i = 0; i < f->b.top_holders.count; i++)
        most = f->sums[i] > most ? f->sums[i] : most;
    for (size_t i = 0; i < p->site_count; i++)
        only[i] = top_holders[i] != UINT32_MAX && f->sums[top_holders[i]] == most;
}

void
top_holders_first(const struct profile *p, enum metric metric, struct arena *arena,
                  struct top_holders *ret)
{
    struct first_finder f = {.b = {.p = p, .metric = metric, .arena = arena}};
    bool *only = arena_array(arena, p->site_count, sizeof *only);
    const struct stacks_options options = {
        .merge_labels = true, .fold_recursion = true, .only = only};
    struct stacks stacks;
    struct err err;

    *ret = (struct top_holders){0};
    user_code_init(&f.code, p, arena);
    f.ends = stack_ends_new(p, true, arena);
    find_first(&f, only);
    map_release(&f.b.functions);
    map_release(&f.b.top_holders);
    if (stacks_build(p, &options, arena, &stacks, &err) == 0) // Without a regex it cannot fail.
        top_holders_build(p, &stacks, metric, arena, ret);
}
