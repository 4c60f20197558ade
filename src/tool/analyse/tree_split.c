/* tree_split.c: find where the call tree divides.
 *
 * A flat profile has hundreds of functions with a few percent each, and a list of the largest ones
 * explains little. Its tree often has a trunk: main, a loop, a parser. The search follows the trunk
 * from the root as long as one function has nearly all of the metric. Then it returns the branches,
 * and searches each large branch in the same way, as if it was a tree.
 *
 * All stacks move inwards together, one function at a time. Stacks that leave the trunk are dropped
 * from the search, so each step reads only the rest.
 *
 * The loader calls static constructors, hundreds in a large program. Its frames explain nothing, so
 * the constructors together are a branch, beside main. */
#include "analyse/tree_split.h"

#include <string.h>

#include "analyse/group.h"

// Share of a step's total that makes one function the trunk.
#define TRUNK 0.85
// Minimum share of the total for a branch.
#define BRANCH 0.1
// Minimum share of the total for a branch to be divided.
#define DIVIDED 0.33
// Longest trunk. Two functions that call each other could make a very long one, and each step may
// read millions of stacks.
enum { TRUNK_MAX = 64 };

/* A stack of the search, and the frame at which it is. */
struct cursor {
    const struct stack *stack;
    int64_t value;
    uint32_t frame; // Index + 1; 0 = no named frame remains.
    // Module of the static constructor that the loader called; 0 = none, or further out.
    uint32_t constructor;
};

// Key of all constructors, which no function has.
#define CONSTRUCTORS UINT64_MAX

/* Sums of one step. */
struct step {
    struct tree_branch *v; // In the order of their first stacks.
    size_t count, capacity;
    int64_t total;
};

static uint64_t
tree_split_key(const struct profile *p, const struct stack *s, uint32_t frame)
{
    return group_function_key(p, s->frames[frame], s->locations[frame]);
}

static uint64_t
cursor_key(const struct profile *p, const struct cursor *c)
{
    return c->constructor != 0 ? CONSTRUCTORS : tree_split_key(p, c->stack, c->frame - 1);
}

/* Return the largest number N <= COUNT such that the N-th frame of S, counted from the
 * innermost, has a name and another function than KEY. Return 0 if there is none. A KEY of 0 is
 * no function. */
static uint32_t
named_inwards(const struct profile *p, const struct stack *s, uint32_t count, uint64_t key)
{
    while (count > 0 && (p->frames[s->frames[count - 1]].function == 0 ||
                         tree_split_key(p, s, count - 1) == key))
        count--;
    return count;
}

/* Sum the COUNT cursors by function. */
static void
step_sum(const struct profile *p, const struct cursor *cursors, size_t count, struct arena *arena,
         struct step *step)
{
    struct map functions = {0};

    step->count = 0;
    step->total = 0;
    for (size_t i = 0; i < count; i++) {
        const struct cursor *c = &cursors[i];
        uint64_t *slot;
        bool is_new;

        step->total = counters_sum(step->total, c->value);
        if (c->frame == 0 && c->constructor == 0)
            continue;
        slot = map_put(&functions, cursor_key(p, c), &is_new);
        if (is_new) {
            arena_grow(arena, &step->v, &step->capacity, step->count, sizeof *step->v);
            step->v[step->count] = (struct tree_branch){
                .stack = c->stack, .frame = c->frame - 1, .constructors = c->constructor != 0};
            *slot = step->count++;
        }
        step->v[*slot].value = counters_sum(step->v[*slot].value, c->value);
    }
    map_release(&functions);
}

/* Return the index of the largest branch of STEP, which is not empty. */
static size_t
step_largest(const struct step *step)
{
    size_t most = 0;

    for (size_t i = 1; i < step->count; i++)
        if (step->v[i].value > step->v[most].value)
            most = i;
    return most;
}

