/* peak.h: the exact peak, attributed lazily; and the work of a counter before it changes.
 *
 * The epoch rises whenever live bytes reach a new maximum, and with each snapshot. Before its first
 * change in a newer epoch, a counter saves its live value if there has been a new maximum, and
 * writes down all its values if there has been a snapshot (history.c). So its share of the peak is
 * at any time the saved value, if it was saved since the epoch of the peak, else its present live
 * value. Nothing is copied when a peak is reached or a snapshot is taken.
 *
 * With one thread every event sees the exact sum. While that only grows (at_peak), each allocation
 * makes a new maximum. All of these share one epoch, and nothing is saved until the first
 * decrease, so a program that builds up its data pays nothing for the peak. A counter that writes
 * values of a snapshot meanwhile gets the epoch just before the peak's, so that it does not count
 * as saved for the peak. Thus no counter ever has the present epoch while t->at_peak. If a snapshot
 * has a newer epoch than the peak, no epoch lies in between; then the run of maxima ends at the
 * next event, as after a decrease, and the next maximum begins another.
 *
 * With several threads, each keeps changes to itself while they lie in a span. Far from the peak
 * that costs no accuracy. Near the peak the spans are small, and the file holds an upper bound of
 * the true peak: peak.c. */
#ifndef ACCOUNT_PEAK_H
#define ACCOUNT_PEAK_H

#include "account/thread.h"
#include "base/atomics.h"

/* Initialise T for a new owner, the calling thread. */
void peak_join(struct thread *t);

/* Divide the allowed error among one more thread, and invalidate the threads that this concerns. */
void peak_share(void);

/* Publish the unpublished changes of T, whose thread has ended. */
void peak_collect_ended(struct thread *t);

/* Publish T's values and set a new span. Call when T begins, and after thread_invalidate. */
void peak_refresh(struct thread *t);

/* Publish the maximum that T has seen. */
void peak_publish(struct thread *t);

/* Undo T's latest event, which added a block of SIZE_BYTES to counter C. If it made a new maximum,
 * revert that, and subtract the bytes from T's sum; the caller restores the counter. Return false
 * if that is impossible, or there was no new maximum: then handle the block as one that ends.
 *
 * A single thread T has stored the previous maximum. With several threads others may have built on
 * a new maximum and saved values for it, so it remains. */
bool peak_take_back(struct thread *t, const struct disk_counter *c, uint64_t size_bytes);

/* Flush: T's live bytes have left their span. */
void peak_flush(struct thread *t);

/* Slow path before counter C of T changes: record its values for a snapshot and the peak. */
void peak_catch_up(struct thread *t, struct disk_counter *c);

/* Save C's live values if there has been a new maximum since its latest save, and set its epoch to
 * EPOCH. Requires that EPOCH was read before this call: a maximum in between is then not missed. */
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

/* Return true if C has not changed since the latest snapshot, so its values at the snapshot are not
 * recorded yet. A caller that then stores the epoch in C must have read it before this call:
 * a snapshot in between is then not missed. */
static inline bool
peak_is_behind(const struct thread *t, const struct disk_counter *c)
{
    return c->peak_epoch < load_acquire(&t->shared->snapshot_epoch);
}

/* Call before a block is added to counter C. Return false if C is unchanged and the caller must
 * call peak_catch_up. If nothing has to be saved, alloc_at (event.c) finds that out itself. */
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

/* End the run of maxima: live bytes are about to fall. */
static inline void
peak_ends(struct thread *t)
{
    store_relaxed(&t->peak_seen, t->live_besides + t->live_bytes);
    store_relaxed(&t->at_peak, false);
    t->live_span = (uint64_t)(t->live_bytes - t->live_low);
}

/* Like peak_prepares_alloc, before a block is removed from counter C. */
static inline bool
peak_prepares_free(struct thread *t, struct disk_counter *c)
{
    uint64_t epoch;

    if (likely(c->peak_epoch == load_relaxed(&t->shared->epoch)))
        return true;
    // No counter has saved in the epoch of a run of maxima, so this path always detects its end.
    if (t->at_peak)
        peak_ends(t);
    epoch = load_acquire(&t->shared->epoch);
    if (unlikely(peak_is_behind(t, c)))
        return false;
    peak_save(t, c, epoch);
    return true;
}

/* Like peak_prepares_alloc and peak_prepares_free, but call peak_catch_up themselves. For callers
 * where a call does no harm. */
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

/* Call after the counters have changed by CHANGE_BYTES. */
static inline void
peak_change(struct thread *t, int64_t change_bytes)
{
    if (unlikely(!peak_keeps(t, change_bytes)))
        peak_flush(t);
}

#endif
