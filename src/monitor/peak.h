/* peak.h: the exact peak, attributed lazily.
 *
 * The epoch rises whenever live bytes reach a new maximum. A counter saves its live value before
 * its first change in a newer epoch, so at any time its share of the peak is the saved value if
 * it was saved in the current epoch, else its live value as it is. Nothing is copied when a peak
 * is reached.
 *
 * With one thread every event sees the exact sum. With several, each thread keeps back up to
 * slack_bytes of change; the slack shrinks with the number of threads so that the whole error
 * stays within max(LIMIT_PEAK_ERROR_BYTES, peak / 1024).
 */
#ifndef MONITOR_PEAK_H
#define MONITOR_PEAK_H

#include "base/atomics.h"
#include "monitor/thread.h"

/* Divide the allowed error among the threads. */
void peak_share_slack(void);

/* Flush T's pending bytes and look for a new maximum. */
void peak_flush(struct thread *t);

/* To be called before counter C changes. */
static inline void
peak_save(struct disk_counter *c)
{
    uint64_t epoch = load_relaxed(&state->header->shared.peak_epoch);

    if (likely(c->peak_epoch == epoch))
        return;
    store_relaxed(&c->peak_bytes, (int64_t)(c->allocated_bytes - c->freed_bytes));
    store_relaxed(&c->peak_blocks, (int64_t)(c->allocations - c->frees));
    store_relaxed(&c->peak_epoch, epoch);
}

/* To be called after the counters have changed by CHANGE_BYTES. */
static inline void
peak_change(struct thread *t, int64_t change_bytes)
{
    struct disk_shared *s = &state->header->shared;
    int64_t pending = t->pending_bytes + change_bytes;
    int64_t slack = load_relaxed(&state->slack_bytes);

    t->pending_bytes = pending;
    if (likely(!load_relaxed(&state->multi))) {
        int64_t live = load_relaxed(&s->flushed_bytes) + pending;

        if (live > load_relaxed(&s->peak_bytes)) {
            store_relaxed(&s->peak_bytes, live);
            store_relaxed(&s->peak_epoch, load_relaxed(&s->peak_epoch) + 1);
        }
    }
    if (unlikely(pending > slack || pending < -slack))
        peak_flush(t);
}

#endif
