/* tree.c: build a tree of functions from stacks.
 *
 * Functions get dense ids by their key (group.h), so that one map finds a child by parent and
 * function. Children are created in the order of the stacks and sorted once at the end. A stack
 * adds to `inclusive` along its path, and to `self` at its end. */
#include "analyse/callgraph.h"

#include <stdlib.h>

#include "analyse/group.h"
#include "profile/profile_valid.h"
#include "util/ensure.h"

struct planter {
    const struct profile *p;
    const struct stacks *stacks;
    struct arena *arena;
    struct tree *ret;
    size_t capacity;
    struct map functions; // Function key to dense id.
    struct map children;  // Parent and dense id to node.
};

static void sort_children(struct tree *t, enum metric metric, struct arena *arena);

static uint32_t
tree_add_node(struct planter *pl, uint32_t parent, uint32_t frame, uint32_t location)
{
    size_t i = pl->ret->count++;
    struct tree_node *n;

    arena_grow(pl->arena, &pl->ret->nodes, &pl->capacity, i, sizeof *pl->ret->nodes);
    n = &pl->ret->nodes[i];
    *n = (struct tree_node){
        .frame = frame, .location = location, .inclusive = COUNTERS_ZERO, .self = COUNTERS_ZERO};
    if (i > 0) {
        n->depth = pl->ret->nodes[parent].depth + 1;
        n->next_sibling = pl->ret->nodes[parent].first_child;
        pl->ret->nodes[parent].first_child = (uint32_t)i;
    }
    return (uint32_t)i;
}

/* Return the child of PARENT for the function FUNCTION_KEY, and create it if it is new. */
static uint32_t
tree_find_child(struct planter *pl, uint32_t parent, uint64_t function_key, uint32_t frame,
                uint32_t location)
{
    bool is_new;
    uint64_t *id = map_put(&pl->functions, function_key, &is_new), *child;

    if (is_new)
        *id = pl->functions.count;
    child = map_put(&pl->children, (uint64_t)parent << 32 | *id, &is_new);
    if (is_new)
        *child = tree_add_node(pl, parent, frame, location);
    return (uint32_t)*child;
}

static void
tree_add_inclusive(struct planter *pl, uint32_t node, const struct stack *s, uint32_t frame)
{
    struct tree_node *n = &pl->ret->nodes[node];

    counters_add(&n->inclusive, &s->counters);
    stack_errors_add(&n->inclusive_errors, pl->stacks, s, frame, pl->arena);
}

/* Add S to the child of PARENT that is called ROOT. Return the child. */
static uint32_t
tree_add_root(struct planter *pl, uint32_t parent, const char *root, const struct stack *s)
{
    // Keys that no function has.
    uint64_t key = s->depth == 0 ? UINT64_MAX : UINT64_MAX - 1;
    uint32_t node = tree_find_child(pl, parent, key, GROUP_NO_FRAME, 0);

    pl->ret->nodes[node].root = root;
    tree_add_inclusive(pl, node, s, s->depth);
    return node;
}

static void
tree_add_stack(struct planter *pl, const struct stack *s, enum tree_direction direction)
{
    uint32_t node = 0, depth = stack_useful_depth(pl->p, s);
    const char *root = stack_root(pl->p, s);

    tree_add_inclusive(pl, 0, s, 0);
    if (root != NULL && direction == TREE_TOP_DOWN)
        node = tree_add_root(pl, node, root, s);
    for (uint32_t i = 0; i < depth; i++) {
        uint32_t k = direction == TREE_BOTTOM_UP ? i : depth - 1 - i;

        node = tree_find_child(pl, node, group_function_key(pl->p, s->frames[k], s->locations[k]),
                               s->frames[k], s->locations[k]);
        // From the top down, a node's amount depends on its callers.
        tree_add_inclusive(pl, node, s, direction == TREE_BOTTOM_UP ? k : s->depth);
    }
    if (root != NULL && direction == TREE_BOTTOM_UP)
        node = tree_add_root(pl, node, root, s);
    counters_add(&pl->ret->nodes[node].self, &s->counters);
    stack_errors_add(&pl->ret->nodes[node].self_errors, pl->stacks, s, s->depth, pl->arena);
}

void
tree_build(const struct profile *p, const struct stacks *stacks, enum tree_direction direction,
           enum metric metric, struct arena *arena, struct tree *ret)
{
    struct planter pl = {.p = p, .stacks = stacks, .arena = arena, .ret = ret};

    *ret = (struct tree){0};
    tree_add_node(&pl, 0, GROUP_NO_FRAME, 0);
    for (size_t i = 0; i < stacks->count; i++)
        tree_add_stack(&pl, &stacks->v[i], direction);
    sort_children(ret, metric, arena);
    map_release(&pl.functions);
    map_release(&pl.children);
    ENSURE_VALID(tree_is_valid(stacks, metric, ret));
}

