/* peak.h: the exact peak, attributed lazily; and what a counter does before it changes.
 *
 * The epoch rises whenever live bytes come to a new maximum, and with each snapshot. Before its
 * first change in a newer epoch a counter saves its live value, if there has been a new maximum,
 * and writes down all its values, if there has been a snapshot (history.c). So its share of the
 * peak is at any time the saved value if it was saved since the epoch of the peak, else its live
 * value as it is. Nothing is copied when a peak is reached or a snapshot is taken.
 *
 * With one thread every event sees the exact sum. While that only grows (at_peak), each allocation
 * makes a new maximum: all of them share one epoch, in which nothing is saved until the first
 * decrease. So a program that builds up its data pays for none of this. A counter that writes
 * values of a snapshot meanwhile gets the epoch just before that of the peak, so as not to count
 * as saved for it: thus no counter ever has the present epoch while t->at_peak. A snapshot with a
 * newer epoch than the peak's leaves no epoch in between; then the run of maxima ends at the next
 * event, like by a decrease, and the next maximum begins another.
 *
 * With several threads, each keeps changes to itself as long as they lie in a span. Far from the
 * peak that costs no exactness; near it the spans are small, and the most that may have been missed
 * is in the file: peak.c.
 */
#ifndef ACCOUNT_PEAK_H
#define ACCOUNT_PEAK_H

#include "account/thread.h"
#include "base/atomics.h"

/* T gets a new owner, the calling thread. */
void peak_join(struct thread *t);

/* One more thread: share the allowed error out anew, and tell those who must know. */
void peak_share(void);

/* The thread of T has ended: what it kept back goes to the others. */
void peak_collect_ended(struct thread *t);

/* Let T catch up on what it may keep to itself: when T begins, and after thread_tell. */
void peak_look_up(struct thread *t);

/* Let all know of the maximum that T has seen. */
void peak_publish(struct thread *t);

/* T's latest event has added a block of SIZE_BYTES to counter C, and that is to have never been: if
 * it has made a new maximum, take that back, and the bytes out of T's sum. The counter is left to
 * the caller. False: do as for any block that ends.
 *
 * Alone, T knows what the maximum was before. With several threads others may have gone on from a
 * new one and saved for it, so there it stands. */
bool peak_take_back(struct thread *t, const struct disk_counter *c, uint64_t size_bytes);

/* T's live bytes have left their span. */
void peak_settle(struct thread *t);

/* Before counter C of T changes: all that is to be done for a snapshot and the peak. */
void peak_catch_up(struct thread *t, struct disk_counter *c);

/* Save in C what it has to have for EPOCH, which was read before. */
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

/* Has C not changed since before the latest snapshot? The epoch must have been read before. */
static inline bool
peak_is_behind(const struct thread *t, const struct disk_counter *c)
{
    return c->peak_epoch < load_acquire(&t->shared->snapshot_epoch);
}

/* To be called before a block is added to counter C. False: C is as it was, and peak_catch_up must
 * be called. */
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

/* Note that live bytes are about to fall from their maximum. */
static inline void
peak_ends(struct thread *t)
{
    store_relaxed(&t->peak_seen, t->live_besides + t->live_bytes);
    store_relaxed(&t->at_peak, false);
    t->live_span = (uint64_t)(t->live_bytes - t->live_low);
}

/* The same before a block is taken away from counter C. */
static inline bool
peak_prepares_free(struct thread *t, struct disk_counter *c)
{
    uint64_t epoch;

    if (likely(c->peak_epoch == load_relaxed(&t->shared->epoch)))
        return true;
    // No counter has saved in the epoch of a maximum that lasts, so its end is noticed here.
    if (t->at_peak)
        peak_ends(t);
    epoch = load_acquire(&t->shared->epoch);
    if (unlikely(peak_is_behind(t, c)))
        return false;
    peak_save(t, c, epoch);
    return true;
}

/* Like these two, but they call peak_catch_up themselves: for places where a call does no harm. */
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

/* The counters have changed by CHANGE_BYTES; may T keep that to itself? Otherwise peak_settle. */
static inline bool
peak_keeps(struct thread *t, int64_t change_bytes)
{
    int64_t live = t->live_bytes + change_bytes;

    store_relaxed(&t->live_bytes, live);
    return (uint64_t)(live - t->live_low) <= t->live_span;
}

/* To be called after the counters have changed by CHANGE_BYTES. */
static inline void
peak_change(struct thread *t, int64_t change_bytes)
{
    if (unlikely(!peak_keeps(t, change_bytes)))
        peak_settle(t);
}

#endif
