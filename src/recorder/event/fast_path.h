/* fast_path.h: the second half of a free's fast path, and conditions that the fast paths of malloc
 * and of the program's own heaps share. See event.c. */
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

/* Return true if T has joined, has no pending changes to read, and does not time the event that is
 * about to begin. */
static inline bool
fast_path_is_open(const struct thread *t)
{
    return likely(t != NULL) && likely(load_relaxed(&t->ready) == THREAD_READY) &&
           likely(t->countdown != 1);
}

/* Like fast_path_is_open, for a free. Ignores THREAD_NEEDS_SLOW_PATH, because a free is charged to
 * the site of the allocation. */
static inline bool
fast_path_is_open_to_frees(const struct thread *t)
{
    return likely(t != NULL) && likely((load_relaxed(&t->ready) & THREAD_FREES) != 0) &&
           likely(t->countdown != 1);
}

/* Record the free of P, whose direct entry is at AT, in an event of T. C is T's counter of the
 * site, and has no values to save (peak.h). Return true if the event has ended. If false, the
 * caller must call event_flush. */
static INLINE bool
fast_path_free(struct thread *t, const void *p, struct ledger_place at, struct disk_counter *c)
{
    uint32_t entry;
    uint64_t size_bytes;

    // Read tls.self again, so that no register must be saved to hold it.
    KEEP(at.index);
    entry = load_relaxed(&at.leaf[at.index]);
    access_ends(p, ((struct ledger_entry){.site = entry & LEDGER_PACKED_SITE_MASK,
                                          .size_bytes = ledger_direct_size(entry, p)}));
    t->countdown--;
    store_relaxed(&at.leaf[at.index], entry | LEDGER_ENDED);
    recent_ends_packed(t, c, p, entry);
    size_bytes = count_prepared_free(t, c, ledger_direct_size(entry, p));
    if (unlikely(!peak_keeps(t, -(int64_t)size_bytes)))
        return false;
    reentry_leave();
    return true;
}

#endif
