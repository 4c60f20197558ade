/* peak.c: the slow parts of peak.h. */
#include "monitor/peak.h"

bool
peak_share_slack(void)
{
    int64_t peak = load_relaxed(&state->header->shared.peak_bytes);
    int64_t error = peak / 1024 > LIMIT_PEAK_ERROR_BYTES ? peak / 1024 : LIMIT_PEAK_ERROR_BYTES;
    int64_t before = load_relaxed(&state->slack_bytes);
    uint64_t threads = 2;
    int64_t slack;

    // In steps of two, so that not every new thread concerns all others.
    while (threads < load_relaxed(&state->live_threads) + 1)
        threads *= 2;
    // Half of the error is for what threads keep back at the peak, half for what they kept back
    // before.
    slack = error / 2 / (int64_t)threads;
    store_relaxed(&state->slack_bytes, slack);
    return slack < before;
}

/* The span of T's pending bytes: as much as the slack allows, and with one thread no more than
 * there is up to the maximum. */
static void
set_span(struct thread *t)
{
    int64_t slack = load_relaxed(&state->slack_bytes);
    int64_t high = slack;

    if (!load_relaxed(&state->multi) && !t->at_peak) {
        int64_t room = t->peak_seen - load_relaxed(&t->shared->flushed_bytes);

        high = room < slack ? room : slack;
    }
    t->pending_low = -slack;
    t->pending_span = (uint64_t)(high + slack);
}

/* A new maximum of LIVE bytes, unless a higher one is known. */
static bool
raise_peak(struct disk_shared *s, int64_t live)
{
    int64_t peak = load_relaxed(&s->peak_bytes);

    while (live > peak)
        if (cas_acq_rel(&s->peak_bytes, &peak, live))
            return true;
    return false;
}

/* Add T's pending bytes to those of all. Returns live bytes. */
static int64_t
flush(struct thread *t)
{
    int64_t live = add_relaxed(&t->shared->flushed_bytes, t->pending_bytes) + t->pending_bytes;

    t->pending_bytes = 0;
    return live;
}

void
peak_publish(struct thread *t)
{
    if (t->at_peak)
        t->peak_seen = load_relaxed(&t->shared->flushed_bytes) + t->pending_bytes;
    raise_peak(t->shared, t->peak_seen);
}

void
peak_look_up(struct thread *t)
{
    if (load_relaxed(&state->multi)) {
        peak_publish(t);
        t->at_peak = false;
    }
    set_span(t);
}

static void
settle_alone(struct thread *t)
{
    int64_t live = load_relaxed(&t->shared->flushed_bytes) + t->pending_bytes;
    int64_t slack = load_relaxed(&state->slack_bytes);

    if (!t->at_peak && live > t->peak_seen) {
        t->at_peak = true;
        t->raised_from = t->peak_seen;
        // Not alone for ever: a second thread may be adding to it at this moment.
        t->raised_epoch = add_relaxed(&t->shared->peak_epoch, UINT64_C(1));
    }
    if (t->pending_bytes > slack || t->pending_bytes < -slack) {
        flush(t);
        peak_publish(t);
    }
}

void
peak_settle(struct thread *t)
{
    if (!load_relaxed(&state->multi)) {
        settle_alone(t);
    } else {
        int64_t before = load_relaxed(&t->shared->peak_bytes), live = flush(t);

        if (raise_peak(t->shared, live)) {
            t->raised_to = live;
            t->raised_from = before;
            t->raised_epoch = add_relaxed(&t->shared->peak_epoch, UINT64_C(1));
        }
        peak_share_slack();
    }
    set_span(t);
}

/* The maximum is LIVE again, and was reached in EPOCH. */
static void
put_back(struct thread *t, int64_t live, uint64_t epoch)
{
    store_relaxed(&t->shared->peak_bytes, live);
    store_relaxed(&t->shared->peak_epoch, epoch);
}

/* While T is alone, at a maximum no counter has saved for it. */
static bool
take_back_alone(struct thread *t, int64_t size_bytes)
{
    int64_t live;

    if (!t->at_peak)
        return false;
    t->pending_bytes -= size_bytes;
    live = load_relaxed(&t->shared->flushed_bytes) + t->pending_bytes;
    if (live > t->raised_from) {
        // What came before it made the maximum, or makes one without it.
        if (load_relaxed(&t->shared->peak_bytes) > live)
            store_relaxed(&t->shared->peak_bytes, live);
        t->peak_seen = live;
    } else {
        t->at_peak = false;
        t->peak_seen = t->raised_from;
        put_back(t, t->raised_from, t->raised_epoch);
    }
    set_span(t);
    return true;
}

bool
peak_take_back(struct thread *t, struct disk_counter *c, uint64_t size_bytes)
{
    int64_t without = t->raised_to - (int64_t)size_bytes;

    if (!load_relaxed(&state->multi))
        return take_back_alone(t, (int64_t)size_bytes);
    if (load_relaxed(&t->shared->peak_bytes) != t->raised_to ||
        load_relaxed(&t->shared->peak_epoch) != t->raised_epoch + 1)
        return false;
    if (c->peak_epoch == t->raised_epoch + 1) {
        bump_by(&c->peak_bytes, -(int64_t)size_bytes);
        bump_by(&c->peak_blocks, -1);
    }
    if (without > t->raised_from)
        put_back(t, without, t->raised_epoch + 1);
    else
        put_back(t, t->raised_from, t->raised_epoch);
    peak_change(t, -(int64_t)size_bytes);
    return true;
}
