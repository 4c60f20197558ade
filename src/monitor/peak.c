/* peak.c: the slow parts of peak.h. */
#include "monitor/peak.h"

#include "monitor/history.h"

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

static void
raise_to(uint64_t *word, uint64_t value)
{
    uint64_t there = load_relaxed(word);

    while (there < value && !cas_acq_rel(word, &there, value))
        continue;
}

/* Announced before it is raised, so that who sees the new epoch knows what it is for. Who raises it
 * at the same time for something else takes this one, and the next is announced: then some counters
 * do the same once more. */
void
peak_raise_epoch(uint64_t *announced)
{
    uint64_t *epoch = &state->header->shared.epoch;
    uint64_t present = load_relaxed(epoch);

    do
        raise_to(announced, present + 1);
    while (!cas_acq_rel(epoch, &present, present + 1));
}

COLD void
peak_finish_raise(void)
{
    struct disk_shared *s = &state->header->shared;

    raise_to(&s->epoch, load_relaxed(&s->peak_epoch));
}

COLD void
peak_catch_up(struct thread *t, struct disk_counter *c)
{
    // In this order. What is announced after that is for a newer epoch, hence for the next time.
    uint64_t epoch = load_acquire(&t->shared->epoch);
    uint64_t peak = load_acquire(&t->shared->peak_epoch);

    if (t->at_peak && load_acquire(&t->shared->snapshot_epoch) >= peak)
        peak_ends(t);
    history_note(c);
    signal_fence();
    if (t->at_peak)
        store_relaxed(&c->peak_epoch, peak - 1);
    else
        peak_save(t, c, epoch);
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
        t->raised_from = t->peak_seen;
        t->raised_after = load_relaxed(&t->shared->peak_epoch);
        peak_raise_epoch(&t->shared->peak_epoch);
        signal_fence(); // A handler that jumps out in between leaves another maximum to come.
        t->at_peak = true;
    }
    if (t->pending_bytes > slack || t->pending_bytes < -slack) {
        flush(t);
        peak_publish(t);
    }
}

static void
settle_among_others(struct thread *t)
{
    if (raise_peak(t->shared, flush(t)))
        peak_raise_epoch(&t->shared->peak_epoch);
    peak_share_slack();
}

void
peak_settle(struct thread *t)
{
    if (!load_relaxed(&state->multi))
        settle_alone(t);
    else
        settle_among_others(t);
    set_span(t);
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
    if (live <= t->raised_from) {
        // The one before it is the maximum still, and all that was saved for it is there.
        live = t->raised_from;
        store_relaxed(&t->shared->peak_epoch, t->raised_after);
        t->at_peak = false;
    }
    t->peak_seen = live;
    if (load_relaxed(&t->shared->peak_bytes) > live)
        store_relaxed(&t->shared->peak_bytes, live);
    set_span(t);
    return true;
}

bool
peak_take_back(struct thread *t, const struct disk_counter *c, uint64_t size_bytes)
{
    // What it was at a snapshot is to be written down first.
    if (peak_is_behind(t, c))
        return false;
    return !load_relaxed(&state->multi) && take_back_alone(t, (int64_t)size_bytes);
}
