/* peak.c: the slow parts of peak.h, and how threads come to know of a new maximum.
 *
 * With several threads nobody sees live bytes as they are. Each thread has its own part of them,
 * live_bytes, and keeps changes to itself while they lie in its span; when they leave it the thread
 * *settles*. Others know two words of it, and the sums of both over all threads:
 *
 *     told_bytes     its part when it last told it         the sum: nearly live bytes
 *     spare_bytes    how much more it may have untold      both sums: live bytes are no more
 *
 * A word is changed by an exchange and its sum by the difference, so the sums are right whoever
 * does that, in whatever order.
 *
 *     far      Both sums together are not above the peak. So there is no new maximum, whatever
 *              anybody keeps back. The room up to the peak is shared out; a thread that has used up
 *              its part and finds none left calls.
 *     called   All others must settle before their next event. What they have not told the caller
 *              adds to the sum itself, and their spare is taken back: they may sleep for long, or
 *              have ended.
 *     near     Spans are so small that the sum of what is told is live bytes to within half of the
 *              allowed error. When it is above the peak, it is the new one. After some settles, if
 *              there is room again, it is far. Near takes longer the sooner it came back.
 *
 * How well the peak is known. Live bytes really were what the counters have saved for it, R, when
 * it was raised; and they never were above most_bytes of the header, which is the peak or both sums
 * together, whichever was more at any time. So the true peak lies between the two, and a reader
 * says how far they are apart. Far, both sums are not above the peak. Near, with a slack of s for
 * each of n threads, they are at most n * s above what is told, and R at most n * s below: that
 * makes 2 * n * s, which is the allowed error. An event that is under way while others call counts
 * as not yet made: its thread settles before the next one.
 *
 * R never exceeds most_bytes, not for an instant. The sum may fall between two readings, when
 * another thread tells of a free. So a thread reads the sum once, raises most_bytes to that and the
 * spare, and only then raises R (raise_peak). A signal handler may jump out in between: most_bytes
 * is an upper bound all the same. A thread that was alone may raise R while a second one joins.
 * It looks for others again afterwards; the second one sets multi before it reads R. One of them
 * sees the other.
 *
 * The allowed error is a 1024th of the peak. If it is small and live bytes keep close to the peak,
 * every event settles, and each time a cache line comes from another processor. So when there are
 * some thousand settles and they are more than one in 64 events, the error is doubled; when they
 * have become rare it is halved. It is 64 KiB and a 16th of the peak at the most, or a 1024th.
 *
 * Threads that free one another's blocks settle no more often than others: whose part rises meets
 * the end of its span sooner, but the sums stay as they are, and so does the room. One event in 285
 * settles in either case of bench/micro.c with two threads, one in 155 with four, and without any
 * settles they take as long (internals/performance.md).
 *
 * Far from the peak spans are bounded as well, so that the timeline and snapshots know live bytes
 * to within LIMIT_PEAK_ERROR_BYTES, or a 1024th of the peak.
 *
 * A thread that is alone is exact by itself (peak.h) and leaves most_bytes at 0. The second one
 * first collects what the first one knows, which may not have an event for long.
 */
#include "account/peak.h"

#include "account/epoch.h"
#include "account/history.h"

enum peak_mode {
    PEAK_CALLED = 0,
    PEAK_NEAR = 1,
    PEAK_FAR = 2,
};

/* What a thread that is alone keeps back at the most, because the timeline has what is told. */
#define ALONE_SLACK_BYTES (LIMIT_PEAK_ERROR_BYTES / 4)

enum {
    PEAK_ERROR_SHIFT = 10, // The allowed error is this part of the peak.
    // With fewer settles of each thread while far, near takes twice as long the next time, up to so
    // many doublings of one settle each.
    FAR_SETTLES = 4,
    NEAR_SHIFT_MAX = 6,
    // After so many settles somebody calls again: the thread that called may have jumped out of it.
    CALL_SETTLES = 64,
    // So many settles, and so many more in LIMIT_TICK_EVENTS, may be before the error grows.
    FLOOR_SETTLES = 2048,
    FLOOR_TICK_SETTLES = LIMIT_TICK_EVENTS / 64,
    // If in so many times LIMIT_TICK_EVENTS there are fewer settles than those, it shrinks.
    FLOOR_TICKS = 1024,
    FLOOR_SHIFT = 4, // It does not grow above this part of the peak.
    FLOOR_FIRST_BYTES = 16,
};

/* --- Errors and their shares ------------------------------------------------------------------ */

