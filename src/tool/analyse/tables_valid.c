/* tables_valid.c: each table accounts for all that it was made from.
 *
 * The amounts of rows sum up to the total, lists are in the order in which views cut them off, and
 * an index leads to what points back. Amounts themselves may be anything, as in stacks_valid.c.
 */
#include "analyse/tables_valid.h"

#include <math.h>
#include <string.h>

#include "profile/profile_valid.h"
#include "util/ensure.h"

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

        HOLDS(a->caller < g->function_count); // Only functions call;
        HOLDS(a->callee < g->node_count);     // what they call may be a whole cycle.
        HOLDS(a->caller != a->callee);        // A function that calls itself is no arc.
        HOLDS(a->enters == CALLGRAPH_NONE || a->enters < g->arc_count); // An arc in its turn,
        HOLDS(a->enters == CALLGRAPH_NONE ||
              g->arcs[a->enters].callee == g->nodes[a->callee].cycle); // to the callee's cycle.
    }
    return true;
}

/* The lists of node I hold its arcs, the largest first, and its sums are theirs. */
static bool
lists_are_valid(const struct callgraph *g, uint32_t i)
{
    const struct callgraph_node *n = &g->nodes[i];
    int64_t in = 0, out = 0, last = INT64_MAX;

    for (uint32_t k = 0; k < n->caller_count; k++) {
        const struct callgraph_arc *a = &g->arcs[g->callers[n->first_caller + k]];

        HOLDS(a->callee == i);                 // An arc into it,
        HOLDS(amount_sum(&a->amount) <= last); // in order.
        last = amount_sum(&a->amount);
        in = counters_sum(in, a->amount.calls);
    }
    last = INT64_MAX;
    for (uint32_t k = 0; k < n->callee_count; k++) {
        const struct callgraph_arc *a = &g->arcs[g->callees[n->first_callee + k]];

        HOLDS(a->caller == i);                 // An arc out of it,
        HOLDS(amount_sum(&a->amount) <= last); // in order.
        last = amount_sum(&a->amount);
        out = counters_sum(out, a->amount.calls);
    }
    HOLDS(in == n->calls_in);   // Views show parts of this,
    HOLDS(out == n->calls_out); // and of this.
    return true;
}

static bool
graph_nodes_are_valid(const struct callgraph *g)
{
    for (uint32_t i = 0; i < g->node_count; i++) {
        const struct callgraph_node *n = &g->nodes[i];
        bool is_cycle = i >= g->function_count;

        HOLDS(n->cycle == CALLGRAPH_NONE || !is_cycle); // A cycle is in none,
        HOLDS(n->cycle == CALLGRAPH_NONE ||
              (n->cycle >= g->function_count && n->cycle < g->node_count)); // and a node itself.
        HOLDS(n->index == CALLGRAPH_NONE ||
              (n->index < g->entry_count && g->entries[n->index] == i)); // Its place leads back.
        if (!lists_are_valid(g, i))
            return false;
    }
    return true;
}

bool
callgraph_is_valid(const struct callgraph *g)
{
    struct amount selves = {0};

    HOLDS(g->function_count <= g->node_count); // Cycles come behind.
    for (size_t i = 0; i < g->function_count; i++)
        amount_add(&selves, &g->nodes[i].self);
    HOLDS(amounts_are_same(&selves, &g->total)); // A stack ends in one function.
    for (size_t i = 0; i < g->entry_count; i++) {
        HOLDS(g->entries[i] < g->node_count); // It is a node's,
        // and the largest comes first.
        HOLDS(i == 0 || amount_sum(&g->nodes[g->entries[i - 1]].inclusive) >=
                            amount_sum(&g->nodes[g->entries[i]].inclusive));
    }
    return arcs_are_valid(g) && graph_nodes_are_valid(g);
}

bool
paths_are_valid(const struct paths *paths, const struct stack *const *stacks, size_t count)
{
    struct counters all = COUNTERS_ZERO, sum = COUNTERS_ZERO;

    for (size_t i = 0; i < count; i++)
        counters_add(&all, &stacks[i]->counters);
    for (size_t i = 0; i < paths->count; i++) {
        const struct path *path = &paths->v[i];

        HOLDS(path->stack != NULL && path->depth >= 1); // Views show that many of its functions.
        HOLDS(i == 0 || counters_live_bytes(&path[-1].counters) >=
                            counters_live_bytes(&path->counters)); // The most live bytes first.
        counters_add(&sum, &path->counters);
    }
    HOLDS(counters_are_same(&sum, &all)); // Each stack is in one path.
    return true;
}

