/* outside.c: what the memo has in place of nodes, and what such stacks are charged to.
 *
 * stack.c remembers for each frame the node of the path that ends there. It needs it for two
 * things: to find the node of the next frame in, and to tell that a path is what it was, because
 * equal nodes mean equal paths. For the latter alone no node is needed. Two kinds of paths have
 * none:
 *
 *     - such for which the tree has no more room;
 *     - paths of C frames in a thread that is asked for frames of a language as well: what is
 *       charged are the merged paths (language_path.c), so that those of C alone would fill the
 *       tree with what no site ever hangs on.
 *
 * They get *ids*, from a cache of (id of the path outside, frame). What is not in the cache gets a
 * new id, so that equal ids still mean equal paths: by induction, since an id stands for one pair
 * only, as long as it is used. The other way round, one path may get several ids, when its entry
 * has been displaced; then stacks that hang on it are walked once more. So the cache can be small,
 * and no harm is done when there is none. Ids never come again before the thread has forgotten all
 * that it remembers.
 *
 * The blocks of a stack for which there was no room are counted at its innermost frames
 * (nodes_shorten), which are at hand when it has been walked.
 */
#include "stack/outside.h"

#include "base/atomics.h"
#include "base/hash.h"
#include "platform/mem.h"

enum { PLACES = 1 << 14 };

/* From here on the thread is told to begin anew. One event needs some 2,000. */
#define ID_LAST (3 * OUTSIDE_FIRST)

struct outside {
    struct place {
        uint64_t frame;
        uint32_t outer; // Id or node of the path outside.
        uint32_t id;    // 0 = unused.
    } places[PLACES];
};

static uint32_t
new_id(struct thread *t)
{
    if (unlikely(t->outside_ids < OUTSIDE_FIRST))
        t->outside_ids = OUTSIDE_FIRST;
    if (unlikely(t->outside_ids >= ID_LAST))
        thread_tell(t);
    return t->outside_ids++;
}

static uint32_t
id_of(struct thread *t, uint32_t outer, uint64_t frame)
{
    struct place *p;

    if (unlikely(t->outside == NULL) && (t->outside = mem_private(sizeof *t->outside)) == NULL)
        return new_id(t);
    p = &t->outside->places[hash_u64(frame ^ (uint64_t)outer << 32) % PLACES];
    if (p->frame != frame || p->outer != outer || p->id == 0) {
        // Unused until all of it is there: a handler may jump out of here.
        p->id = 0;
        signal_fence();
        p->frame = frame;
        p->outer = outer;
        signal_fence();
        p->id = new_id(t);
    }
    return p->id;
}

void
outside_name(struct thread *t, uint32_t first, uint32_t last)
{
    for (struct stack_frame *f = &t->memo[first]; f <= &t->memo[last]; f++)
        if (f->node == DISK_NODE_OTHER)
            f->node = id_of(t, f - 1 != t->memo ? f[-1].node : t->memo_root, f->frame);
}

/* Put F into *AT; false if it is the last that is looked at. */
static inline bool
take(struct nodes_frame *frames, uint32_t *count, const struct stack_frame *f)
{
    frames[(*count)++] = (struct nodes_frame){f->frame, f->flags};
    return *count < NODES_SHORT_FRAMES;
}

COLD uint32_t
outside_walked(struct thread *t, uint32_t walked, uint32_t joined, uint32_t root)
{
    struct nodes_frame frames[NODES_SHORT_FRAMES];
    uint32_t count = 0;
    bool more = true;

    if (t->merges)
        return DISK_NODE_OTHER;
    for (uint32_t i = 0; i < walked && more; i++)
        more = take(frames, &count, &t->walked[i]);
    for (uint32_t i = joined; i > 0 && more; i--)
        more = take(frames, &count, &t->memo[i]);
    return nodes_shorten(frames, walked + joined, root);
}

COLD uint32_t
outside_leaf(struct thread *t)
{
    return outside_walked(t, 0, t->memo_count, t->memo_root);
}

bool
outside_is_worn(const struct thread *t)
{
    return t->outside_ids >= ID_LAST;
}

COLD void
outside_forget(struct thread *t)
{
    for (uint32_t i = 0; t->outside != NULL && i < PLACES; i++)
        t->outside->places[i].id = 0;
    t->outside_ids = OUTSIDE_FIRST;
}
