/* nodes.c: interns frames.
 *
 * The nodes are in the file; the index that finds a child is private memory:
 *
 *     first_children[parent]  one child, frame beside node id, and where the others are
 *     children[more]          one cache line: up to NODES_FANOUT others; few nodes have any
 *     overflow[level]         hash tables of node ids for parents with more children, each level
 *                             four times the one before; a node lies in any level, within one
 *                             window from its hash
 *
 * The first two are arrays of segments (segments.h). The first segment serves 2^20 nodes, and each
 * further segment doubles the array. One reservation for all 2^28 nodes would be 12 GiB of writable
 * memory: strict overcommit refuses it, and a limit on address space would force the recorder to
 * unmap it. The segments cost each lookup one additional comparison.
 *
 * Lock-free. A thread first prepares a node completely. Then it publishes the node's id by a CAS on
 * the first free slot of the line or window, and stores the frame beside the id. A thread that
 * finds an id without a frame reads the frame from the node itself, so that no child is added twice
 * to a line. Two threads that overflow at the same instant into different levels may add a child
 * twice; the loader merges equal nodes.
 *
 * A node whose CAS failed stays in the file, unreachable and without counts. A line whose CAS
 * failed stays unused.
 *
 * A tree that becomes full still records the innermost frames. Whole stacks may use three quarters
 * of it. After that, new stacks keep only their innermost frames, below a node that marks them as
 * shortened. The fuller the tree, the fewer frames they keep:
 *
 *     whole stacks ............................................| 16 | 6 | 2 | 1 | tags
 *     0                                                       3/4                  1
 *
 * Even very many stacks have few different innermost frames, so a nearly full tree still records
 * the function that allocates. The program's code bounds the number of calls that allocate. If even
 * these do not fit, the rest is charged to "other". Existing nodes are used even if the tree is
 * full.
 *
 * A memory limit shortens stacks too, in two steps that depend on the memory left. Sites can run
 * out before nodes, because the ledger stores a site in 22 bits (limits.h). So the same shares
 * apply to sites. The remaining sites are reserved for stacks whose node exists. */
#include "account/nodes.h"

#include "account/account_state.h"
#include "account/file.h"
#include "account/segments.h"
#include "base/atomics.h"
#include "base/hash.h"
#include "platform/mem.h"

enum { LINES_IN_FLIGHT = 4096 };
enum { LEVEL_FIRST = 4096, LEVEL_SHIFT = 2, WINDOW = 16, LEVEL_LEFT_SHARE = 4 };

/* For each use: the 64ths of the tree up to which this use may create nodes, and the number of
 * frames recorded. */
static const struct {
    uint8_t share, frames;
} uses[NODES_USES] = {
    [NODES_WHOLE] = {48, 0},     [NODES_SHORT] = {54, 16},    [NODES_SHORT + 1] = {58, 6},
    [NODES_SHORT + 2] = {60, 2}, [NODES_SHORT + 3] = {62, 1}, [NODES_TAG] = {64, 0},
};
enum { WHOLE_SHARE = 64, SCARCE_SHARE = 24, USES_SHIFT = 24 };
/* A tree of this size gets no further frames that readers hide, even if there is room: such frames
 * would take more memory and time than all others. */
enum { SCARCE_NODES = 3 << 17 };

static const struct segments_shape nodes_shape = {sizeof(struct first_child), NODES_FIRST_BITS};
static const struct segments_shape lines_shape = {sizeof(struct children), NODES_LINES_FIRST_BITS};

static uint64_t
nodes_max(void)
{
    return load_relaxed(&state->tables[DISK_NODES].max_bytes) / sizeof(struct disk_node);
}

/* Return an upper bound of the number of nodes with more than one child. */
static uint64_t
lines_max(void)
{
    return nodes_max() / 2;
}

/* Return the number of records in the first segment of an array of SHAPE, at most COUNT. */
static uint64_t
in_first_segment(struct segments_shape shape, uint64_t count)
{
    uint64_t most = UINT64_C(1) << shape.first_bits;

    return count < most ? count : most;
}

struct first_child *
nodes_far_first_child(uint32_t node)
{
    return segments_at(&account_state()->more_first_children, nodes_shape, node);
}

static struct children *
line_at(uint32_t line)
{
    if (likely(line >> NODES_LINES_FIRST_BITS == 0))
        return &account_state()->children[line];
    return segments_at(&account_state()->more_children, lines_shape, line);
}