static int64_t
larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Down to a power of 2: what is promised seldom changes then. */
static int64_t
rounded(int64_t bytes)
{
    return bytes > 0 ? (int64_t)1 << (63 - __builtin_clzll((uint64_t)bytes)) : 0;
}

static int64_t
near_error(void)
{
    return larger(load_relaxed(&state->header->shared.peak_bytes) >> PEAK_ERROR_SHIFT,
                  load_relaxed(&state->floor_bytes));
}

static int64_t
far_error(void)
{
    return larger(load_relaxed(&state->header->shared.peak_bytes) >> PEAK_ERROR_SHIFT,
                  LIMIT_PEAK_ERROR_BYTES);
}

/* The part of ERROR that each thread may keep back. Half of it is for what they keep back at the
 * peak, half for what they kept back before. */
static int64_t
share_of(int64_t error)
{
    return rounded(error / 2 >> load_relaxed(&state->share_shift));
}

/* See to it that settles stay rare, and the error small. */
static COLD void
fit_floor(uint32_t settles)
{
    uint64_t events = load_relaxed(&state->ticked_events) - load_relaxed(&state->floor_ticked);
    uint64_t ticks = events / LIMIT_TICK_EVENTS;
    uint32_t since = settles - load_relaxed(&state->floor_settles);
    int64_t floor = load_relaxed(&state->floor_bytes);
    int64_t most = load_relaxed(&state->header->shared.peak_bytes) >> FLOOR_SHIFT;

    if (since > FLOOR_SETTLES + ticks * FLOOR_TICK_SETTLES)
        floor = 2 * larger(near_error(), FLOOR_FIRST_BYTES / 2);
    else if (ticks >= FLOOR_TICKS && since < ticks)
        floor /= 2;
    else
        return;
    if (most > LIMIT_PEAK_ERROR_BYTES)
        most = LIMIT_PEAK_ERROR_BYTES;
    store_relaxed(&state->floor_bytes, floor < most ? floor : most);
    store_relaxed(&state->floor_settles, settles);
    add_relaxed(&state->floor_ticked, events);
}

/* --- Maxima ----------------------------------------------------------------------------------- */

/* *WORD to VALUE, unless it is that high already. */
static bool
raise_bytes(int64_t *word, int64_t value)
{
    int64_t there = load_relaxed(word);

    while (value > there)
        if (cas_acq_rel(word, &there, value))
            return true;
    return false;
}

/* Raise the peak to VALUE. Return false if it is that high already. LIVE_MAX is the upper bound of
 * live bytes that was read with VALUE. With several threads, raise most_bytes to it first. */
