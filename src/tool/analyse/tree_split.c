/* tree_split.c: find where the call tree divides.
 *
 * A flat profile has hundreds of functions with a few percent each, and a list of the largest ones
 * explains little. Its tree often has a trunk: main, a loop, a parser. The search follows the trunk
 * from the root as long as one function has nearly all of the metric. Then it returns the branches.
 *
 * All stacks move inwards together, one function at a time. Stacks that leave the trunk are dropped
 * from the search, so each step reads only the rest. */
#include "analyse/tree_split.h"

#include "analyse/group.h"

// Share of a step's total that makes one function the trunk.
#define TRUNK 0.85
// Minimum share of the total for a branch.
#define BRANCH 0.1
// Longest trunk. Two functions that call each other could make a very long one, and each step may
// read millions of stacks.
enum { TRUNK_MAX = 64 };

/* A stack of the search, and the frame at which it is. */
struct cursor {
    const struct stack *stack;
    int64_t value;
    uint32_t frame; // Index + 1; 0 = no named frame remains.
};

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
        if (c->frame == 0)
            continue;
        slot = map_put(&functions, tree_split_key(p, c->stack, c->frame - 1), &is_new);
        if (is_new) {
            arena_grow(arena, &step->v, &step->capacity, step->count, sizeof *step->v);
            step->v[step->count] = (struct tree_branch){c->stack, c->frame - 1, 0};
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
    uint64_t key = tree_split_key(p, trunk->stack, trunk->frame);
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (cursors[i].frame == 0 ||
            tree_split_key(p, cursors[i].stack, cursors[i].frame - 1) != key)
            continue;
        cursors[kept] = cursors[i];
        // If a function calls itself, its frames count once.
        cursors[kept].frame = named_inwards(p, cursors[i].stack, cursors[i].frame - 1, key);
        kept++;
    }
    return kept;
}

void
tree_split_find(const struct profile *p, const struct stacks *stacks, enum metric metric,
                struct arena *arena, struct tree_split *ret)
{
    struct cursor *cursors = arena_array(arena, stacks->count, sizeof *cursors);
    struct step step = {0};
    int64_t total = 0;
    size_t count = 0;

    *ret = (struct tree_split){0};
    for (size_t i = 0; i < stacks->count; i++) {
        struct cursor c = {&stacks->v[i], metric_value(&stacks->v[i].counters, metric), 0};

        if (c.value <= 0 || c.stack->depth == 0)
            continue;
        c.frame = named_inwards(p, c.stack, stack_useful_depth(p, c.stack), 0);
        cursors[count++] = c;
        total = counters_sum(total, c.value);
    }
    for (int length = 0;; length++) {
        size_t most;

        step_sum(p, cursors, count, arena, &step);
        if (step.count == 0 || length == TRUNK_MAX)
            return;
        most = step_largest(&step);
        if ((double)step.v[most].value < TRUNK * (double)step.total)
            break;
        count = tree_split_follow(p, &step.v[most], cursors, count);
    }
    while (ret->count < TREE_SPLIT_MAX) {
        struct tree_branch *b = &step.v[step_largest(&step)];

        if ((double)b->value < BRANCH * (double)total)
            break;
        ret->v[ret->count++] = *b;
        b->value = 0;
    }
}
