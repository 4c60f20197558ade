/* peak.h: finds the exact peak and each counter's share of it, without copying counters at the
 * peak.
 *
 * The epoch rises whenever live bytes reach a new maximum, and with each snapshot. Before its first
 * change in a newer epoch, a counter saves its live value if there has been a new maximum, and
 * writes down all its values if there has been a snapshot (history.c). So a counter's share of the
 * peak is the saved value, if it was saved in the peak's epoch or later; otherwise it is the
 * present live value. No counter is copied when a peak is reached or a snapshot is taken.
 *
 * With one thread every event sees the exact sum of live bytes. While this sum only grows
 * (at_peak), each allocation makes a new maximum. All maxima of such a run share one epoch, and no
 * counter saves values before the first decrease. So a program that builds up its data has no cost
 * for the peak. If a counter records values for a snapshot during the run, it gets the epoch just
 * before the peak's, so that it does not count as saved for the peak. Thus no counter has the
 * present epoch while t->at_peak is set. If a snapshot has a newer epoch than the peak, no epoch
 * lies in between. Then the run of maxima ends at the next event, as after a decrease, and the next
 * maximum begins a new run.
 *
 * With several threads, each thread leaves changes unpublished while they lie in its span. Far from
 * the peak this costs no accuracy. Near the peak the spans are small, and the file contains an
 * upper bound of the true peak; see peak.c. */
#ifndef ACCOUNT_PEAK_H
#define ACCOUNT_PEAK_H

#include "account/thread.h"
#include "base/atomics.h"

/* Initialise T for a new owner, the calling thread. */
void peak_join(struct thread *t);

/* Divide the allowed error among one thread more, and invalidate the threads whose shares
 * change. */
void peak_share(void);

/* Publish the unpublished changes of T, whose thread has ended. */
void peak_collect_ended(struct thread *t);

/* Publish T's values and set a new span. Call when T begins, and after thread_invalidate. */
void peak_refresh(struct thread *t);

/* Publish the maximum that T has seen. */
void peak_publish(struct thread *t);

/* Undo T's latest event, which added a block of SIZE_BYTES to counter C. If the event made a new
 * maximum, restore the previous one, subtract the bytes from T's sum and return true; the caller
 * restores the counter. Otherwise return false, and the caller must count the block as freed. A
 * single thread T has stored the previous maximum, so it can restore it. With several threads,
 * others may have saved values for the new maximum, so it remains. */
bool peak_take_back(struct thread *t, const struct disk_counter *c, uint64_t size_bytes);

/* Flush: T's live bytes have left their span. */
void peak_flush(struct thread *t);

/* Slow path before counter C of T changes: record its values for a snapshot and the peak. */
void peak_catch_up(struct thread *t, struct disk_counter *c);

/* If there has been a new maximum since C last saved its live values, save them. Set C's epoch to
 * EPOCH. Requires that EPOCH was read before this call, so that a maximum in between is not
 * missed. */
static inline void
peak_save(const struct thread *t, struct disk_counter *c, uint64_t epoch)
{
    // A maximum is announced before its epoch: paired with epoch_raise.
    if (likely(c->peak_epoch < load_acquire(&t->shared->peak_epoch))) {
        store_relaxed(&c->peak_bytes, (int64_t)(c->allocated_bytes - c->freed_bytes));
        store_relaxed(&c->peak_blocks, (int64_t)(c->allocations - c->frees));
    }
    signal_fence();
    store_relaxed(&c->peak_epoch, epoch);
}

/* Return true if C has not changed since the latest snapshot, so that its values at the snapshot
 * are not recorded yet. If the caller then stores the epoch in C, it must have read the epoch
 * before this call, so that a snapshot in between is not missed. */
static inline bool
peak_is_behind(const struct thread *t, const struct disk_counter *c)
{
    return c->peak_epoch < load_acquire(&t->shared->snapshot_epoch);
}

/* Prepare counter C for an added block. Return false if C has not changed since the epoch rose and
 * the caller must call peak_catch_up. alloc_at (event.c) itself detects that no value needs
 * saving. */
static inline bool
peak_prepares_alloc(const struct thread *t, struct disk_counter *c)
{
    uint64_t epoch;

    if (likely(c->peak_epoch == load_relaxed(&t->shared->epoch)))
        return true;
    epoch = load_acquire(&t->shared->epoch);
    if (unlikely(peak_is_behind(t, c)))
        return false;
    if (!t->at_peak)
        peak_save(t, c, epoch);
    return true;
}

/* End the run of maxima, because live bytes are about to fall. */
static inline void
peak_ends(struct thread *t)
{
    store_relaxed(&t->peak_seen, t->live_besides + t->live_bytes);
    store_relaxed(&t->at_peak, false);
    t->live_span = (uint64_t)(t->live_bytes - t->live_low);
}

/* Like peak_prepares_alloc, for a block that is about to be removed from counter C. */
static inline bool
peak_prepares_free(struct thread *t, struct disk_counter *c)
{
    uint64_t epoch;

    if (likely(c->peak_epoch == load_relaxed(&t->shared->epoch)))
        return true;
    // No counter has saved values in the epoch of a run of maxima, so this path always detects the
    // end of the run.
    if (t->at_peak)
        peak_ends(t);
    epoch = load_acquire(&t->shared->epoch);
    if (unlikely(peak_is_behind(t, c)))
        return false;
    peak_save(t, c, epoch);
    return true;
}

/* Like peak_prepares_alloc and peak_prepares_free, but call peak_catch_up themselves. Use them
 * where the cost of a call does not matter. */
static inline void
peak_before_alloc(struct thread *t, struct disk_counter *c)
{
    if (unlikely(!peak_prepares_alloc(t, c)))
        peak_catch_up(t, c);
}

static inline void
peak_before_free(struct thread *t, struct disk_counter *c)
{
    if (unlikely(!peak_prepares_free(t, c)))
        peak_catch_up(t, c);
}

/* Add CHANGE_BYTES to T's live bytes. Return true if the change may stay unpublished; otherwise the
 * caller must call peak_flush. */
static inline bool
peak_keeps(struct thread *t, int64_t change_bytes)
{
    int64_t live = t->live_bytes + change_bytes;

    store_relaxed(&t->live_bytes, live);
    return (uint64_t)(live - t->live_low) <= t->live_span;
}

/* Add CHANGE_BYTES to T's live bytes, and flush if necessary. Call after the counters have
 * changed. */
static inline void
peak_change(struct thread *t, int64_t change_bytes)
{
    if (unlikely(!peak_keeps(t, change_bytes)))
        peak_flush(t);
}

#endif
