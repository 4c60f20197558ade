/* path_ids.c: assigns ids to paths without a node, and finds the nodes that count their blocks.
 *
 * For each frame of the memo, stack.c stores the node of the path that ends there. The node has two
 * uses: it leads to the node of the next inner frame, and it proves that a path is unchanged,
 * because equal nodes mean equal paths. The second use does not require a node. Two kinds of paths
 * have none:
 *
 *     - paths that find no room in the tree;
 *     - paths of C frames in a thread whose stacks get frames of a language. Blocks are charged to
 *       the merged paths (language_path.c), so nodes of C frames alone would fill the tree without
 *       ever having a site.
 *
 * Such paths get *ids* instead of nodes, from a cache whose key is (id of the outer path, frame). A
 * cache miss creates a new id. Equal ids mean equal paths, by induction: as long as an id is in
 * use, it represents one such pair. The converse does not hold. If a path's cache entry was
 * displaced, the path may have several ids, and stacks that extend it are walked once more. So the
 * cache can be small, or even missing. It begins small and grows with the number of ids, so that a
 * short process touches few pages. An id is not reused before the thread has dropped its memo and
 * variant stacks.
 *
 * The blocks of a stack without room are counted at its innermost frames (nodes_shorten), which are
 * available after a walk. */
#include "stack/path_ids.h"

#include "base/atomics.h"
#include "base/hash.h"
#include "platform/mem.h"

enum { PLACES = 1 << 14, PLACES_FIRST = 1 << 8 };

/* When a thread's ids reach this number, the thread is marked stale, so that it drops its ids and
 * starts again. One event needs some 4,000 ids. */
#define ID_LAST (3 * PATH_IDS_FIRST)

struct path_ids {
    struct place {
        uint64_t frame;
        uint32_t outer; // Id or node of the outer path.
        uint32_t id;    // 0 = unused.
    } places[PLACES];
};

static uint32_t
path_ids_new_id(struct thread *t)
{
    if (unlikely(t->path_id_next < PATH_IDS_FIRST))
        t->path_id_next = PATH_IDS_FIRST;
    if (unlikely(t->path_id_next >= ID_LAST))
        thread_invalidate(t);
    return t->path_id_next++;
}

/* Return the number of places in use: at least twice the number of ids, if there are so many. */
static uint32_t
place_count(const struct thread *t)
{
    uint32_t ids = t->path_id_next > PATH_IDS_FIRST ? t->path_id_next - PATH_IDS_FIRST : 0;
    uint32_t count = PLACES_FIRST;

    while (count < PLACES && count < 2 * ids)
        count *= 4;
    return count;
}

static uint32_t
id_of(struct thread *t, uint32_t outer, uint64_t frame)
{
    struct place *p;

    if (unlikely(t->path_ids == NULL) && (t->path_ids = mem_private(sizeof *t->path_ids)) == NULL)
        return path_ids_new_id(t);
    p = &t->path_ids->places[hash_u64(frame ^ (uint64_t)outer << 32) % place_count(t)];
    if (p->frame != frame || p->outer != outer || p->id == 0) {
        // Mark the entry as unused until it is complete, because a handler may jump out of here.
        p->id = 0;
        signal_fence();
        p->frame = frame;
        p->outer = outer;
        signal_fence();
        p->id = path_ids_new_id(t);
    }
    return p->id;
}

void
path_ids_assign(struct thread *t, uint32_t first, uint32_t last)
{
    for (struct stack_frame *f = &t->memo[first]; f <= &t->memo[last]; f++)
        if (f->node == DISK_NODE_OTHER)
            f->node = id_of(t, f - 1 != t->memo ? f[-1].node : t->memo_root, f->frame);
}

/* Append F to FRAMES. Return false if FRAMES is full afterwards. */
static inline bool
path_ids_take(struct nodes_frame *frames, uint32_t *count, const struct stack_frame *f)
{
    frames[(*count)++] = (struct nodes_frame){f->frame, f->flags};
    return *count < NODES_SHORT_FRAMES;
}

COLD uint32_t
path_ids_walked(struct thread *t, uint32_t walked, uint32_t joined, uint32_t root)
{
    struct nodes_frame frames[NODES_SHORT_FRAMES];
    uint32_t count = 0;
    bool more = true;

    if (t->merges)
        return DISK_NODE_OTHER;
    for (uint32_t i = 0; i < walked && more; i++)
        more = path_ids_take(frames, &count, &t->walked[i]);
    for (uint32_t i = joined; i > 0 && more; i--)
        more = path_ids_take(frames, &count, &t->memo[i]);
    return nodes_shorten(frames, walked + joined, root);
}

COLD uint32_t
path_ids_leaf(struct thread *t)
{
    return path_ids_walked(t, 0, t->memo_count, t->memo_root);
}

bool
path_ids_are_used_up(const struct thread *t)
{
    return t->path_id_next >= ID_LAST;
}

COLD void
path_ids_reset(struct thread *t)
{
    for (uint32_t i = 0; t->path_ids != NULL && i < PLACES; i++)
        t->path_ids->places[i].id = 0;
    t->path_id_next = PATH_IDS_FIRST;
}
