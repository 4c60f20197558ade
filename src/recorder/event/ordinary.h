/* ordinary.h: the short way of the events that come all the time.
 *
 * An event is ordinary if the thread has a struct and nothing to look up, the event is not the one
 * to be timed, and the block is plain (ledger.h), with counters of this thread that need no new
 * bounds and have nothing to write down for a snapshot. All that is found out before anything is
 * changed, so what is not ordinary can still take the general way (event.c), as if nothing had
 * been. Nothing is called, so that the compiler saves few registers or none.
 */
#ifndef EVENT_ORDINARY_H
#define EVENT_ORDINARY_H

#include "access/counted_blocks.h"
#include "account/count.h"
#include "account/ledger.h"
#include "account/peak.h"
#include "account/recent.h"
#include "account/thread.h"
#include "base/atomics.h"
#include "event/enter.h"

enum ordinary {
    ORDINARY_DONE,
    ORDINARY_TO_SETTLE, // Done but for peak_settle, after which tls.busy must be cleared.
    ORDINARY_NOT,       // Nothing was done.
};

/* Is T joined, with nothing to look up, and the event about to begin not the one to be timed? */
static inline bool
ordinary_thread(const struct thread *t)
{
    return likely(t != NULL) && likely(load_relaxed(&t->ready) == THREAD_READY) &&
           likely(t->countdown != 1);
}

/* The same for a free, which is charged to where the block was allocated, whatever runs now. */
static inline bool
ordinary_thread_frees(const struct thread *t)
{
    static_assert((THREAD_READY & THREAD_APART & 1) && !((THREAD_NOT | THREAD_STALE) & 1), "a bit");
    return likely(t != NULL) && likely((load_relaxed(&t->ready) & 1) != 0) &&
           likely(t->countdown != 1);
}

/* Count P in, a block of SITE, whose counter of T is C. The event has begun, and goes on if it was
 * not ordinary. */
static INLINE enum ordinary
ordinary_alloc(struct thread *t, const void *p, uint64_t size_bytes, uint32_t site,
               struct disk_counter *c)
{
    struct ledger_place at;
    uint32_t entry;

    // Whether it then turns out to be ordinary or not, C is prepared for this event.
    if (unlikely(!count_is_within(c, size_bytes)) || unlikely(!peak_prepares_alloc(t, c)))
        return ORDINARY_NOT;
    at = ledger_plain_place(t->ledger, p);
    if (unlikely(at.leaf == NULL) ||
        unlikely(!ledger_plain_entry(p, size_bytes, site, ledger_slot_at(at), &entry)))
        return ORDINARY_NOT;
    count_prepared_alloc(t, c, size_bytes);
    t->countdown--;
    KEEP(at.index); // Leaf and index fit into registers; the address of the slot would not.
    store_relaxed(ledger_slot_at(at), entry);
    store_relaxed(ledger_plain_birth(at), recent_begins(t, p, entry));
    access_begins(p, size_bytes, false);
    if (unlikely(!peak_keeps(t, (int64_t)size_bytes)))
        return ORDINARY_TO_SETTLE;
    enter_ends();
    return ORDINARY_DONE;
}

static INLINE enum ordinary
ordinary_begun_free(const void *p)
{
    struct thread *t = tls.self;
    struct disk_block *b;
    struct disk_counter *c;
    struct ledger_place at;
    uint32_t site, entry;
    uint64_t size_bytes;
    uint8_t birth;

    if (unlikely(!ordinary_thread_frees(t)) ||
        unlikely((at = ledger_plain_place(t->ledger, p)).leaf == NULL) ||
        unlikely(!ledger_is_plain(entry = load_relaxed(ledger_slot_at(at)), p)))
        return ORDINARY_NOT;
    site = entry & LEDGER_SITE_MASK;
    if (unlikely((b = t->blocks[site / DISK_BLOCK_SITES]) == NULL))
        return ORDINARY_NOT;
    c = &b->counters[site % DISK_BLOCK_SITES];
    KEEP(c);
    if (unlikely(!peak_prepares_free(t, c)))
        return ORDINARY_NOT;
    // Read again, so that no register has to be saved in order to hold it meanwhile.
    KEEP(at.index);
    entry = load_relaxed(ledger_slot_at(at));
    access_ends(p, ((struct ledger_entry){.site = site,
                                          .size_bytes = ledger_plain_size(entry, p)}));
    t->countdown--;
    birth = load_relaxed(ledger_plain_birth(at));
    store_relaxed(ledger_slot_at(at), ledger_ended(entry));
    recent_ends(t, c, p, ledger_ended(entry), birth, 1);
    size_bytes = ledger_plain_size(entry, p);
    count_prepared_free(t, c, size_bytes);
    if (unlikely(!peak_keeps(t, -(int64_t)size_bytes)))
        return ORDINARY_TO_SETTLE;
    enter_ends();
    return ORDINARY_DONE;
}

/* The whole of the free of P, called from SLOT, when tls.busy is BUSY_NO; it is so again unless the
 * peak is to be settled. */
static INLINE enum ordinary
ordinary_free(const void *p, uint64_t slot)
{
    enum ordinary result;

    enter_begins(slot);
    result = ordinary_begun_free(p);
    if (unlikely(result == ORDINARY_NOT))
        enter_ends();
    return result;
}

#endif
