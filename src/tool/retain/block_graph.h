/* block_graph.h: pointers between blocks, and from the roots to blocks. */
#ifndef RETAIN_BLOCK_GRAPH_H
#define RETAIN_BLOCK_GRAPH_H

#include "image/scan.h"

/* A directed graph. Node I points to the nodes to[first[I]] to to[first[I + 1] - 1]. */
struct block_graph {
    uint32_t count;    // Number of nodes.
    uint64_t *first;   // count + 1 elements.
    uint32_t *to;
    size_t node_capacity, edge_capacity; // Elements allocated for `first` and `to`.
};

/* A word of a root that points to a block. */
struct root_word {
    uint64_t at;   // Address of the word; of a register, its number.
    uint32_t root; // Index in roots.
    uint32_t to;   // Index of the block.
};

/* Memory outside of blocks that may point to blocks. */
struct roots {
    // Ranges of addresses (image/scan.h), then an element of kind SCAN_REGISTER for each thread.
    struct scan_range *v;
    size_t count;
    struct root_word *words; // By root. Mapped memory has at most one word for each block.
    size_t word_count, word_capacity;
};

/* Make an empty graph without nodes. */
void block_graph_begin(struct block_graph *g);

/* Append a node without edges. */
void block_graph_add_node(struct block_graph *g);

void block_graph_release(struct block_graph *g);

/* Make room for another edge. */
void block_graph_grow(struct block_graph *g);

/* Append an edge from the last node to node TO, which may not exist yet. */
static inline void
block_graph_add_edge(struct block_graph *g, uint32_t to)
{
    if (g->first[g->count] == g->edge_capacity)
        block_graph_grow(g);
    g->to[g->first[g->count]++] = to;
}

/* Read the pointers of E into *RET_GRAPH, whose nodes are E's blocks in their order, and into
 * *RET_ROOTS. A word counts as a pointer under the rules of image/reach.h: any address in a block,
 * except in the block itself. EXTENTS is the result of scan_extents. The caller calls
 * block_graph_release and roots_release. Arrays of roots are from ARENA. */
void block_graph_read(const struct examined *e, const uint64_t *extents, struct arena *arena,
                      struct block_graph *ret_graph, struct roots *ret_roots);
void roots_release(struct roots *r);

/* --- block_paths.c: the graph without the memory. */

/* Store the rank of each node of G in RET: the highest rank of the ROOTS that lead there. */
void block_graph_rank(const struct block_graph *g, const struct roots *roots, uint8_t *ret);

/* Set the Ith byte of RET to 1 if the search for lost blocks begins at node I of G: it is lost and
 * no other lost block points to it, or it has the lowest address in a ring of them. Set all others
 * to 0. RANKS is the result of block_graph_rank. */
void block_graph_lost(const struct block_graph *g, const uint8_t *ranks, uint8_t *ret);

/* Remove the edges of G that lead to a node of higher rank by RANKS. A lost block then keeps none
 * that can be reached, and a block on a stack none that a variable leads to. */
void block_graph_keep_ranks(struct block_graph *g, const uint8_t *ranks);

/* A path from a root to a block. */
struct block_path {
    const struct root_word *root; // The word that begins the path; NULL = there is no path.
    uint32_t *blocks;             // From the block that `root` points to, to the target.
    size_t count;
};

/* Find a shortest path to block TARGET of G from ROOTS of its rank by RANKS. The result is from
 * ARENA. */
void block_graph_shortest(const struct block_graph *g, const struct roots *roots,
                          const uint8_t *ranks, uint32_t target, struct arena *arena,
                          struct block_path *ret);

#endif
