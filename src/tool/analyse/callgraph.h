/* callgraph.h: call graph of allocations: which function called which, and the amount allocated
 * below. mprof's call graph, computed from whole stacks.
 *
 * All amounts are sums over stacks. Each stack counts once, however often it repeats the function
 * or the call: in a function's inclusive amount if the function is on it, in an arc if the caller
 * calls the callee on it, in a cycle if any of its functions is on it. So no amount exceeds the
 * total. Without recursion, the arcs into a function sum to its inclusive amount. With recursion
 * they may exceed it, because one stack can enter a function in several ways. */
#ifndef ANALYSE_CALLGRAPH_H
#define ANALYSE_CALLGRAPH_H

#include "analyse/stack_functions.h"

#define CALLGRAPH_NONE UINT32_MAX

/* CALLER, a function, called CALLEE, another one or a cycle as a whole. */
struct callgraph_arc {
    uint32_t caller, callee; // Ids of nodes.
    uint32_t enters;         // The arc to the callee's cycle as a whole; CALLGRAPH_NONE if the
                             // callee is in none, or the caller in the same.
    struct amount amount;
};

/* A function, or a cycle as a whole: functions that call each other, at least two. */
struct callgraph_node {
    struct amount self, inclusive;
    struct amount called; // Stacks with a call by another function.
    int64_t recursive;    // Recursive activations on those stacks, times their allocations. For a
                          // cycle: calls between its functions.
    int64_t calls_in;     // Sum over the arcs into it.
    int64_t calls_out;    // Sum over the arcs out of it.
    uint32_t cycle;       // Node of the cycle it is in; CALLGRAPH_NONE if none, and for a cycle.
    uint32_t number;      // Cycle number from 1, by falling amount; 0 = a function.
    uint32_t depth;       // Smallest number of callers above it.
    uint32_t index;       // Index into entries; CALLGRAPH_NONE if it has none.
    uint32_t first_caller, caller_count; // In callers.
    uint32_t first_callee, callee_count; // In callees.
};

struct callgraph {
    struct functions *functions;
    struct callgraph_node *nodes; // Functions by their id, then cycles.
    size_t node_count, function_count;
    struct callgraph_arc *arcs;
    size_t arc_count;
    uint32_t *callers, *callees; // Arcs of each node, the largest amount first. Those to a cycle as
                                 // a whole are in the callers of the cycle only.
    uint32_t *entries;           // Nodes with stacks: the largest inclusive amount first.
    size_t entry_count;
    struct amount total;
};

/* The call graph of STACKS by METRIC. Arcs and entries of no amount are left out. Everything in
 * *RET is from ARENA. */
void callgraph_build(struct functions *functions, const struct stacks *stacks, enum metric metric,
                     struct arena *arena, struct callgraph *ret);

/* Return true if the invariants above hold. Only reads; see util/ensure.h. */
bool callgraph_is_valid(const struct callgraph *g);

#endif