struct order {
    const struct tree *tree;
    enum metric metric;
};

static int
compare_children(const void *a, const void *b, void *arg)
{
    const struct order *o = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int64_t vx = metric_value(&o->tree->nodes[x].inclusive, o->metric);
    int64_t vy = metric_value(&o->tree->nodes[y].inclusive, o->metric);

    if (vx != vy)
        return counters_by_magnitude(vx, vy);
    return x < y ? -1 : x > y;
}

static void
sort_children(struct tree *t, enum metric metric, struct arena *arena)
{
    uint32_t *children = arena_array(arena, t->count, sizeof *children);
    struct order order = {t, metric};

    for (size_t i = 0; i < t->count; i++) {
        size_t n = 0;

        for (uint32_t c = t->nodes[i].first_child; c != 0; c = t->nodes[c].next_sibling)
            children[n++] = c;
        if (n < 2)
            continue;
        qsort_r(children, n, sizeof *children, compare_children, &order);
        t->nodes[i].first_child = children[0];
        for (size_t k = 0; k < n; k++)
            t->nodes[children[k]].next_sibling = k + 1 < n ? children[k + 1] : 0;
    }
}

/* Rank of a node among all. */
struct tree_rank {
    uint32_t node, depth;
    int64_t key; // Smallest value on the path from the root to the node. Between two moments, a
                 // child may have a larger value than its parent.
    int64_t value;
};

static int
compare_ranks(const void *a, const void *b)
{
    const struct tree_rank *x = a, *y = b;

    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

void
tree_prune(struct tree *t, enum metric metric, size_t rows, size_t depth, struct arena *arena)
{
    struct tree_rank *ranks = arena_array(arena, t->count, sizeof *ranks);
    bool *kept = arena_array(arena, t->count, sizeof *kept);

    ranks[0] = (struct tree_rank){.key = INT64_MAX, .value = INT64_MAX};
    // A child has a higher index than its parent.
    for (uint32_t i = 0; i < t->count; i++)
        for (uint32_t c = t->nodes[i].first_child; c != 0; c = t->nodes[c].next_sibling) {
            int64_t value = metric_value(&t->nodes[c].inclusive, metric);

            ranks[c] = (struct tree_rank){.node = c,
                                          .depth = t->nodes[c].depth,
                                          .key = value < ranks[i].key ? value : ranks[i].key,
                                          .value = value};
        }
    qsort(ranks, t->count, sizeof *ranks, compare_ranks);
    // The root is not a row.
    for (size_t i = 0, left = rows ? rows : t->count; i < t->count && (i == 0 || left > 0); i++)
        if (depth == 0 || ranks[i].depth <= depth) {
            kept[ranks[i].node] = true;
            left -= i > 0;
        }
    // Siblings are in the order of their ranks, so the first one that is not kept ends them.
    for (size_t i = 0; i < t->count; i++) {
        struct tree_node *n = &t->nodes[i];

        n->first_child = kept[n->first_child] ? n->first_child : 0;
        n->next_sibling = kept[n->next_sibling] ? n->next_sibling : 0;
    }
}

/* Return true if the children of node I are valid and have no other parent. SEEN has a flag per
 * node. */
static bool
children_are_valid(const struct tree *t, uint32_t i, enum metric metric, bool *seen)
{
    const struct tree_node *n = &t->nodes[i];
    struct counters sum = n->self;
    uint32_t last = 0;

    for (uint32_t c = n->first_child; c != 0; c = t->nodes[c].next_sibling) {
        VALID(c > i && c < t->count);             // Children are created after their parent.
        VALID(!seen[c]);                          // Each node has one parent, so walks end.
        VALID(t->nodes[c].depth == n->depth + 1); // Views indent a node by its depth.
        // Children are sorted, the largest first.
        VALID(last == 0 ||
              counters_by_magnitude(metric_value(&t->nodes[last].inclusive, metric),
                                    metric_value(&t->nodes[c].inclusive, metric)) <= 0);
        seen[c] = true;
        counters_add(&sum, &t->nodes[c].inclusive);
        last = c;
    }
    VALID(counters_are_same(&sum, &n->inclusive)); // A stack ends here or leads to one child.
    return true;
}

bool
tree_is_valid(const struct stacks *stacks, enum metric metric, const struct tree *t)
{
    struct arena scratch = {0};
    bool *seen = arena_array(&scratch, t->count, sizeof *seen), valid = t->count > 0;
    size_t missing = 0;

    for (uint32_t i = 0; i < t->count && valid; i++)
        valid = children_are_valid(t, i, metric, seen);
    for (size_t i = 1; i < t->count; i++)
        missing += !seen[i];
    arena_release(&scratch);
    if (!valid)
        return false;
    VALID(missing == 0); // Each node is below the root, so that all amounts are shown.
    // All stacks begin at the root.
    VALID(counters_are_same(&t->nodes[0].inclusive, &stacks->total));
    return true;
}
