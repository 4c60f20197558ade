/* nodes.h: the call tree, and the sites on it. Lock-free: any thread may call these in an event,
 * also in a signal handler's. */
#ifndef ACCOUNT_NODES_H
#define ACCOUNT_NODES_H

#include "base/atomics.h"
#include "platform/state.h"

/* Make the tree's first nodes and its index when recording starts. False without memory. */
bool nodes_start(void);

/* Unmap the part of the index for nodes that the table of nodes cannot hold any more. BEFORE_BYTES
 * is how large that table could become when the index was made, or last shrunk. One thread at a
 * time. */
void nodes_give_back(uint64_t before_bytes);

/* The first child of one node. Most nodes have no other. */
struct first_child {
    uint64_t frame; // 0 = not filled in yet.
    uint32_t node;  // Atomic; 0 = none.
    uint32_t more;  // Atomic: index of the others in state->children; 0 = none.
};
static_assert(sizeof(struct first_child) == 16, "four nodes to a cache line");

enum { NODES_FANOUT = 5 };

/* The other children of one node, as many as fit in a cache line. */
struct children {
    uint64_t frame[NODES_FANOUT];
    uint32_t node[NODES_FANOUT]; // Filled from the front.
    uint32_t overflowed;         // Atomic: more children are in the overflow tables.
};
static_assert(sizeof(struct children) == 64, "one cache line");

/* What new nodes are for. Each of these may use more of the tree than the one before, so that a
 * tree which fills has room for the innermost frames of all stacks; nodes.c. */
enum nodes_use {
    NODES_WHOLE = 0, // A stack with all of its frames.
    NODES_SHORT = 1, // One with fewer; this and all before NODES_TAG by how many.
    NODES_TAG = 5,
    NODES_USES
};

/* As a part of FLAGS below. */
#define NODES_USE(use) ((uint32_t)(use) << 24)

/* The slow halves of the two functions below. */
uint32_t nodes_find_child(uint32_t parent, uint64_t frame, uint32_t flags);
uint32_t nodes_make_site(uint32_t *sites, uint32_t size_class);

/* Whether SITE may be one of ours. It was read from the file, which another process can write to,
 * and becomes an index. */
static inline bool
nodes_is_site(uint32_t site)
{
    return site - 1 < LIMIT_SITES;
}

/* The child of PARENT for FRAME, added with FLAGS if new; DISK_NODE_OTHER when there is no more
 * room for the use that FLAGS name. */
static inline uint32_t
nodes_child(uint32_t parent, uint64_t frame, uint32_t flags)
{
    const struct first_child *first = &state->first_children[parent];

    if (likely(load_acquire(&first->frame) == frame))
        return load_relaxed(&first->node);
    return nodes_find_child(parent, frame, flags);
}

/* The site, among SITES of a node, of blocks of SIZE_BYTES; one of DISK_NODE_OTHER when there are
 * no more. */
static inline uint32_t
nodes_site(uint32_t *sites, uint64_t size_bytes)
{
    uint32_t size_class = disk_size_class(size_bytes);
    uint32_t site = load_relaxed(&sites[size_class]);

    return likely(nodes_is_site(site)) ? site : nodes_make_site(sites, size_class);
}

/* The node that SITES belong to. */
static inline uint32_t
nodes_of(const uint32_t *sites)
{
    size_t offset = (size_t)((const char *)sites - (const char *)state->nodes->site);

    return (uint32_t)(offset / sizeof *state->nodes);
}

/* Like nodes_child, for a tag, an enum disk_tag, with index ID below NODE. */
uint32_t nodes_tag(uint32_t node, uint32_t tag, uint32_t id);

/* What stands in place of an address for a named frame, of which there is RECORD in the profile. */
uint64_t nodes_named(uint32_t record);

/* A frame of a stack that is not in the tree yet. */
struct nodes_frame {
    uint64_t frame;
    uint32_t flags; // enum disk_node_flags.
};

/* So many frames nodes_shorten looks at, at most. */
enum { NODES_SHORT_FRAMES = 32 };

/* The node of a stack for which there is no room: with its innermost frames alone, as many as there
 * still is room for. It has COUNT frames in all, of which the innermost (no more than
 * NODES_SHORT_FRAMES) are FRAMES, from the innermost out; what hangs on ROOT. DISK_NODE_OTHER when
 * there is no room even for one. */
uint32_t nodes_shorten(const struct nodes_frame *frames, uint32_t count, uint32_t root);

/* Has so much of the tree been used that stacks should have no more frames than readers show? */
bool nodes_are_scarce(void);

/* A native frame turned out to be one of a runtime's: NODE gets FLAGS besides what it has. */
void nodes_flag(uint32_t node, uint32_t flags);

/* A new node for a tag below "other", with all its sites: to be kept by the caller, nodes_tag does
 * not find it. 0 without room. */
uint32_t nodes_make_tag(uint32_t tag, uint32_t id);

#endif
