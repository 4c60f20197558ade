/* callgraph.c: build a graph of functions from stacks.
 *
 * Two passes read the stacks. The first pass creates functions and arcs and sums their amounts.
 * Each function and arc stores the number of the last stack that it counted, so that no stack
 * counts twice. Then the strongly connected components are computed. The second pass sums the
 * amounts of cycles that need whole stacks: the stacks that touch a cycle, and those that enter it,
 * by caller.
 *
 *     main F G F G malloc(10)       main 10, F 10, G 10; main to F 10, F to G 10, G to F 10
 *                                   F and G are a cycle: 10, entered by main for 10
 *
 * Pairs of caller and callee alone, which mprof recorded, would give F 20.
 *
 * An amount is an estimate if it depends on callers that were sampled (stack_errors_add). If a
 * function or a call repeats on a stack, its innermost place decides.
 *
 * The cost is the sum of all stack depths, so arcs need a fast lookup. A caller's frame is a place
 * in its code that nearly always calls the same function, so each frame caches its last arc. */
#include "analyse/callgraph.h"

#include <stdlib.h>
#include <string.h>

#include "util/ensure.h"

struct builder {
    struct functions *functions;
    const struct stacks *stacks;
    const struct amount *amounts; // By stack.
    struct arena *arena;
    struct callgraph *ret;
    size_t node_capacity, arc_capacity;
    size_t *seen, *called; // By node: the last stack counted, plus 1.
    size_t seen_capacity, called_capacity;
    size_t *arc_seen; // By arc: the last stack counted, plus 1.
    size_t arc_seen_capacity;
    struct map arc_ids;     // Key: caller << 32 | callee. Value: arc.
    uint32_t *arc_by_frame; // By frame of the caller: the last arc from there, plus 1.
};

static void
ensure_node(struct builder *b, uint32_t id)
{
    struct callgraph *g = b->ret;

    for (; g->node_count <= id; g->node_count++) {
        arena_grow(b->arena, &g->nodes, &b->node_capacity, g->node_count, sizeof *g->nodes);
        arena_grow(b->arena, &b->seen, &b->seen_capacity, g->node_count, sizeof *b->seen);
        arena_grow(b->arena, &b->called, &b->called_capacity, g->node_count, sizeof *b->called);
        g->nodes[g->node_count] = (struct callgraph_node){
            .cycle = CALLGRAPH_NONE, .index = CALLGRAPH_NONE, .depth = UINT32_MAX};
        b->seen[g->node_count] = b->called[g->node_count] = 0;
    }
}

static uint32_t
find_arc(struct builder *b, uint32_t caller, uint32_t callee)
{
    struct callgraph *g = b->ret;
    bool is_new;
    uint64_t *id = map_put(&b->arc_ids, (uint64_t)caller << 32 | callee, &is_new);

    if (!is_new)
        return (uint32_t)*id;
    arena_grow(b->arena, &g->arcs, &b->arc_capacity, g->arc_count, sizeof *g->arcs);
    arena_grow(b->arena, &b->arc_seen, &b->arc_seen_capacity, g->arc_count, sizeof *b->arc_seen);
    g->arcs[g->arc_count] =
        (struct callgraph_arc){.caller = caller, .callee = callee, .enters = CALLGRAPH_NONE};
    b->arc_seen[g->arc_count] = 0;
    *id = g->arc_count++;
    return (uint32_t)*id;
}

/* Return the arc from CALLER, the function at I of S, to CALLEE. */
static uint32_t
arc_at(struct builder *b, const struct stack *s, size_t i, uint32_t caller, uint32_t callee)
{
    uint32_t *known = i < s->depth ? &b->arc_by_frame[s->frames[i]] : NULL, arc;

    if (known && *known != 0) {
        const struct callgraph_arc *a = &b->ret->arcs[*known - 1];

        if (a->caller == caller && a->callee == callee)
            return *known - 1;
    }
    arc = find_arc(b, caller, callee);
    if (known)
        *known = arc + 1;
    return arc;
}

/* Return true if *STAMP is not yet set to the stack NUMBER, and set it. */
static bool
callgraph_is_first(size_t *stamp, size_t number)
{
    bool first;

    ENSURE(stamp != NULL);
    first = *stamp != number + 1;
    *stamp = number + 1;
    return first;
}

