/* peak.h: the exact peak, attributed lazily.
 *
 * The epoch rises whenever live bytes come to a new maximum. A counter saves its live value before
 * its first change in a newer epoch, so at any time its share of the peak is the saved value if
 * it was saved in the current epoch, else its live value as it is. Nothing is copied when a peak
 * is reached.
 *
 * With one thread every event sees the exact sum. While that only grows (at_peak), each allocation
 * makes a new maximum: all of them share one epoch, in which nothing is saved until the first
 * decrease. So a program that builds up its data pays for none of this.
 *
 * With several threads, each keeps back up to slack_bytes of change; the slack shrinks with the
 * number of threads so that the whole error stays within max(LIMIT_PEAK_ERROR_BYTES, peak / 1024).
 */
#ifndef MONITOR_PEAK_H
#define MONITOR_PEAK_H

#include "base/atomics.h"
#include "monitor/thread.h"

/* Divide the allowed error among the threads. True if each may keep back less than before, which
 * they must be told. */
bool peak_share_slack(void);

/* T begins, or the slack or the number of threads has changed. */
void peak_look_up(struct thread *t);

/* Let all know of the maximum that T has seen. */
void peak_publish(struct thread *t);

/* T's latest event has added a block of SIZE_BYTES to counter C, and that is to have never been: if
 * it has made a new maximum, take that back, and the bytes out of T's sum. The counter is left to
 * the caller. False: do as for any block that ends. With one thread the peak is then what it was;
 * with several, up to what others did in between. */
bool peak_take_back(struct thread *t, struct disk_counter *c, uint64_t size_bytes);

/* T's pending bytes have left their span. */
void peak_settle(struct thread *t);

static inline void
peak_save(const struct thread *t, struct disk_counter *c)
{
    store_relaxed(&c->peak_bytes, (int64_t)(c->allocated_bytes - c->freed_bytes));
    store_relaxed(&c->peak_blocks, (int64_t)(c->allocations - c->frees));
    store_relaxed(&c->peak_epoch, load_relaxed(&t->shared->peak_epoch));
}

/* Has the epoch risen since counter C saved, so that it has to before it changes? It need not while
 * t->at_peak and blocks are only added. */
static inline bool
peak_must_save(const struct thread *t, const struct disk_counter *c)
{
    return c->peak_epoch != load_relaxed(&t->shared->peak_epoch);
}

/* To be called before a block is added to counter C. */
static inline void
peak_before_alloc(const struct thread *t, struct disk_counter *c)
{
    if (unlikely(peak_must_save(t, c)) && !t->at_peak)
        peak_save(t, c);
}

/* Live bytes are about to fall from their maximum. */
static inline void
peak_ends(struct thread *t)
{
    t->peak_seen = load_relaxed(&t->shared->flushed_bytes) + t->pending_bytes;
    t->at_peak = false;
    t->pending_span = (uint64_t)(t->pending_bytes - t->pending_low);
}

/* The same before one is taken away. */
static inline void
peak_before_free(struct thread *t, struct disk_counter *c)
{
    if (likely(!peak_must_save(t, c)))
        return;
    // No counter has saved in the epoch of a maximum that lasts, so its end is noticed here.
    if (t->at_peak)
        peak_ends(t);
    peak_save(t, c);
}

/* The counters have changed by CHANGE_BYTES; may T keep that to itself? Otherwise peak_settle. */
static inline bool
peak_keeps(struct thread *t, int64_t change_bytes)
{
    t->pending_bytes += change_bytes;
    return (uint64_t)(t->pending_bytes - t->pending_low) <= t->pending_span;
}

/* To be called after the counters have changed by CHANGE_BYTES. */
static inline void
peak_change(struct thread *t, int64_t change_bytes)
{
    if (unlikely(!peak_keeps(t, change_bytes)))
        peak_settle(t);
}

#endif