/* Keep the cursors at the function of TRUNK and move them inwards. Return their number. */
static size_t
tree_split_follow(const struct profile *p, const struct tree_branch *trunk, struct cursor *cursors,
                  size_t count)
{
    uint64_t key =
        trunk->constructors ? CONSTRUCTORS : tree_split_key(p, trunk->stack, trunk->frame);
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if ((cursors[i].frame == 0 && cursors[i].constructor == 0) ||
            cursor_key(p, &cursors[i]) != key)
            continue;
        cursors[kept] = cursors[i];
        cursors[kept].constructor = 0;
        if (trunk->constructors) {
            kept++;
            continue;
        }
        // If a function calls itself, its frames count once.
        cursors[kept].frame = named_inwards(p, cursors[i].stack, cursors[i].frame - 1, key);
        kept++;
    }
    return kept;
}

/* Return a cursor at the root of S. */
static struct cursor
cursor_at_root(const struct profile *p, const struct stack *s, int64_t value)
{
    uint32_t depth = stack_depth_in_loader(p, s);
    struct cursor c = {s, value, named_inwards(p, s, depth, 0), 0};

    if (depth < stack_useful_depth(p, s))
        c.constructor = p->frames[s->frames[depth - 1]].module;
    return c;
}

/* Return the module of more than half of the constructors' value in the COUNT cursors; 0 if there
 * is none. */
static uint32_t
constructors_module(const struct profile *p, const struct cursor *cursors, size_t count,
                    int64_t whole, struct arena *arena)
{
    int64_t *sums = arena_array(arena, p->module_count, sizeof *sums);

    for (size_t i = 0; i < count; i++) {
        int64_t *sum = &sums[cursors[i].constructor];

        *sum = counters_sum(*sum, cursors[i].value);
        if (cursors[i].constructor != 0 && *sum > whole / 2)
            return cursors[i].constructor;
    }
    return 0;
}

/* Search of one tree. */
struct search {
    const struct profile *p;
    struct arena *arena;
    int64_t total;
    struct tree_split *ret;
};

/* Follow the trunk of the *COUNT cursors. Set *RET to the step behind its end and update *COUNT.
 * Return false if there is no such step. */
static bool
tree_split_end(const struct search *s, struct cursor *cursors, size_t *count, struct step *ret)
{
    for (int length = 0; length <= TRUNK_MAX; length++) {
        size_t most;

        step_sum(s->p, cursors, *count, s->arena, ret);
        if (ret->count == 0)
            return false;
        most = step_largest(ret);
        if ((double)ret->v[most].value < TRUNK * (double)ret->total)
            return true;
        *count = tree_split_follow(s->p, &ret->v[most], cursors, *count);
    }
    return false;
}

/* Append the branches of the COUNT cursors at LEVEL, and their branches. */
static void
tree_split_divide(struct search *s, struct cursor *cursors, size_t count, uint32_t level)
{
    struct step step = {0};

    if (!tree_split_end(s, cursors, &count, &step))
        return;
    for (size_t i = 0; i < TREE_SPLIT_BRANCHES && s->ret->count < TREE_SPLIT_MAX; i++) {
        struct tree_branch *b = &step.v[step_largest(&step)], branch = *b;
        struct cursor *inner;

        if ((double)branch.value < BRANCH * (double)s->total)
            return;
        b->value = 0;
        branch.level = level;
        if (branch.constructors)
            branch.module = constructors_module(s->p, cursors, count, branch.value, s->arena);
        s->ret->v[s->ret->count++] = branch;
        if (level + 1 == TREE_SPLIT_LEVELS || (double)branch.value < DIVIDED * (double)s->total)
            continue;
        inner = arena_array(s->arena, count, sizeof *inner);
        memcpy(inner, cursors, count * sizeof *inner);
        tree_split_divide(s, inner, tree_split_follow(s->p, &branch, inner, count), level + 1);
    }
}

void
tree_split_find(const struct profile *p, const struct stacks *stacks, enum metric metric,
                struct arena *arena, struct tree_split *ret)
{
    struct cursor *cursors = arena_array(arena, stacks->count, sizeof *cursors);
    struct search search = {.p = p, .arena = arena, .ret = ret};
    size_t count = 0;

    *ret = (struct tree_split){0};
    for (size_t i = 0; i < stacks->count; i++) {
        int64_t value = metric_value(&stacks->v[i].counters, metric);

        if (value <= 0 || stacks->v[i].depth == 0)
            continue;
        cursors[count++] = cursor_at_root(p, &stacks->v[i], value);
        search.total = counters_sum(search.total, value);
    }
    tree_split_divide(&search, cursors, count, 0);
}
