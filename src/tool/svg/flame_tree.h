/* flame_tree.h: stacks merged into one tree from the root, as a flame graph draws them. With two
 * sets of stacks, each node has values for both. */
#ifndef SVG_FLAME_TREE_H
#define SVG_FLAME_TREE_H

#include "analyse/stacks.h"

enum { METRICS = METRIC_COUNT + 1, FLAME_DEPTH_MAX = 1000 };

/* Text of a box. Frames share a box if they have the same name and module, and all or none are
 * inlined. A static function shares no box with another file's. */
struct flame_frame {
    const char *name;   // All strings are interned in the tree.
    const char *place;  // The file, as in path_tails, if several functions have the name; else "".
    const char *module; // Base name; "" if unknown.
    const char *file;   // "" if unknown.
    uint32_t function;  // Equal in a function's frames, inlined or not.
    bool inlined;
};

/* Inclusive values by metric, never negative. A parent is at least as wide as its children
 * together. */
struct flame_node {
    uint32_t parent;         // Smaller than the node's own index. The root, 0, is its own parent.
    uint32_t frame;          // Index into frames; 0 for the root.
    uint32_t line;           // 0 if unknown, or if merged frames differ.
    uint32_t depth;          // 0 for the root.
    int64_t before[METRICS]; // 0 without a first side.
    int64_t after[METRICS];
    int64_t width[METRICS]; // Sum, over its stacks, of the larger side's value.
};

struct flame_tree {
    struct flame_frame *frames;
    size_t frame_count;
    struct flame_node *nodes; // Parents precede their children.
    size_t node_count;
    size_t cut_count; // Number of nodes left out as too small or too deep.
    uint32_t depth;   // Largest depth.
    bool two_sided;
};

struct flame_side {
    const struct profile *p;
    const struct stacks *stacks;
    struct tag_roots roots; // Boxes to add between the root and the stacks.
};

/* Merge BEFORE (or NULL) and AFTER into *RET. A node below 1/CUT_FRACTION of the root in every
 * metric is left out with everything above it in the picture. Everything in *RET is from ARENA. */
void flame_tree_build(const struct flame_side *before, const struct flame_side *after,
                      int64_t cut_fraction, struct arena *arena, struct flame_tree *ret);

#endif
