/* nodes.c: interning frames.
 *
 * The nodes are in the file; the index to find a child is private memory:
 *
 *     children[parent]   one cache line: up to NODES_FANOUT children, frame beside node id
 *     overflow[level]    hash tables of node ids for parents with more children, each level
 *                        four times the one before; a node lies in any level, within one
 *                        window from its hash
 *
 * Lock-free. A thread prepares a node completely, then publishes its id by a CAS on the first
 * free place of the line (or window), then fills in the frame beside it. Whoever meets an id
 * without a frame reads the frame from the node itself, so that no child is added twice to a
 * line. Two threads that overflow at the same instant into different levels may add a child
 * twice; the loader merges equal nodes.
 *
 * A node that lost the race is left in the file, unreachable and without counts.
 */
#include "monitor/nodes.h"

#include "base/atomics.h"
#include "base/hash.h"
#include "monitor/file.h"
#include "monitor/mem.h"

enum { LEVEL_FIRST = 4096, LEVEL_SHIFT = 2, WINDOW = 16 };

bool
nodes_start(void)
{
    struct table *t = &state->tables[DISK_NODES];

    state->children =
        mem_private(t->max_bytes / sizeof(struct disk_node) * sizeof(struct children));
    if (state->children == NULL || table_take(t, DISK_NODE_FIRST) != 0)
        return false;
    // Sites 1 to 4 belong to "other"; the tree cannot be without them.
    for (uint32_t i = 0; i < DISK_SIZE_CLASSES; i++)
        state->nodes[DISK_NODE_OTHER].site[i] = i + 1;
    state->sites = DISK_SIZE_CLASSES + 1;
    return true;
}

/* A new node, complete but not reachable. */
static uint32_t
make_node(uint32_t parent, uint64_t frame, uint32_t flags)
{
    uint64_t id = table_take(&state->tables[DISK_NODES], 1);
    struct disk_node *n;

    if (id == TABLE_NONE)
        return 0;
    n = &state->nodes[id];
    n->parent = parent;
    n->flags = flags;
    store_release(&n->frame, frame);
    return (uint32_t)id;
}

static uint32_t *
level_table(uint32_t level)
{
    uint32_t *table = load_acquire(&state->overflow[level]);
    uint32_t *none = NULL;
    size_t size_bytes = sizeof(uint32_t) * ((size_t)LEVEL_FIRST << (LEVEL_SHIFT * level));

    if (table != NULL)
        return table;
    table = mem_private(size_bytes);
    if (table == NULL || cas_acq_rel(&state->overflow[level], &none, table))
        return table;
    mem_release(table, size_bytes);
    return none;
}

static inline uint64_t
level_mask(uint32_t level)
{
    return ((uint64_t)LEVEL_FIRST << (LEVEL_SHIFT * level)) - 1;
}

static inline uint64_t
hash_child(uint32_t parent, uint64_t frame)
{
    return hash_u64(frame ^ (uint64_t)parent << 32);
}

static inline bool
is_child(uint32_t node, uint32_t parent, uint64_t frame)
{
    return state->nodes[node].frame == frame && state->nodes[node].parent == parent;
}

/* The child in the overflow tables; 0 if it is not there. */
static uint32_t
overflow_find(uint32_t parent, uint64_t frame)
{
    uint64_t hash = hash_child(parent, frame);

    for (uint32_t level = 0; level < countof(state->overflow); level++) {
        uint32_t *table = load_acquire(&state->overflow[level]);

        if (table == NULL)
            break;
        for (uint32_t i = 0; i < WINDOW; i++) {
            uint32_t node = load_acquire(&table[(hash + i) & level_mask(level)]);

            if (node == 0)
                break;
            if (is_child(node, parent, frame))
                return node;
        }
    }
    return 0;
}

static uint32_t
overflow_add(uint32_t parent, uint64_t frame, uint32_t flags)
{
    uint64_t hash = hash_child(parent, frame);
    uint32_t made = make_node(parent, frame, flags);

    for (uint32_t level = 0; made != 0 && level < countof(state->overflow); level++) {
        uint32_t *table = level_table(level);

        for (uint32_t i = 0; table != NULL && i < WINDOW; i++) {
            uint32_t *place = &table[(hash + i) & level_mask(level)];
            uint32_t there = load_acquire(place);

            if (there == 0 && cas_acq_rel(place, &there, made))
                return made;
            if (is_child(there, parent, frame))
                return there;
        }
    }
    return DISK_NODE_OTHER;
}

static COLD uint32_t
add_child(uint32_t parent, uint64_t frame, uint32_t flags)
{
    struct children *c = &state->children[parent];
    uint32_t made = 0;
    uint32_t found;

    for (uint32_t i = 0; i < NODES_FANOUT; i++) {
        uint32_t there = load_acquire(&c->node[i]);

        if (there == 0) {
            if (made == 0 && (made = make_node(parent, frame, flags)) == 0)
                return DISK_NODE_OTHER;
            if (cas_acq_rel(&c->node[i], &there, made)) {
                store_release(&c->frame[i], frame);
                return made;
            }
        }
        if (state->nodes[there].frame == frame)
            return there;
    }
    found = load_relaxed(&c->overflowed) ? overflow_find(parent, frame) : 0;
    store_relaxed(&c->overflowed, 1u);
    return found ? found : overflow_add(parent, frame, flags);
}

uint32_t
nodes_find_child(uint32_t parent, uint64_t frame, uint32_t flags)
{
    uint32_t found;

    if (unlikely(parent == DISK_NODE_OTHER))
        return DISK_NODE_OTHER;
    if (load_relaxed(&state->children[parent].overflowed) &&
        (found = overflow_find(parent, frame)) != 0)
        return found;
    return add_child(parent, frame, flags);
}

COLD uint32_t
nodes_make_site(uint32_t *sites, uint32_t size_class)
{
    uint32_t other = size_class + 1; // See nodes_start.
    uint32_t there = load_relaxed(&sites[size_class]);
    uint64_t site;

    if (there != 0) // Another thread's by now, or garbage.
        return nodes_is_site(there) ? there : other;
    // A new site without counters would be lost; in "other" it is at least counted.
    if (load_relaxed(&state->tables[DISK_COUNTERS].full))
        return other;
    site = add_relaxed(&state->sites, UINT64_C(1));
    if (site > LIMIT_SITES) {
        store_relaxed(&state->sites, (uint64_t)LIMIT_SITES + 1);
        return other;
    }
    if (cas_acq_rel(&sites[size_class], &there, (uint32_t)site))
        return (uint32_t)site;
    return nodes_is_site(there) ? there : other;
}
