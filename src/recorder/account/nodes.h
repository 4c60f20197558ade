/* nodes.h: finds and adds nodes of the call tree and their sites. All functions are lock-free and
 * thread-safe. Call them in an event; the event may be in a signal handler. */
#ifndef ACCOUNT_NODES_H
#define ACCOUNT_NODES_H

#include "account/account_state.h"
#include "base/atomics.h"
#include "platform/state.h"

/* Create the tree's first nodes and its index when recording starts. Return false if memory is
 * exhausted. */
bool nodes_start(void);

/* Unmap the part of the index for nodes that no longer fit in the table of nodes. BEFORE_BYTES is
 * the table's maximum size when the index was created or last shrunk. Only one thread at a time may
 * call this. */
void nodes_give_back(uint64_t before_bytes);

/* The first child of one node. Most nodes have no other. */
struct first_child {
    uint64_t frame; // 0 = not filled in yet.
    uint32_t node;  // Atomic: node id; 0 = none.
    uint32_t more;  // Atomic: index of the node's other children in account_state()->children; 0 =
                    // none.
};
static_assert(sizeof(struct first_child) == 16, "four nodes to a cache line");

enum { NODES_FANOUT = 5 };

/* The other children of one node, as many as fit in a cache line. */
struct children {
    uint64_t frame[NODES_FANOUT];
    uint32_t node[NODES_FANOUT]; // Filled from the front.
    uint32_t overflowed;         // Atomic: 1 if more children are in the overflow tables.
};
static_assert(sizeof(struct children) == 64, "one cache line");

/* The use of a new node. Each use may fill more of the tree than the previous use. So a nearly full
 * tree still has room for the innermost frames of all stacks; see nodes.c. */
enum nodes_use {
    NODES_WHOLE = 0, // A stack with all its frames.
    NODES_SHORT = 1, // A shortened stack. Each further value up to NODES_TAG records fewer frames.
    NODES_TAG = 5,
    NODES_USES
};

/* Return the bits of USE for the argument FLAGS of the functions below. */
#define NODES_USE(use) ((uint32_t)(use) << 24)

/* log2 of the number of nodes, and of lines of children, in the first segment of the index. A later
 * node costs an additional lookup (segments.h). */
enum { NODES_FIRST_BITS = 20, NODES_LINES_FIRST_BITS = NODES_FIRST_BITS - 1 };
static_assert((uint64_t)LIMIT_NODES <= UINT64_C(1) << (NODES_FIRST_BITS + SEGMENTS_MAX),
              "the segments hold all nodes");

/* Return the entry of the index for NODE, which is not in the first segment. */
struct first_child *nodes_far_first_child(uint32_t node);

/* Return the entry of the index for NODE. */
static inline struct first_child *
nodes_first_child(uint32_t node)
{
    return likely(node >> NODES_FIRST_BITS == 0) ? &account_state()->first_children[node]
                                                 : nodes_far_first_child(node);
}

/* Slow paths of the two functions below. */
uint32_t nodes_find_child(uint32_t parent, uint64_t frame, uint32_t flags);
uint32_t nodes_make_site(uint32_t *sites, uint32_t size_class);

/* Return true if SITE may be a site of this process. Callers use SITE as an index, but read it from
 * the file, which another process can write. */
static inline bool
nodes_is_site(uint32_t site)
{
    return site - 1 < LIMIT_SITES;
}

/* Return the child of PARENT for FRAME. If it is new, add it with FLAGS. Return DISK_NODE_OTHER if
 * there is no room for the use in FLAGS. */
static inline uint32_t
nodes_child(uint32_t parent, uint64_t frame, uint32_t flags)
{
    const struct first_child *first = nodes_first_child(parent);

    if (likely(load_acquire(&first->frame) == frame))
        return load_relaxed(&first->node);
    return nodes_find_child(parent, frame, flags);
}

/* Return the site for blocks of SIZE_BYTES among SITES of a node, or a site of DISK_NODE_OTHER if
 * there is no room. */
static inline uint32_t
nodes_site(uint32_t *sites, uint64_t size_bytes)
{
    uint32_t size_class = disk_size_class(size_bytes);
    uint32_t site = load_relaxed(&sites[size_class]);

    return likely(nodes_is_site(site)) ? site : nodes_make_site(sites, size_class);
}

/* Return the node that SITES belong to. */
static inline uint32_t
nodes_of(const uint32_t *sites)
{
    size_t offset = (size_t)((const char *)sites - (const char *)account_state()->nodes->site);

    return (uint32_t)(offset / sizeof *account_state()->nodes);
}

/* Like nodes_child, for a tag (enum disk_tag) with index ID below NODE. */
uint32_t nodes_tag(uint32_t node, uint32_t tag, uint32_t id);

/* Return the value that a named frame stores in place of an address. RECORD is its record in the
 * profile. */
uint64_t nodes_named(uint32_t record);

/* A frame of a stack that is not in the tree yet. */
struct nodes_frame {
    uint64_t frame;
    uint32_t flags; // enum disk_node_flags.
};

/* Maximum number of frames that nodes_shorten examines. */
enum { NODES_SHORT_FRAMES = 32 };

/* Return a node for the innermost frames of a stack that does not fit as a whole. Record as many
 * frames as there is room for. COUNT is the number of frames of the stack. FRAMES are its innermost
 * frames, innermost first, up to NODES_SHORT_FRAMES. ROOT is the parent of the outermost frame.
 * Return DISK_NODE_OTHER if not even one frame fits. */
uint32_t nodes_shorten(const struct nodes_frame *frames, uint32_t count, uint32_t root);

/* Return true if the tree is so full that new stacks should omit the frames that readers hide. */
bool nodes_are_scarce(void);

/* Add FLAGS to NODE, a native frame that was found to belong to a runtime. */
void nodes_flag(uint32_t node, uint32_t flags);

/* Create a node for a tag below "other", with all its sites. nodes_tag does not find this node, so
 * the caller must store it. Return 0 if there is no room. */
uint32_t nodes_make_tag(uint32_t tag, uint32_t id);

#endif