/* Return true if FUNCTION is NODE, or is in the cycle NODE. */
static bool
is_at_node(const struct callgraph *g, uint32_t function, uint32_t node)
{
    bool is_cycle = g->function_count != 0 && node >= g->function_count;

    return is_cycle ? g->nodes[function].cycle == node : function == node;
}

/* Add the errors of the stack NUMBER to *SUM, for NODE, which is at I of IDS, its functions. For an
 * arc to NODE, CALLER is the caller, and its frame decides; otherwise CALLGRAPH_NONE. */
static void
callgraph_add_errors(struct builder *b, struct errors **sum, size_t number, const uint32_t *ids,
                     uint32_t i, uint32_t node, uint32_t caller)
{
    const struct stack *s = &b->stacks->v[number];
    bool is_arc = caller != CALLGRAPH_NONE;
    uint32_t k = 0;

    if (s->errors == NULL && !b->stacks->has_callerless)
        return;
    while (b->functions->p->has_shares && k < s->site_depth && k < i &&
           !(is_at_node(b->ret, ids[k], node) && (!is_arc || ids[k + 1] == caller)))
        k++;
    if (!b->functions->p->has_shares || k == s->site_depth)
        k = i;
    stack_errors_add(sum, b->stacks, s, k + is_arc, b->arena);
}

/* Count the stack NUMBER for ARC, whose callee is at I of IDS, its functions. */
static void
count_call(struct builder *b, size_t number, uint32_t arc, const uint32_t *ids, size_t i)
{
    struct callgraph_arc *a = &b->ret->arcs[arc];

    if (callgraph_is_first(&b->arc_seen[arc], number)) {
        amount_add(&a->amount, &b->amounts[number]);
        callgraph_add_errors(b, &a->errors, number, ids, (uint32_t)i, a->callee, a->caller);
    }
    if (callgraph_is_first(&b->called[a->callee], number))
        amount_add(&b->ret->nodes[a->callee].called, &b->amounts[number]);
}

static void
count_stack(struct builder *b, size_t number)
{
    const struct stack *s = &b->stacks->v[number];
    const struct amount *amount = &b->amounts[number];
    const uint32_t *ids;
    size_t depth = functions_of_stack(b->functions, s, &ids);

    for (size_t i = depth; i-- > 0;) {
        struct callgraph_node *n;

        ensure_node(b, ids[i]);
        n = &b->ret->nodes[ids[i]];
        if (callgraph_is_first(&b->seen[ids[i]], number)) {
            amount_add(&n->inclusive, amount);
            callgraph_add_errors(b, &n->inclusive_errors, number, ids, (uint32_t)i, ids[i],
                                 CALLGRAPH_NONE);
        } else {
            n->recursive = counters_sum(n->recursive, amount->calls);
        }
        if (depth - 1 - i < n->depth)
            n->depth = (uint32_t)(depth - 1 - i);
        if (i + 1 < depth && ids[i + 1] != ids[i])
            count_call(b, number, arc_at(b, s, i + 1, ids[i + 1], ids[i]), ids, i);
    }
    amount_add(&b->ret->nodes[ids[0]].self, amount);
    callgraph_add_errors(b, &b->ret->nodes[ids[0]].self_errors, number, ids, 0, ids[0],
                         CALLGRAPH_NONE);
    amount_add(&b->ret->total, amount);
}

/* Return true if A has an amount of the metric. Other arcs are not shown and make no cycle. */
static bool
carries(const struct callgraph_arc *a)
{
    return amount_sum(&a->amount) != 0;
}

static void
find_components(struct builder *b, struct components *ret)
{
    const struct callgraph *g = b->ret;
    uint32_t *first = arena_array(b->arena, g->function_count + 2, sizeof *first), *targets;
    struct graph graph = {(uint32_t)g->function_count, first, NULL};

    // first[i + 2] counts the arcs of node i. Filling in the targets advances first[i + 1] to the
    // end of node i, which is the start of node i + 1.
    for (size_t i = 0; i < g->arc_count; i++)
        first[g->arcs[i].caller + 2] += carries(&g->arcs[i]);
    for (size_t i = 2; i < g->function_count + 2; i++)
        first[i] += first[i - 1];
    targets = arena_array(b->arena, first[g->function_count + 1], sizeof *targets);
    for (size_t i = 0; i < g->arc_count; i++)
        if (carries(&g->arcs[i]))
            targets[first[g->arcs[i].caller + 1]++] = g->arcs[i].callee;
    graph.targets = targets;
    components_find(&graph, b->arena, ret);
}

