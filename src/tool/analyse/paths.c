/* paths.c: merge stacks into partial paths.
 *
 * A path is an array of steps, one per function. Stacks with equal steps share a path. A step is
 * the id of a function. If call sites are distinguished, it also has the line, or the address of
 * the call if the line is unknown. A cut path differs from a complete one with equal functions, and
 * paths of different heaps differ.
 *
 * A path stores a stack instead of steps. With --callers 0 nearly every stack is a path, and steps
 * would take as much memory as all stacks. */
#include "analyse/callgraph.h"

#include <stdlib.h>

#include "base/hash.h"
#include "profile/profile_valid.h"
#include "util/ensure.h"

struct merger {
    struct functions *functions;
    const struct paths_options *options;
    struct arena *arena;
    struct paths *ret;
    uint32_t *next; // By path: the next path with the same hash, plus 1.
    size_t path_capacity, next_capacity;
    struct map by_hash;        // Hash to the newest path with it, plus 1.
    const struct stack *stack; // The stack read last, and its steps.
    uint64_t *steps;
    size_t step_capacity;
    uint32_t depth;
    bool cut;
};

/* Return the step of FUNCTION, which is at I of S. */
static uint64_t
step_of(const struct merger *m, const struct stack *s, uint32_t i, uint32_t function)
{
    const struct profile_frame *f;
    bool has_line;

    if (!m->options->call_sites || function < FUNCTION_FIRST)
        return function;
    f = &m->functions->p->frames[s->frames[i]];
    has_line = f->file != 0 && f->line != 0;
    // No compiler's debug information has lines of more than 31 bits.
    return (uint64_t)function << 32 | (uint64_t)has_line << 31 |
           ((has_line ? f->line : s->locations[i]) & INT32_MAX);
}

static void
paths_read_stack(struct merger *m, const struct stack *s)
{
    const uint32_t *functions;
    size_t depth = functions_of_stack(m->functions, s, &functions);

    m->stack = s;
    m->cut = functions[depth - 1] == FUNCTION_UNKNOWN;
    depth -= m->cut;
    if (m->options->callers != 0 && depth > m->options->callers) {
        depth = m->options->callers;
        m->cut = true;
    }
    m->depth = (uint32_t)depth;
    for (uint32_t i = 0; i < m->depth; i++) {
        arena_grow(m->arena, &m->steps, &m->step_capacity, i, sizeof *m->steps);
        m->steps[i] = step_of(m, s, i, functions[i]);
    }
}

static bool
paths_is_read(const struct merger *m, const struct path *p)
{
    const uint32_t *functions;

    if (p->depth != m->depth || p->cut != m->cut || p->stack->heap != m->stack->heap)
        return false;
    functions_of_stack(m->functions, p->stack, &functions);
    for (uint32_t i = 0; i < p->depth; i++)
        if (step_of(m, p->stack, i, functions[i]) != m->steps[i])
            return false;
    return true;
}

/* Return the path of the stack read last, and create it if it is new. */
static struct path *
find_path(struct merger *m)
{
    uint64_t hash = hash_bytes(m->steps, m->depth * sizeof *m->steps) + m->cut + 2 * m->stack->heap;
    uint64_t *head = map_put(&m->by_hash, hash, NULL);
    size_t i = m->ret->count;

    for (uint32_t k = (uint32_t)*head; k != 0; k = m->next[k - 1])
        if (paths_is_read(m, &m->ret->v[k - 1]))
            return &m->ret->v[k - 1];
    arena_grow(m->arena, &m->ret->v, &m->path_capacity, i, sizeof *m->ret->v);
    arena_grow(m->arena, &m->next, &m->next_capacity, i, sizeof *m->next);
    m->ret->v[i] = (struct path){
        .stack = m->stack, .depth = m->depth, .cut = m->cut, .counters = COUNTERS_ZERO};
    m->next[i] = (uint32_t)*head;
    *head = i + 1;
    m->ret->count++;
    return &m->ret->v[i];
}

static int
paths_compare_live(const void *a, const void *b)
{
    const struct path *x = a, *y = b;
    int64_t bx = counters_live_bytes(&x->counters), by = counters_live_bytes(&y->counters);
    int64_t nx = counters_live_blocks(&x->counters), ny = counters_live_blocks(&y->counters);

    if (bx != by)
        return bx > by ? -1 : 1;
    if (nx != ny)
        return nx > ny ? -1 : 1;
    return x->stack->node < y->stack->node ? -1 : x->stack->node > y->stack->node;
}

void
paths_build(struct functions *functions, const struct stack *const *stacks, size_t count,
            const struct paths_options *options, struct arena *arena, struct paths *ret)
{
    struct merger m = {.functions = functions, .options = options, .arena = arena, .ret = ret};

    *ret = (struct paths){0};
    for (size_t i = 0; i < count; i++) {
        struct path *path;

        paths_read_stack(&m, stacks[i]);
        path = find_path(&m);
        counters_add(&path->counters, &stacks[i]->counters);
        if (stacks[i]->errors != NULL)
            errors_add(errors_of(&path->errors, arena), stacks[i]->errors);
    }
    if (ret->count > 0)
        qsort(ret->v, ret->count, sizeof *ret->v, paths_compare_live);
    map_release(&m.by_hash);
    ENSURE_VALID(paths_are_valid(ret, stacks, count));
}

bool
paths_are_valid(const struct paths *paths, const struct stack *const *stacks, size_t count)
{
    struct counters all = COUNTERS_ZERO, sum = COUNTERS_ZERO;

    for (size_t i = 0; i < count; i++)
        counters_add(&all, &stacks[i]->counters);
    for (size_t i = 0; i < paths->count; i++) {
        const struct path *path = &paths->v[i];

        VALID(path->stack != NULL && path->depth >= 1); // Views show this many functions.
        VALID(i == 0 || counters_live_bytes(&path[-1].counters) >=
                            counters_live_bytes(&path->counters)); // Most live bytes first.
        counters_add(&sum, &path->counters);
    }
    VALID(counters_are_same(&sum, &all)); // Each stack is in one path.
    return true;
}