/* Prepare the index for node ID. Return false if memory is exhausted. */
static bool
index_node(uint64_t id)
{
    if (unlikely(id >> NODES_FIRST_BITS != 0))
        return segments_make(&account_state()->more_first_children, nodes_shape, id, nodes_max());
    mem_fill(account_state()->first_children, &account_state()->first_children_made,
             (id + 1) * sizeof *account_state()->first_children,
             in_first_segment(nodes_shape, nodes_max()) * sizeof *account_state()->first_children);
    return true;
}

/* Prepare line number LINE. Return false if memory is exhausted. */
static bool
prepare_line(uint64_t line)
{
    if (line >= lines_max())
        return false;
    if (unlikely(line >> NODES_LINES_FIRST_BITS != 0))
        return segments_make(&account_state()->more_children, lines_shape, line, lines_max());
    mem_fill(account_state()->children, &account_state()->children_made,
             (line + 1) * sizeof *account_state()->children,
             in_first_segment(lines_shape, lines_max()) * sizeof *account_state()->children);
    return true;
}

bool
nodes_start(void)
{
    struct table *t = &state->tables[DISK_NODES];

    account_state()->first_children =
        mem_private(in_first_segment(nodes_shape, nodes_max()) * sizeof(struct first_child));
    account_state()->children =
        mem_private(in_first_segment(lines_shape, lines_max()) * sizeof(struct children));
    account_state()->children_used = 1;
    if (account_state()->first_children == NULL || account_state()->children == NULL ||
        table_take(t, DISK_NODE_FIRST) != 0)
        return false;
    // Prefault by writing: writing a page before it is read costs one fault instead of two.
    store_relaxed((volatile uint64_t *)(void *)account_state()->first_children, UINT64_C(0));
    store_relaxed((volatile uint64_t *)(void *)account_state()->children, UINT64_C(0));
    // Reserve sites 1 to 4 for "other": they must always exist.
    for (uint32_t i = 0; i < DISK_SIZE_CLASSES; i++)
        account_state()->nodes[DISK_NODE_OTHER].site[i] = i + 1;
    account_state()->sites = DISK_SIZE_CLASSES + 1;
    return true;
}

void
nodes_give_back(uint64_t before_bytes)
{
    uint64_t before = before_bytes / sizeof(struct disk_node), after = nodes_max();
    // Keep the lines in flight: a thread may be about to use a line below the old maximum.
    uint64_t lines = lines_max() + LINES_IN_FLIGHT;

    mem_shrink(account_state()->first_children,
               in_first_segment(nodes_shape, before) * sizeof(struct first_child),
               in_first_segment(nodes_shape, after) * sizeof(struct first_child));
    mem_shrink(account_state()->children,
               in_first_segment(lines_shape, before / 2) * sizeof(struct children),
               in_first_segment(lines_shape, lines) * sizeof(struct children));
    segments_give_back(&account_state()->more_first_children, nodes_shape, before, after);
    segments_give_back(&account_state()->more_children, lines_shape, before / 2, lines);
}

/* Return true if a node may be created for the use in FLAGS. */
static bool
nodes_is_room(uint32_t flags)
{
    uint32_t use = flags >> USES_SHIFT;

    if (load_relaxed(&state->tables[DISK_NODES].used) >=
            nodes_max() * uses[use].share / WHOLE_SHARE ||
        load_relaxed(&account_state()->sites) >=
            (uint64_t)LIMIT_SITES * uses[use].share / WHOLE_SHARE)
        return false;
    return use <= NODES_SHORT + 1 ? !mem_is_full() : !mem_is_used_up();
}

bool
nodes_are_scarce(void)
{
    uint64_t used = load_relaxed(&state->tables[DISK_NODES].used);

    return used >= SCARCE_NODES || used >= nodes_max() * SCARCE_SHARE / WHOLE_SHARE;
}

/* Create a node that is complete but unreachable. Return 0 if there is no room. */
static uint32_t
make_node(uint32_t parent, uint64_t frame, uint32_t flags)
{
    uint64_t id = nodes_is_room(flags) ? table_take(&state->tables[DISK_NODES], 1) : TABLE_NONE;
    struct disk_node *n;

    if (id == TABLE_NONE)
        return 0;
    if (!index_node(id)) {
        // Refuse later nodes too: they would need the same memory, and each would grow the file in
        // vain.
        store_relaxed(&state->tables[DISK_NODES].full, 1u);
        return 0;
    }
    n = &account_state()->nodes[id];
    n->parent = parent;
    n->flags = flags & (NODES_USE(1) - 1);
    store_release(&n->frame, frame);
    return (uint32_t)id;
}