static bool
raise_peak(struct disk_shared *shared, int64_t value, int64_t live_max)
{
    if (value <= load_relaxed(&shared->peak_bytes))
        return false;
    if (load_relaxed(&state->multi))
        raise_bytes(&shared->most_bytes, live_max);
    if (!raise_bytes(&shared->peak_bytes, value))
        return false;
    // Paired with peak_share, which sets multi and then reads the peak: one of the two sees both.
    if (load_seq_cst(&state->multi))
        raise_bytes(&shared->most_bytes, live_max);
    return true;
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

/* --- What is told, and what is promised ------------------------------------------------------- */

/* Tell all of T's part. */
static void
tell(struct thread *t)
{
    int64_t part = load_relaxed(&t->live_bytes);

    add_relaxed(&state->sums.told_bytes, part - exchange_seq_cst(&t->told_bytes, part));
}

/* T's part will not exceed what it has told by more than SPARE. */
static void
promise(struct thread *t, int64_t spare)
{
    if (load_relaxed(&t->spare_bytes) != spare)
        add_relaxed(&state->sums.spare_bytes, spare - exchange_seq_cst(&t->spare_bytes, spare));
}

/* What live bytes are at most. To be asked after telling and promising: of two threads that do so
 * at once, the later one sees what both have told. */
static int64_t
top_bytes(void)
{
    return load_relaxed(&state->sums.told_bytes) + load_relaxed(&state->sums.spare_bytes);
}

static void
set_span(struct thread *t, int64_t low, int64_t high)
{
    t->live_low = low;
    t->live_span = (uint64_t)(high - low);
}

/* Tell for T, whoever has it, what its thread may not tell for long, and take its spare back. The
 * thread has to look up before its next event. */
static void
collect(struct thread *t)
{
    thread_tell(t);
    tell(t);
    promise(t, 0);
    // It may have looked up in between, and told and promised what has now been overwritten.
    if (load_relaxed(&t->ready) != THREAD_STALE)
        thread_tell(t);
}

/* The maximum that T has seen alone. After its part was told. */
static void
publish_for(struct thread *t)
{
    int64_t seen = load_relaxed(&t->at_peak) ? load_relaxed(&state->sums.told_bytes)
                                             : load_relaxed(&t->peak_seen);

    raise_peak(t->shared, seen, seen);
}

static COLD void
collect_all(bool were_alone)
{
    uint32_t rows = thread_row_count();

    for (uint32_t i = 0; i < rows; i++) {
        struct thread *t = load_acquire(&state->threads[i]);

        if (t == NULL)
            continue;
        collect(t);
        if (were_alone)
            publish_for(t);
    }
}

COLD void
peak_collect_ended(struct thread *t)
{
    collect(t);
    if (!load_relaxed(&state->multi))
        publish_for(t);
}

/* --- One thread ------------------------------------------------------------------------------- */

void
peak_publish(struct thread *t)
{
    if (t->at_peak)
        store_relaxed(&t->peak_seen, t->live_besides + t->live_bytes);
    raise_peak(t->shared, t->peak_seen, t->peak_seen);
}

/* T's span while it is alone: as much as the timeline allows, and no more than there is up to the
 * maximum. */
static void
set_span_alone(struct thread *t)
{
    int64_t told = load_relaxed(&t->told_bytes), high = told + ALONE_SLACK_BYTES;

    t->live_besides = load_relaxed(&state->sums.told_bytes) - told;
    if (!t->at_peak && t->peak_seen - t->live_besides < high)
        high = t->peak_seen - t->live_besides;
    set_span(t, told - ALONE_SLACK_BYTES, high);
}

static void
settle_alone(struct thread *t)
{
    int64_t untold = t->live_bytes - load_relaxed(&t->told_bytes);

    if (!t->at_peak && t->live_besides + t->live_bytes > t->peak_seen) {
        t->raised_from = t->peak_seen;
        t->raised_after = load_relaxed(&t->shared->peak_epoch);
        epoch_raise(&t->shared->peak_epoch);
        signal_fence(); // A handler that jumps out in between leaves another maximum to come.
        store_relaxed(&t->at_peak, true);
    }
    if (untold > ALONE_SLACK_BYTES || untold < -ALONE_SLACK_BYTES) {
        tell(t);
        peak_publish(t);
    }
    set_span_alone(t);
}

/* --- Several threads -------------------------------------------------------------------------- */

/* Far, if there is as much room up to the peak as T has to have. */
static bool
settle_far(struct thread *t)
{
    int64_t part = t->live_bytes, least = share_of(near_error()), most = share_of(far_error());
    int64_t peak = load_relaxed(&t->shared->peak_bytes);
    int64_t spare = load_relaxed(&t->spare_bytes);
    int64_t room = peak - top_bytes();
    // The shift counts more threads than there are, and not all of them allocate.
    int64_t fair = rounded((room + spare) * 2 >> load_relaxed(&state->share_shift));

    if (fair > most)
        fair = most;
    if (room < 0 || fair > spare) {
        if (fair < least)
            return false;
        spare = fair;
        promise(t, spare);
        if (top_bytes() > peak)
            return false;
    }
    // Downwards no error comes of it.
    set_span(t, part - most, part + spare);
    return true;
}

/* Near takes longer the sooner it came back. */
static void
fit_near(uint32_t settles)
{
    uint32_t shift = load_relaxed(&state->near_shift);
    uint32_t far = settles - load_relaxed(&state->far_since);

    if (far < (uint32_t)FAR_SETTLES << load_relaxed(&state->share_shift))
        shift += shift < NEAR_SHIFT_MAX;
    else
        shift -= shift > 0;
    store_relaxed(&state->near_shift, shift);
}

/* Have all told what they kept back? Call them, unless another thread does. SETTLES is the number
 * of this one. */
static bool
is_near(uint32_t settles)
{
    // After the sum was changed. It is far before any thread has a larger span, so if it is not far
    // yet, no more was missing from the sum than may be.
    uint32_t mode = load_acquire(&state->peak_mode);

    if (mode == PEAK_NEAR)
        return true;
    if (mode == PEAK_FAR ? !cas_acq_rel(&state->peak_mode, &mode, (uint32_t)PEAK_CALLED)
                         : settles % CALL_SETTLES != 0)
        return false;
    collect_all(false);
    fit_near(settles);
    store_relaxed(&state->near_since, settles);
    mode = PEAK_CALLED;
    cas_acq_rel(&state->peak_mode, &mode, (uint32_t)PEAK_NEAR);
    return true;
}

/* After so many settles, is there room again for each thread to have more than when near? */
static void
leave_near(const struct thread *t, uint32_t settles, int64_t slack)
{
    uint32_t shift = load_relaxed(&state->share_shift), mode = PEAK_NEAR;
    uint32_t since = settles - load_relaxed(&state->near_since);
    int64_t room = load_relaxed(&t->shared->peak_bytes) - top_bytes();

    if (since >> load_relaxed(&state->near_shift) >> shift != 0 && room > slack << shift &&
        cas_acq_rel(&state->peak_mode, &mode, (uint32_t)PEAK_FAR))
        store_relaxed(&state->far_since, settles);
}

/* Make the sum of what is told the peak if it is above it. */
static void
look_for_peak(struct thread *t)
{
    int64_t told = load_relaxed(&state->sums.told_bytes);
    int64_t spare = load_relaxed(&state->sums.spare_bytes);

    // From one reading of the sum: it may fall before it is read again.
    if (raise_peak(t->shared, told, told + larger(spare, 0)))
        epoch_raise(&t->shared->peak_epoch);
}

static void
settle_among_others(struct thread *t)
{
    uint32_t settles;
    int64_t slack;

    tell(t);
    // Two at once may count as one.
    settles = load_relaxed(&state->sums.settles) + 1;
    store_relaxed(&state->sums.settles, settles);
    if (unlikely(settles % CALL_SETTLES == 0))
        fit_floor(settles);
    if (load_acquire(&state->peak_mode) == PEAK_FAR && settle_far(t))
        return;
    if (is_near(settles))
        look_for_peak(t);
    slack = share_of(near_error());
    promise(t, slack);
    // Before anybody uses what was promised.
    raise_bytes(&t->shared->most_bytes, top_bytes());
    set_span(t, t->live_bytes - slack, t->live_bytes + slack);
    leave_near(t, settles, slack);
}

void
peak_settle(struct thread *t)
{
    if (!load_relaxed(&state->multi))
        settle_alone(t);
    else
        settle_among_others(t);
}

/* --- Joining ---------------------------------------------------------------------------------- */

void
peak_join(struct thread *t)
{
    store_relaxed(&t->at_peak, false);
    store_relaxed(&t->peak_seen, load_relaxed(&t->shared->peak_bytes));
}

COLD void
peak_share(void)
{
    uint32_t before = load_relaxed(&state->share_shift), shift = 1;
    uint32_t threads = load_relaxed(&state->live_threads);

    // In steps of two, so that not every new thread concerns all others.
    while ((uint32_t)1 << shift < threads + 1)
        shift++;
    store_relaxed(&state->share_shift, shift);
    or_relaxed(&state->header->compatible, (uint64_t)DISK_COMPATIBLE_MOST);
    if (threads > 1 && !load_relaxed(&state->multi)) {
        store_relaxed(&state->floor_ticked, load_relaxed(&state->ticked_events));
        exchange_seq_cst(&state->multi, 1u); // Before the peak is read: raise_peak.
        collect_all(true);
        store_release(&state->peak_mode, (uint32_t)PEAK_NEAR);
        raise_bytes(&state->header->shared.most_bytes,
                    larger(load_relaxed(&state->header->shared.peak_bytes), 1));
    } else if (shift > before && load_relaxed(&state->multi)) {
        thread_tell_all();
    }
}

void
peak_look_up(struct thread *t)
{
    if (!load_relaxed(&state->multi)) {
        set_span_alone(t);
        return;
    }
    // What it has seen alone since the others came.
    peak_publish(t);
    store_relaxed(&t->at_peak, false);
    raise_bytes(&t->shared->most_bytes, load_relaxed(&t->shared->peak_bytes));
    settle_among_others(t);
}

/* --- Taking back ------------------------------------------------------------------------------ */

/* While T is alone, at a maximum no counter has saved for it. */
static bool
take_back_alone(struct thread *t, int64_t size_bytes)
{
    int64_t live;

    if (!t->at_peak)
        return false;
    store_relaxed(&t->live_bytes, t->live_bytes - size_bytes);
    live = t->live_besides + t->live_bytes;
    if (live <= t->raised_from) {
        // The one before it is the maximum still, and all that was saved for it is there.
        live = t->raised_from;
        store_relaxed(&t->shared->peak_epoch, t->raised_after);
        store_relaxed(&t->at_peak, false);
    }
    store_relaxed(&t->peak_seen, live);
    if (load_relaxed(&t->shared->peak_bytes) > live)
        store_relaxed(&t->shared->peak_bytes, live);
    // The span is around what is told, and that may still have the block.
    tell(t);
    set_span_alone(t);
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