/* Count arcs between two functions of a cycle as its recursion, and link each arc from elsewhere to
 * an arc into the cycle. */
static void
enter_cycles(struct builder *b)
{
    struct callgraph *g = b->ret;
    size_t function_arcs = g->arc_count;

    for (size_t i = 0; i < function_arcs; i++) {
        uint32_t caller = g->arcs[i].caller, cycle = g->nodes[g->arcs[i].callee].cycle;

        if (cycle == CALLGRAPH_NONE || !carries(&g->arcs[i]))
            continue;
        if (g->nodes[caller].cycle == cycle) {
            g->nodes[cycle].recursive =
                counters_sum(g->nodes[cycle].recursive, g->arcs[i].amount.calls);
        } else {
            uint32_t enters = find_arc(b, caller, cycle); // find_arc may move the arcs.

            g->arcs[i].enters = enters;
        }
    }
}

/* Create a node for each component with more than one function. */
static void
make_cycles(struct builder *b)
{
    struct callgraph *g = b->ret;
    struct components components;
    uint32_t *cycles; // Node by component.

    find_components(b, &components);
    cycles = arena_array(b->arena, components.count, sizeof *cycles);
    for (uint32_t i = 0; i < g->function_count; i++) {
        uint32_t *cycle = &cycles[components.of_node[i]];

        if (components.sizes[components.of_node[i]] < 2)
            continue;
        if (*cycle == 0) {
            *cycle = (uint32_t)g->node_count;
            ensure_node(b, *cycle);
        }
        g->nodes[i].cycle = *cycle;
        amount_add(&g->nodes[*cycle].self, &g->nodes[i].self);
        if (g->nodes[i].self_errors != NULL)
            errors_add(errors_of(&g->nodes[*cycle].self_errors, b->arena), g->nodes[i].self_errors);
        if (g->nodes[i].depth < g->nodes[*cycle].depth)
            g->nodes[*cycle].depth = g->nodes[i].depth;
    }
    enter_cycles(b);
}

/* Sum the amounts of cycles that need whole stacks, for the stack NUMBER. Requires make_cycles. */
static void
count_cycles(struct builder *b, size_t number)
{
    const struct stack *s = &b->stacks->v[number];
    const uint32_t *ids;
    size_t depth = functions_of_stack(b->functions, s, &ids);

    for (size_t i = depth; i-- > 0;) {
        uint32_t cycle = b->ret->nodes[ids[i]].cycle, arc;

        if (cycle == CALLGRAPH_NONE)
            continue;
        if (callgraph_is_first(&b->seen[cycle], number)) {
            amount_add(&b->ret->nodes[cycle].inclusive, &b->amounts[number]);
            callgraph_add_errors(b, &b->ret->nodes[cycle].inclusive_errors, number, ids,
                                 (uint32_t)i, cycle, CALLGRAPH_NONE);
        }
        if (i + 1 == depth || b->ret->nodes[ids[i + 1]].cycle == cycle)
            continue;
        arc = b->ret->arcs[arc_at(b, s, i + 1, ids[i + 1], ids[i])].enters;
        if (arc != CALLGRAPH_NONE)
            count_call(b, number, arc, ids, i);
    }
}

static int
callgraph_compare_entries(const void *a, const void *b, void *arg)
{
    const struct callgraph *g = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct callgraph_node *nx = &g->nodes[x], *ny = &g->nodes[y];
    int64_t ax = amount_sum(&nx->inclusive), ay = amount_sum(&ny->inclusive);

    if (ax != ay)
        return counters_by_magnitude(ax, ay);
    if (nx->depth != ny->depth)
        return nx->depth < ny->depth ? -1 : 1;
    // A cycle precedes its functions.
    if ((x < g->function_count) != (y < g->function_count))
        return x < g->function_count ? 1 : -1;
    return x < y ? -1 : x > y;
}