static uint32_t *
level_table(uint32_t level)
{
    uint32_t *table = load_acquire(&account_state()->overflow[level]);
    uint32_t *none = NULL;
    size_t size_bytes = sizeof(uint32_t) * ((size_t)LEVEL_FIRST << (LEVEL_SHIFT * level));

    if (table != NULL)
        return table;
    // Prefault the whole table: hashing soon touches all pages.
    if (size_bytes > mem_left() / LEVEL_LEFT_SHARE)
        return NULL;
    table = mem_private(size_bytes);
    if (table == NULL || cas_acq_rel(&account_state()->overflow[level], &none, table))
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
    return account_state()->nodes[node].frame == frame &&
           account_state()->nodes[node].parent == parent;
}

/* Return the child in the overflow tables, or 0 if it is not there. */
static uint32_t
overflow_find(uint32_t parent, uint64_t frame)
{
    uint64_t hash = hash_child(parent, frame);

    // Search the largest table first, because it has most of the nodes.
    for (uint32_t level = countof(account_state()->overflow); level-- > 0;) {
        uint32_t *table = load_acquire(&account_state()->overflow[level]);

        if (table == NULL)
            continue;
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

    for (uint32_t level = 0; made != 0 && level < countof(account_state()->overflow); level++) {
        uint32_t *table = level_table(level);

        if (table == NULL)
            break;
        for (uint32_t i = 0; i < WINDOW; i++) {
            uint32_t *place = &table[(hash + i) & level_mask(level)];
            uint32_t current = load_acquire(place);

            if (current == 0 && cas_acq_rel(place, &current, made))
                return made;
            if (is_child(current, parent, frame))
                return current;
        }
    }
    return DISK_NODE_OTHER;
}

/* Return the child of PARENT for FRAME at PLACE, whose frame is cached in *CHILD_FRAME. If the
 * place is free, publish *MADE there, created if it is 0. Return 0 if the place holds another
 * child. */
static uint32_t
find_or_publish(uint32_t *place, uint64_t *child_frame, uint32_t parent, uint64_t frame,
                uint32_t flags, uint32_t *made)
{
    uint32_t current = load_acquire(place);

    if (current == 0) {
        if (*made == 0 && (*made = make_node(parent, frame, flags)) == 0)
            return DISK_NODE_OTHER;
        if (cas_acq_rel(place, &current, *made)) {
            store_release(child_frame, frame);
            return *made;
        }
    }
    return account_state()->nodes[current].frame == frame ? current : 0;
}

/* Return the line with the other children of the node of FIRST, created on first use. Return NULL
 * if there is no room. */
static struct children *
nodes_line_of(struct first_child *first, uint32_t flags)
{
    uint32_t more = load_acquire(&first->more);
    uint64_t taken;

    if (more == 0) {
        // If no node can be created, a line would be useless.
        if (!nodes_is_room(flags) || load_relaxed(&state->tables[DISK_NODES].full))
            return NULL;
        taken = add_relaxed(&account_state()->children_used, UINT64_C(1));
        if (!prepare_line(taken))
            return NULL;
        if (cas_acq_rel(&first->more, &more, (uint32_t)taken))
            more = (uint32_t)taken;
    }
    return line_at(more);
}

static COLD uint32_t
add_child(uint32_t parent, uint64_t frame, uint32_t flags)
{
    struct first_child *first = nodes_first_child(parent);
    uint32_t made = 0;
    uint32_t node = find_or_publish(&first->node, &first->frame, parent, frame, flags, &made);
    struct children *line;

    if (node != 0)
        return node;
    line = nodes_line_of(first, flags);
    if (line == NULL)
        return DISK_NODE_OTHER;
    for (uint32_t i = 0; i < NODES_FANOUT; i++) {
        node = find_or_publish(&line->node[i], &line->frame[i], parent, frame, flags, &made);
        if (node != 0)
            return node;
    }
    node = load_relaxed(&line->overflowed) ? overflow_find(parent, frame) : 0;
    store_relaxed(&line->overflowed, 1u);
    return node ? node : overflow_add(parent, frame, flags);
}

uint32_t
nodes_find_child(uint32_t parent, uint64_t frame, uint32_t flags)
{
    uint32_t more = load_acquire(&nodes_first_child(parent)->more);
    const struct children *line = line_at(more);
    uint32_t found;

    if (unlikely(parent == DISK_NODE_OTHER))
        return DISK_NODE_OTHER;
    if (more != 0) {
        for (uint32_t i = 0; i < NODES_FANOUT; i++)
            if (load_acquire(&line->frame[i]) == frame)
                return load_relaxed(&line->node[i]);
        if (load_relaxed(&line->overflowed) && (found = overflow_find(parent, frame)) != 0)
            return found;
    }
    return add_child(parent, frame, flags);
}

COLD uint32_t
nodes_make_site(uint32_t *sites, uint32_t size_class)
{
    uint32_t other = size_class + 1; // The sites of "other" always exist; see nodes_start.
    uint32_t current = load_relaxed(&sites[size_class]);
    uint64_t site;

    if (current != 0) // Another thread has set it, or another process has corrupted it.
        return nodes_is_site(current) ? current : other;
    // Without counters a new site would lose its events; "other" counts them.
    if (load_relaxed(&state->tables[DISK_COUNTERS].full) || mem_is_used_up())
        return other;
    site = add_relaxed(&account_state()->sites, UINT64_C(1));
    if (site > LIMIT_SITES) {
        store_relaxed(&account_state()->sites, (uint64_t)LIMIT_SITES + 1);
        return other;
    }
    if (cas_acq_rel(&sites[size_class], &current, (uint32_t)site))
        return (uint32_t)site;
    return nodes_is_site(current) ? current : other;
}

/* Return the frame that replaces an address for item number ID of KIND. Set FLAG in the header,
 * because a reader without support for KIND would take the frame for an address. */
static uint64_t
numbered_frame(uint32_t kind, uint32_t id, uint64_t flag)
{
    uint64_t *flags = &state->header->incompatible;

    if (unlikely((load_relaxed(flags) & flag) != flag))
        or_relaxed(flags, flag);
    return (uint64_t)kind << DISK_ADDRESS_BITS | id;
}

static uint64_t
tag_frame(uint32_t tag, uint32_t id)
{
    return numbered_frame(tag, id,
                          tag == DISK_TAG_CALLERS
                              ? DISK_INCOMPATIBLE_TAGS | DISK_INCOMPATIBLE_CALLERS
                              : DISK_INCOMPATIBLE_TAGS);
}

uint64_t
nodes_named(uint32_t record)
{
    return numbered_frame(DISK_NAMED_FRAME, record, DISK_INCOMPATIBLE_NAMED);
}

/* Return the node for the N innermost of FRAMES below ROOT. */
static uint32_t
nodes_make_path(const struct nodes_frame *frames, uint32_t n, uint32_t root, enum nodes_use use)
{
    uint32_t node = root;

    while (n-- > 0)
        node = nodes_child(node, frames[n].frame, frames[n].flags | NODES_USE(use));
    return node;
}

COLD uint32_t
nodes_shorten(const struct nodes_frame *frames, uint32_t count, uint32_t root)
{
    uint32_t node = DISK_NODE_OTHER, cut = DISK_NODE_OTHER;

    static_assert(DISK_SHORTENED >> DISK_ADDRESS_BITS == DISK_NAMED_FRAME, "as numbered_frame has");
    for (uint32_t use = NODES_SHORT; use < NODES_TAG && node == DISK_NODE_OTHER; use++) {
        if (count <= uses[use].frames) {
            node = nodes_make_path(frames, count, root, (enum nodes_use)use);
            continue;
        }
        if (cut == DISK_NODE_OTHER)
            cut = nodes_child(DISK_NODE_TRUNCATED, nodes_named(0), NODES_USE(NODES_TAG));
        node = nodes_make_path(frames, uses[use].frames, cut, (enum nodes_use)use);
    }
    return node;
}

void
nodes_flag(uint32_t node, uint32_t flags)
{
    if (node >= DISK_NODE_FIRST &&
        (load_relaxed(&account_state()->nodes[node].flags) & flags) != flags)
        or_relaxed(&account_state()->nodes[node].flags, flags);
}

uint32_t
nodes_tag(uint32_t node, uint32_t tag, uint32_t id)
{
    return nodes_child(node, tag_frame(tag, id), DISK_NODE_TAG | NODES_USE(NODES_TAG));
}

uint32_t
nodes_make_tag(uint32_t tag, uint32_t id)
{
    uint32_t node =
        make_node(DISK_NODE_OTHER, tag_frame(tag, id), DISK_NODE_TAG | NODES_USE(NODES_TAG));

    for (uint32_t i = 0; node != 0 && i < DISK_SIZE_CLASSES; i++)
        if (nodes_make_site(account_state()->nodes[node].site, i) <= DISK_SIZE_CLASSES)
            return 0;
    return node;
}