bool
bins_are_valid(const struct profile *p, const struct bins *b)
{
    struct counters sum = COUNTERS_ZERO;

    HOLDS(b->count >= 1);                         // There is always the row for larger blocks,
    HOLDS(b->v[b->count - 1].size == BIN_LARGER); // which is the last.
    for (size_t i = 0; i < b->count; i++) {
        const struct bin_row *row = &b->v[i];

        HOLDS(i == 0 || row[-1].size < row->size); // Rows are searched for a size.
        HOLDS(row->type_count == 0 ||
              (row->types >= p->types && row->types + row->type_count <= p->types + p->type_count));
        counters_add(&sum, &row->counters);
    }
    HOLDS(counters_are_same(&sum, &b->total)); // What is left out is zero.
    return true;
}

bool
diff_is_valid(const struct diff *d, enum metric metric)
{
    struct counters before = COUNTERS_ZERO, after = COUNTERS_ZERO;
    uint64_t last = UINT64_MAX;

    for (size_t i = 0; i < d->count; i++) {
        const struct diff_row *r = &d->rows[i];
        int64_t growth = diff_growth(&r->before, &r->after, metric);
        uint64_t change = growth < 0 ? 0 - (uint64_t)growth : (uint64_t)growth;

        HOLDS(r->depth >= 1);  // A row has a name.
        HOLDS(change <= last); // The largest growth or shrinking first.
        last = change;
        counters_add(&before, &r->before);
        counters_add(&after, &r->after);
    }
    HOLDS(counters_are_same(&before, &d->before)); // Each stack is in one row,
    HOLDS(counters_are_same(&after, &d->after));   // on both sides.
    return true;
}

static bool
points_are_valid(const struct profile *p, const struct timeline *t)
{
    HOLDS(t->point_count >= 2); // The window has a beginning and an end.
    HOLDS(t->points[t->point_count - 1].snapshots <= p->snapshot_count + 1); // Which is the last.
    for (size_t i = 1; i < t->point_count; i++) {
        HOLDS(t->points[i - 1].snapshots < t->points[i].snapshots);    // One after another,
        HOLDS(t->points[i - 1].elapsed_ns <= t->points[i].elapsed_ns); // also by the clock.
    }
    return true;
}

/* At each point the rows and the rest are all there is. */
static bool
values_are_valid(const struct timeline *t)
{
    for (size_t k = 0; k < t->point_count; k++) {
        int64_t sum = t->rest.values[k];

        for (size_t i = 0; i < t->row_count; i++) {
            HOLDS(t->rows[i].values[k] <= t->rows[i].max); // What a picture is scaled by.
            sum = counters_sum(sum, t->rows[i].values[k]);
        }
        HOLDS(sum == t->total.values[k]); // A change is of one row or of the rest.
    }
    return true;
}

bool
timeline_is_valid(const struct profile *p, const struct stacks *stacks, const struct timeline *t)
{
    if (!points_are_valid(p, t))
        return false;
    HOLDS(t->row_count <= t->stack_count); // A row is a stack's,
    HOLDS(t->growing <= t->stack_count);   // and so is one that grows.
    for (size_t i = 0; i < t->row_count; i++) {
        HOLDS(t->rows[i].stack != NULL);         // Views show it.
        HOLDS(t->rows[i].trend <= TREND_VARIES); // Each has a name.
    }
    // What was there at the end is what the profile says of these stacks.
    HOLDS(t->by != TIMELINE_LIVE || t->points[t->point_count - 1].snapshots <= p->snapshot_count ||
          t->total.values[t->point_count - 1] == counters_live_bytes(&stacks->total));
    return values_are_valid(t);
}

bool
interval_is_valid(struct interval i, double value)
{
    HOLDS(isfinite(i.low) && isfinite(i.high)); // No division by what may be 0.
    HOLDS(i.low <= value && value <= i.high);   // What was found is always possible.
    return true;
}