/* Return a flag for each node: true if the node is listed. In an interval, growth and shrinkage may
 * cancel out; such a node is listed because of its calls. */
static const bool *
find_listed(struct builder *b)
{
    const struct callgraph *g = b->ret;
    bool *listed = arena_array(b->arena, g->node_count, sizeof *listed);

    for (size_t i = 0; i < g->node_count; i++)
        listed[i] = amount_sum(&g->nodes[i].inclusive) != 0;
    for (size_t i = 0; i < g->arc_count; i++)
        if (carries(&g->arcs[i]))
            listed[g->arcs[i].caller] = listed[g->arcs[i].callee] = true;
    return listed;
}

static void
sort_entries(struct builder *b)
{
    struct callgraph *g = b->ret;
    const bool *listed = find_listed(b);
    uint32_t cycles = 0;

    g->entries = arena_array(b->arena, g->node_count, sizeof *g->entries);
    for (uint32_t i = 0; i < g->node_count; i++)
        if (listed[i])
            g->entries[g->entry_count++] = i;
    qsort_r(g->entries, g->entry_count, sizeof *g->entries, callgraph_compare_entries, g);
    for (size_t i = 0; i < g->entry_count; i++) {
        g->nodes[g->entries[i]].index = (uint32_t)i;
        if (g->entries[i] >= g->function_count)
            g->nodes[g->entries[i]].number = ++cycles;
    }
}

static int
compare_arcs(const void *a, const void *b, void *arg)
{
    const struct callgraph *g = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int64_t ax = amount_sum(&g->arcs[x].amount), ay = amount_sum(&g->arcs[y].amount);

    if (ax != ay)
        return counters_by_magnitude(ax, ay);
    return x < y ? -1 : x > y;
}

/* Fill the lists of callers and callees of each node. Arcs are assigned largest first, so each list
 * is sorted. */
static void
sort_arcs(struct builder *b)
{
    struct callgraph *g = b->ret;
    uint32_t *order = arena_array(b->arena, g->arc_count, sizeof *order);
    uint32_t count = 0, callers = 0, callees = 0;

    for (uint32_t i = 0; i < g->arc_count; i++) {
        const struct callgraph_arc *a = &g->arcs[i];

        if (!carries(a))
            continue;
        order[count++] = i;
        g->nodes[a->callee].caller_count++;
        g->nodes[a->caller].callee_count += a->callee < g->function_count;
    }
    qsort_r(order, count, sizeof *order, compare_arcs, g);
    g->callers = arena_array(b->arena, count, sizeof *g->callers);
    g->callees = arena_array(b->arena, count, sizeof *g->callees);
    for (size_t i = 0; i < g->node_count; i++) {
        struct callgraph_node *n = &g->nodes[i];

        n->first_caller = callers;
        n->first_callee = callees;
        callers += n->caller_count;
        callees += n->callee_count;
        n->caller_count = n->callee_count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct callgraph_arc *a = &g->arcs[order[i]];
        struct callgraph_node *callee = &g->nodes[a->callee], *caller = &g->nodes[a->caller];

        g->callers[callee->first_caller + callee->caller_count++] = order[i];
        callee->calls_in = counters_sum(callee->calls_in, a->amount.calls);
        if (a->callee >= g->function_count)
            continue;
        g->callees[caller->first_callee + caller->callee_count++] = order[i];
        caller->calls_out = counters_sum(caller->calls_out, a->amount.calls);
    }
}

void
callgraph_build(struct functions *functions, const struct stacks *stacks, enum metric metric,
                struct arena *arena, struct callgraph *ret)
{
    const struct profile *p = functions->p;
    struct builder b = {.functions = functions, .stacks = stacks, .arena = arena, .ret = ret};

    *ret = (struct callgraph){.functions = functions};
    b.amounts = amounts_of_stacks(functions, stacks, metric, arena);
    b.arc_by_frame = arena_array(arena, p->frame_count, sizeof *b.arc_by_frame);
    for (size_t i = 0; i < stacks->count; i++)
        count_stack(&b, i);
    ensure_node(&b, (uint32_t)functions->count - 1);
    ret->function_count = functions->count;
    make_cycles(&b);
    if (ret->node_count > ret->function_count)
        for (size_t i = 0; i < stacks->count; i++)
            count_cycles(&b, i);
    sort_entries(&b);
    sort_arcs(&b);
    map_release(&b.arc_ids);
    ENSURE_VALID(callgraph_is_valid(ret));
}

