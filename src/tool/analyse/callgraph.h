/* callgraph.h: call graph of allocations, as in mprof but computed from whole stacks: callers,
 * callees and the amount allocated below each.
 *
 * All amounts are sums over stacks, and each stack counts once, however often a function or call
 * repeats on it. A stack counts for each function on it, for each arc whose call is on it, and for
 * a cycle if any of the cycle's functions is on it. So no amount exceeds the total. Without
 * recursion, the arcs into a function sum to its inclusive amount. With recursion they may exceed
 * it, because one stack can enter a function by several arcs. */
#ifndef ANALYSE_CALLGRAPH_H
#define ANALYSE_CALLGRAPH_H

#include "analyse/stack_functions.h"

#define CALLGRAPH_NONE UINT32_MAX

/* A call from CALLER, a function, to CALLEE, another function or a cycle as a whole. */
struct callgraph_arc {
    uint32_t caller, callee; // Ids of nodes.
    uint32_t enters;         // Arc from the caller to the callee's cycle; CALLGRAPH_NONE if the
                             // callee is in no cycle, or in the caller's.
    struct amount amount;
};

/* A function, or a cycle as a whole: two or more functions that call each other. */
struct callgraph_node {
    struct amount self, inclusive;
    struct amount called; // Sum over the stacks with a call from another function.
    int64_t recursive;    // Recursive calls, each times its stack's allocations. For a cycle: calls
                          // between its functions.
    int64_t calls_in;     // Sum over the arcs into it.
    int64_t calls_out;    // Sum over the arcs out of it.
    uint32_t cycle;       // Node of the cycle that it is in; CALLGRAPH_NONE if none. Always NONE
                          // for a cycle.
    uint32_t number;      // Number of a cycle, from 1, largest amount first; 0 for a function.
    uint32_t depth;       // Least number of callers above it on any stack.
    uint32_t index;       // Index into entries; CALLGRAPH_NONE if it has none.
    uint32_t first_caller, caller_count; // Range in callers.
    uint32_t first_callee, callee_count; // Range in callees.
};

struct callgraph {
    struct functions *functions;
    struct callgraph_node *nodes; // Functions by id, then cycles.
    size_t node_count, function_count;
    struct callgraph_arc *arcs;
    size_t arc_count;
    uint32_t *callers, *callees; // Arcs of each node, largest amount first. An arc into a cycle as
                                 // a whole is listed for the cycle only, not for its caller.
    uint32_t *entries;           // Nodes with an amount, largest inclusive amount first.
    size_t entry_count;
    struct amount total;
};

/* Build the call graph of STACKS by METRIC into *RET. Arcs and entries without an amount are left
 * out. Everything in *RET is from ARENA. */
void callgraph_build(struct functions *functions, const struct stacks *stacks, enum metric metric,
                     struct arena *arena, struct callgraph *ret);

/* Return true if the invariants above hold. Only reads; see util/ensure.h. */
bool callgraph_is_valid(const struct callgraph *g);

#endif
