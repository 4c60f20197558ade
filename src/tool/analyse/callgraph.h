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

#include "analyse/stacks.h"
#include "analyse/totals.h"
#include "util/arena.h"

#define CALLGRAPH_NONE UINT32_MAX

/* A call from CALLER, a function, to CALLEE, another function or a cycle as a whole. */
struct callgraph_arc {
    uint32_t caller, callee; // Ids of nodes.
    // Arc from the caller to the callee's cycle; CALLGRAPH_NONE if the callee is in no cycle, or in
    // the caller's.
    uint32_t enters;
    struct amount amount;
    struct errors *errors; // NULL = exact.
};

/* A function, or a cycle as a whole: two or more functions that call each other. */
struct callgraph_node {
    struct amount self, inclusive;
    struct errors *self_errors, *inclusive_errors; // NULL = exact.
    struct amount called; // Sum over the stacks with a call from another function.
    // Recursive calls, each times its stack's allocations. For a cycle: calls between its
    // functions.
    int64_t recursive;
    int64_t calls_in;     // Sum over the arcs into it.
    int64_t calls_out;    // Sum over the arcs out of it.
    // Node of the cycle that it is in; CALLGRAPH_NONE if none. Always NONE for a cycle.
    uint32_t cycle;
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
    // Arcs of each node, largest amount first. An arc into a cycle as a whole is listed for the
    // cycle only, not for its caller.
    uint32_t *callers, *callees;
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

/* --- components.c: strongly connected components of a graph, which are sets of nodes that all
 * reach each other. */

/* The arcs out of node i are targets[first[i]] to targets[first[i + 1] - 1]. */
struct graph {
    uint32_t node_count;
    const uint32_t *first; // node_count + 1 entries.
    const uint32_t *targets;
};

struct components {
    uint32_t *of_node; // Component of each node, below count.
    uint32_t *sizes;   // Number of nodes in each component.
    uint32_t count;
};

/* Find the components of G. Linear in time and memory, whatever the depth of the graph. The arrays
 * in *RET are from ARENA. */
void components_find(const struct graph *g, struct arena *arena, struct components *ret);

/* --- tree.c: tree of the functions on stacks, top-down from main to the allocating functions, or
 * bottom-up from the allocating functions to their callers. */

enum tree_direction { TREE_TOP_DOWN, TREE_BOTTOM_UP };

struct tree_node {
    uint32_t frame; // One frame of the function; unused in the root.
    uint32_t location;
    uint32_t first_child;      // Children, largest first; 0 = none.
    uint32_t next_sibling;     // 0 = the node is the last one.
    uint32_t depth;            // 0 for the root.
    const char *root;          // Name of a node without a frame (stack_root); NULL = a function.
    struct counters inclusive; // Sum of the stacks through this node.
    struct counters self;      // Sum of the stacks that end at this node.
    struct errors *inclusive_errors, *self_errors; // NULL = exact.
};

struct tree {
    struct tree_node *nodes; // [0] is the root, whose inclusive value is the total.
    size_t count;
};

/* Build a tree of STACKS in DIRECTION, children sorted by METRIC. Everything in *RET is from ARENA.
 * Recursive calls are a chain of nodes, as in the stack. Start-up code is left out
 * (stack_useful_depth). */
void tree_build(const struct profile *p, const struct stacks *stacks, enum tree_direction direction,
                enum metric metric, struct arena *arena, struct tree *ret);

/* Unlink all nodes of T but the ROWS largest by METRIC, and those deeper than DEPTH; 0 = no limit.
 * A node stays only if its parent does. Amounts do not change. Scratch memory is from ARENA. */
void tree_prune(struct tree *t, enum metric metric, size_t rows, size_t depth,
                struct arena *arena);

/* Return true if T, made from STACKS, keeps the invariants above. Only reads; see util/ensure.h. */
bool tree_is_valid(const struct stacks *stacks, enum metric metric, const struct tree *t);

/* --- paths.c: stacks merged by their innermost functions, as the partial paths of mprof's leak
 * table. */

struct paths_options {
    size_t callers;  // Number of innermost functions in a path; 0 = all.
    bool call_sites; // Keep calls from different lines of one function separate.
};

struct path {
    const struct stack *stack; // One of the merged stacks.
    uint32_t depth; // Number of its functions (functions_of_stack) in the path; at least one.
    bool cut;       // The path has further callers, known or unknown.
    struct counters counters;
    struct errors *errors; // NULL = exact.
};

struct paths {
    struct path *v; // Most live bytes first.
    size_t count;
};

/* Merge the COUNT stacks STACKS by OPTIONS. Everything in *RET is from ARENA. */
void paths_build(struct functions *functions, const struct stack *const *stacks, size_t count,
                 const struct paths_options *options, struct arena *arena, struct paths *ret);

/* Return true if PATHS, made from the COUNT STACKS, keeps the invariants above. Only reads; see
 * util/ensure.h. */
bool paths_are_valid(const struct paths *paths, const struct stack *const *stacks, size_t count);

#endif