static bool
amounts_are_same(const struct amount *a, const struct amount *b)
{
    return memcmp(a->by_class, b->by_class, sizeof a->by_class) == 0 && a->calls == b->calls;
}

static bool
arcs_are_valid(const struct callgraph *g)
{
    for (size_t i = 0; i < g->arc_count; i++) {
        const struct callgraph_arc *a = &g->arcs[i];

        VALID(a->caller < g->function_count); // Only functions are callers.
        VALID(a->callee < g->node_count);     // A callee is a function or a cycle.
        VALID(a->caller != a->callee);        // A self-call makes no arc.
        // enters is an index into arcs.
        VALID(a->enters == CALLGRAPH_NONE || a->enters < g->arc_count);
        VALID(a->enters == CALLGRAPH_NONE ||
              // enters leads to the cycle of the callee.
              g->arcs[a->enters].callee == g->nodes[a->callee].cycle);
    }
    return true;
}

/* Return true if the lists of node I have only its arcs, largest first, and sum to its amounts. */
static bool
lists_are_valid(const struct callgraph *g, uint32_t i)
{
    const struct callgraph_node *n = &g->nodes[i];
    int64_t in = 0, out = 0, last = INT64_MIN;

    for (uint32_t k = 0; k < n->caller_count; k++) {
        const struct callgraph_arc *a = &g->arcs[g->callers[n->first_caller + k]];

        VALID(a->callee == i); // The arc leads to node I.
        VALID(counters_by_magnitude(last, amount_sum(&a->amount)) <= 0); // The callers are sorted.
        last = amount_sum(&a->amount);
        in = counters_sum(in, a->amount.calls);
    }
    last = INT64_MIN;
    for (uint32_t k = 0; k < n->callee_count; k++) {
        const struct callgraph_arc *a = &g->arcs[g->callees[n->first_callee + k]];

        VALID(a->caller == i); // The arc comes from node I.
        VALID(counters_by_magnitude(last, amount_sum(&a->amount)) <= 0); // The callees are sorted.
        last = amount_sum(&a->amount);
        out = counters_sum(out, a->amount.calls);
    }
    VALID(in == n->calls_in);   // Views print shares of these sums.
    VALID(out == n->calls_out);
    return true;
}

static bool
graph_nodes_are_valid(const struct callgraph *g)
{
    for (uint32_t i = 0; i < g->node_count; i++) {
        const struct callgraph_node *n = &g->nodes[i];
        bool is_cycle = i >= g->function_count;

        VALID(n->cycle == CALLGRAPH_NONE || !is_cycle); // Cycles do not nest.
        VALID(n->cycle == CALLGRAPH_NONE ||
              // The index of a cycle follows those of all functions.
              (n->cycle >= g->function_count && n->cycle < g->node_count));
        VALID(n->index == CALLGRAPH_NONE ||
              // index is the inverse of entries.
              (n->index < g->entry_count && g->entries[n->index] == i));
        if (!lists_are_valid(g, i))
            return false;
    }
    return true;
}

bool
callgraph_is_valid(const struct callgraph *g)
{
    struct amount selves = {0};

    VALID(g->function_count <= g->node_count); // Cycles follow the functions.
    for (size_t i = 0; i < g->function_count; i++)
        amount_add(&selves, &g->nodes[i].self);
    VALID(amounts_are_same(&selves, &g->total)); // Each stack has one innermost function.
    for (size_t i = 0; i < g->entry_count; i++) {
        VALID(g->entries[i] < g->node_count); // An entry is a node.
        // Entries are sorted, the largest first.
        VALID(i == 0 ||
              counters_by_magnitude(amount_sum(&g->nodes[g->entries[i - 1]].inclusive),
                                    amount_sum(&g->nodes[g->entries[i]].inclusive)) <= 0);
    }
    return arcs_are_valid(g) && graph_nodes_are_valid(g);
}
