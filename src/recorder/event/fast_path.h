/* fast_path.h: the fast path for the most frequent events.
 *
 * An event takes this path if the thread has a struct and nothing to look up, if the event is not
 * timed, and if the block is direct (ledger.h), with counters of this thread that need no new
 * bounds and no copy for a snapshot. All conditions are checked before anything changes, so any
 * other event can still take the slow path (event.c) from the start. The fast path calls nothing,
 * so the compiler saves few registers or none. */
#ifndef EVENT_FAST_PATH_H
#define EVENT_FAST_PATH_H

#include "access/counted_blocks.h"
#include "account/count.h"
#include "account/peak.h"
#include "account/recent.h"
#include "account/thread.h"
#include "base/atomics.h"
#include "event/reentry.h"
#include "ledger/ledger.h"

enum fast_path {
    FAST_PATH_DONE,
    FAST_PATH_TO_SETTLE, // Done except for peak_settle; leave the event afterwards.
    FAST_PATH_MISS,      // Nothing was done.
};

/* Return true if T has joined, has nothing to look up, and does not time the event about to
 * begin. */
static inline bool
fast_path_is_open(const struct thread *t)
{
    return likely(t != NULL) && likely(load_relaxed(&t->ready) == THREAD_READY) &&
           likely(t->countdown != 1);
}

/* Like fast_path_is_open, for a free. A free is charged to where the block was allocated, so
 * THREAD_NEEDS_SLOW_PATH does not matter. */
static inline bool
fast_path_is_open_to_frees(const struct thread *t)
{
    static_assert((THREAD_READY & THREAD_NEEDS_SLOW_PATH & 1) && !((THREAD_NOT | THREAD_STALE) & 1),
                  "a bit");
    return likely(t != NULL) && likely((load_relaxed(&t->ready) & 1) != 0) &&
           likely(t->countdown != 1);
}

/* Count the allocation of P at SITE, whose counter in T is C. Requires a begun event; ends it on
 * FAST_PATH_DONE only. */
static INLINE enum fast_path
fast_path_alloc(struct thread *t, const void *p, uint64_t size_bytes, uint32_t site,
                struct disk_counter *c)
{
    struct ledger_place at;
    uint32_t entry;

    // C is then prepared for this event, whether it takes the fast path or not.
    if (unlikely(!count_is_within(c, size_bytes)) || unlikely(!peak_prepares_alloc(t, c)))
        return FAST_PATH_MISS;
    at = ledger_direct_place(t->ledger, t->direct_units, p);
    if (unlikely(at.leaf == NULL) ||
        unlikely(!ledger_direct_entry(p, size_bytes, site, ledger_slot_at(at), &entry)))
        return FAST_PATH_MISS;
    count_prepared_alloc(t, c, size_bytes);
    t->countdown--;
    KEEP(at.index); // Leaf and index fit into registers; the address of the slot would not.
    store_relaxed(ledger_slot_at(at), entry);
    store_relaxed(ledger_direct_birth(at), recent_begins(t, p, entry));
    access_begins(p, size_bytes, false);
    if (unlikely(!peak_keeps(t, (int64_t)size_bytes)))
        return FAST_PATH_TO_SETTLE;
    reentry_leave();
    return FAST_PATH_DONE;
}

static INLINE enum fast_path
fast_path_begun_free(const void *p)
{
    struct thread *t = tls.self;
    struct disk_block *b;
    struct disk_counter *c;
    struct ledger_place at;
    uint32_t site, entry;
    uint64_t size_bytes;
    uint8_t birth;

    if (unlikely(!fast_path_is_open_to_frees(t)) ||
        unlikely((at = ledger_direct_place(t->ledger, t->direct_units, p)).leaf == NULL) ||
        unlikely(!ledger_is_direct(entry = load_relaxed(ledger_slot_at(at)), p)))
        return FAST_PATH_MISS;
    site = entry & LEDGER_SITE_MASK;
    if (unlikely((b = t->blocks[site / DISK_BLOCK_SITES]) == NULL))
        return FAST_PATH_MISS;
    c = &b->counters[site % DISK_BLOCK_SITES];
    KEEP(c);
    if (unlikely(!peak_prepares_free(t, c)))
        return FAST_PATH_MISS;
    // Read it again, so that no register has to be saved to hold it meanwhile.
    KEEP(at.index);
    entry = load_relaxed(ledger_slot_at(at));
    access_ends(p, ((struct ledger_entry){.site = site,
                                          .size_bytes = ledger_direct_size(entry, p)}));
    t->countdown--;
    birth = load_relaxed(ledger_direct_birth(at));
    store_relaxed(ledger_slot_at(at), ledger_ended(entry));
    recent_ends(t, c, p, ledger_ended(entry), birth, 1);
    size_bytes = ledger_direct_size(entry, p);
    count_prepared_free(t, c, size_bytes);
    if (unlikely(!peak_keeps(t, -(int64_t)size_bytes)))
        return FAST_PATH_TO_SETTLE;
    reentry_leave();
    return FAST_PATH_DONE;
}

/* Record the free of P, called from SLOT. Requires REENTRY_IDLE. Leaves the event, except for
 * FAST_PATH_TO_SETTLE. */
static INLINE enum fast_path
fast_path_free(const void *p, uint64_t slot)
{
    enum fast_path result;

    reentry_enter(slot);
    result = fast_path_begun_free(p);
    if (unlikely(result == FAST_PATH_MISS))
        reentry_leave();
    return result;
}

#endif
