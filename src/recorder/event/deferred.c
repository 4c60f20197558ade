/* deferred.c: holds back the inner blocks that a function of the real allocator requests, until the
 * function returns.
 *
 * Events inside such a function are recorded like any others: an operator new may log, maintain
 * lists, raise an exception, or free other blocks. Only the block that the outermost call returns
 * is recorded differently. It is counted at that call, under its caller, instead of at the inner
 * call that allocated it. Until the call returns, the recorder cannot know which inner block is the
 * result. So it holds inner blocks back, with the sites of their stacks, until the call returns.
 * Then it counts them, except the block that is the result or contains it: an operator may add a
 * header, or divide a large block. A held block that is freed earlier is counted at once.
 *
 *     operator new ── malloc ── 0x500 held back
 *          │       ── malloc ── 0x600 held back
 *          └► 0x510: within 0x500, which is dropped; 0x600 is counted
 *
 * A free by another thread does not find a held block. This case is rare, because functions do not
 * publish blocks before operator new returns. */
#include "event/deferred.h"

#include "account/recent.h"
#include "event/block.h"
#include "event/callers.h"
#include "mixed/language_frames.h"
#include "stack/stack.h"

static void
drop(struct thread *t, uint32_t i)
{
    for (; i + 1 < t->inner_count; i++)
        t->inner[i] = t->inner[i + 1];
    t->inner_count--;
}

/* Count inner block I of T. */
static void
count(struct thread *t, uint32_t i)
{
    struct inner_block b = t->inner[i];
    int64_t change;

    drop(t, i); // Drop the block first: a longjmp out of a handler must not cause a second count.
    block_begins(t, b.p, b.size_bytes, b.odd, nodes_site(b.sites, b.size_bytes), &change);
    peak_change(t, change);
}

/* Return the index of T's inner block that contains P, searched from index MARK on. Return
 * t->inner_count if there is none. */
static uint32_t
source_of(const struct thread *t, uint32_t mark, const void *p)
{
    for (uint32_t i = mark; p != NULL && i < t->inner_count; i++) {
        uintptr_t off = (uintptr_t)p - (uintptr_t)t->inner[i].p;

        if (off == 0 || off < t->inner[i].size_bytes)
            return i;
    }
    return t->inner_count;
}

/* Like source_of, for the result P of a function. P may also be the end of a block that consists of
 * a header only. */
static uint32_t
source_of_result(const struct thread *t, uint32_t mark, const void *p)
{
    uint32_t source = source_of(t, mark, p);

    for (uint32_t i = mark; p != NULL && source == t->inner_count && i < t->inner_count; i++)
        if ((uintptr_t)p - (uintptr_t)t->inner[i].p == t->inner[i].size_bytes)
            return i;
    return source;
}

void
deferred_count(struct thread *t, uint32_t mark)
{
    while (t->inner_count > mark)
        count(t, mark);
}

bool
deferred_resolve(struct thread *t, uint32_t mark, const void *result)
{
    uint32_t source = source_of_result(t, mark, result);
    bool unchanged = false;

    if (source < t->inner_count) {
        unchanged = t->inner[source].p == result && !t->inner[source].odd;
        drop(t, source);
    }
    deferred_count(t, mark);
    return unchanged;
}

void
deferred_add(struct thread *t, void *p, size_t size_bytes, bool odd, struct arch_caller caller)
{
    uint32_t source = source_of(t, 0, p);
    struct inner_block b = {.p = p,
                            .size_bytes = size_bytes,
                            .sites = callers_sites(t, caller),
                            .odd = odd};

    // Drop the block that contains P: an inner function may itself return a part of an inner block.
    if (source < t->inner_count)
        drop(t, source);
    // Count a block from the middle: the result is most likely one of the first or the latest
    // blocks.
    if (t->inner_count == INNER_BLOCKS)
        count(t, INNER_BLOCKS / 2);
    t->inner[t->inner_count++] = b;
}

void
deferred_count_before_free(struct thread *t, const void *p)
{
    uint32_t i = t->inner_count;

    while (i > 0 && t->inner[i - 1].p != p)
        i--;
    if (i == 0)
        return;
    count(t, i - 1);
    // The held blocks after this one were allocated since. Age it by their number, because they are
    // not counted yet.
    for (; i <= t->inner_count; i++)
        recent_begins_unseen(t);
}
