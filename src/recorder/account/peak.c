/* peak.c: has the slow paths of peak.h, and detects a new maximum with several threads.
 *
 * With several threads no thread sees live bytes exactly. Each thread has a part of live bytes,
 * t->live_bytes. While this part is within the thread's span, its changes stay unpublished. When
 * the part leaves the span, the thread *flushes*: it publishes two words. Other threads read these
 * words, and the sums of each word over all threads:
 *
 *     published_bytes     its part when last published          the sum: nearly live bytes
 *     slack_bytes    its slack: by how much its part may   the sum of both: an upper bound of
 *                    exceed the published one              live bytes
 *
 * A thread exchanges a word atomically and adds the difference to its sum. So the sums are correct
 * even if several threads change one word, in any order.
 *
 *     far      The total of both sums is within the peak. So there is no new maximum, whatever
 *              the threads keep back. The room up to the peak is divided among them; a thread that
 *              has used up its part and finds no room left calls the others.
 *     called   All others must flush before their next event. The caller itself adds their
 *              unpublished changes to the sum and takes their slack back, because they may sleep,
 *              or have ended.
 *     near     Spans are so small that the sum of published bytes equals live bytes to within half
 *              of the allowed error. When it exceeds the peak, it is the new peak. After some
 *              flushes, if there is room again, the mode becomes far. The sooner near is entered
 *              again, the longer it lasts.
 *
 * Accuracy of the peak. R is the peak for which the counters have saved values. When R was raised,
 * live bytes really were R. Live bytes never exceeded bound_bytes of the header, which is the
 * largest value so far of the peak and of the total of both sums. So the true peak lies between the
 * two, and a reader reports their distance. While far, the total does not exceed the peak. While
 * near, with a slack of s for each of n threads, the total is at most n * s above the published
 * sum, and R at most n * s below it: that makes 2 * n * s, which is the allowed error. If an event
 * is in flight when another thread calls, the event counts as later than the call: its thread
 * flushes before its next event.
 *
 * R never exceeds bound_bytes, at any time. The sum may fall between two readings, when another
 * thread publishes a free. So a thread reads the sum once, raises bound_bytes to the sum plus the
 * slack, and only then raises R (raise_peak). If a signal handler jumps out in between, bound_bytes
 * remains an upper bound. A single thread may raise R while a second thread joins. After raising R,
 * the first thread checks for other threads again. The second thread sets multi before it reads R.
 * So at least one thread sees the other's store.
 *
 * The allowed error is a 1024th of the peak. If the error is small and live bytes stay close to the
 * peak, every event flushes, and each flush moves a cache line between processors. So the error is
 * doubled after some thousand flushes, if more than one in 64 events flushes; when flushes have
 * become rare, it is halved. The doubled error is at most 64 KiB and at most a 16th of the peak,
 * but a 1024th of the peak is always allowed.
 *
 * Threads that free one another's blocks do not flush more often than other threads. A thread whose
 * part rises reaches the end of its span sooner, but the sums and the room up to the peak stay the
 * same. In bench/micro.c, whether or not threads free one another's blocks, one event in 285
 * flushes with two threads, and one in 155 with four. Without flushes the benchmark takes the same
 * time (internals/performance.md).
 *
 * Spans are bounded far from the peak as well, so that the timeline and snapshots have live bytes
 * to within LIMIT_PEAK_ERROR_BYTES, or a 1024th of the peak.
 *
 * A single thread counts exactly without these modes (peak.h) and leaves bound_bytes at 0. The
 * second thread first publishes the values of the first thread, which may have no event for a long
 * time. */
#include "account/peak.h"

#include "account/account_state.h"
#include "account/history.h"

enum peak_mode {
    PEAK_CALLED = 0,
    PEAK_NEAR = 1,
    PEAK_FAR = 2,
};

/* Maximum growth that a single thread leaves unpublished. It is small because the timeline contains
 * published bytes only. */
#define ALONE_SLACK_BYTES (LIMIT_PEAK_ERROR_BYTES / 4)

enum {
    PEAK_ERROR_SHIFT = 10, // The allowed error is the peak shifted right by this many bits.
    // If far lasts for fewer than FAR_FLUSHES flushes per thread, the next near lasts twice as long
    // as before. Near lasts one flush per thread at first, and at most 1 << NEAR_SHIFT_MAX.
    FAR_FLUSHES = 4,
    NEAR_SHIFT_MAX = 6,
    // Number of flushes after which another thread calls again, because a handler may have jumped
    // out of the first call.
    CALL_FLUSHES = 64,
    // The error grows only after FLOOR_FLUSHES flushes plus FLOOR_TICK_FLUSHES for every
    // LIMIT_TICK_EVENTS events.
    FLOOR_FLUSHES = 2048,
    FLOOR_TICK_FLUSHES = LIMIT_TICK_EVENTS / 64,
    // The error shrinks after FLOOR_TICKS times LIMIT_TICK_EVENTS events, if fewer than FLOOR_TICKS
    // flushes occurred.
    FLOOR_TICKS = 1024,
    FLOOR_SHIFT = 4, // The floor of the error is at most the peak shifted right by this many bits.
    FLOOR_FIRST_BYTES = 16,
};

/* --- Errors and their shares ------------------------------------------------------------------ */

static int64_t
peak_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Round down to a power of 2, so that the slack seldom changes. */
static int64_t
peak_rounded(int64_t bytes)
{
    return bytes > 0 ? (int64_t)1 << (63 - __builtin_clzll((uint64_t)bytes)) : 0;
}

static int64_t
near_error(void)
{
    return peak_larger(load_relaxed(&state->header->shared.peak_bytes) >> PEAK_ERROR_SHIFT,
                       load_relaxed(&account_state()->floor_bytes));
}

static int64_t
far_error(void)
{
    return peak_larger(load_relaxed(&state->header->shared.peak_bytes) >> PEAK_ERROR_SHIFT,
                       LIMIT_PEAK_ERROR_BYTES);
}

/* Return each thread's share of ERROR, to use as slack. Half of ERROR covers the bytes that are
 * unpublished when the peak is raised, the other half the bytes that are unpublished before. */
static int64_t
share_of(int64_t error)
{
    return peak_rounded(error / 2 >> load_relaxed(&account_state()->share_shift));
}

/* Adapt the floor of the error so that flushes stay rare and the error small. */
static COLD void
fit_floor(uint32_t flushes)
{
    uint64_t events = load_relaxed(&account_state()->ticked_events) -
                      load_relaxed(&account_state()->floor_ticked);
    uint64_t ticks = events / LIMIT_TICK_EVENTS;
    uint32_t since = flushes - load_relaxed(&account_state()->floor_flushes);
    int64_t floor = load_relaxed(&account_state()->floor_bytes);
    int64_t most = load_relaxed(&state->header->shared.peak_bytes) >> FLOOR_SHIFT;

    if (since > FLOOR_FLUSHES + ticks * FLOOR_TICK_FLUSHES)
        floor = 2 * peak_larger(near_error(), FLOOR_FIRST_BYTES / 2);
    else if (ticks >= FLOOR_TICKS && since < ticks)
        floor /= 2;
    else
        return;
    if (most > LIMIT_PEAK_ERROR_BYTES)
        most = LIMIT_PEAK_ERROR_BYTES;
    store_relaxed(&account_state()->floor_bytes, floor < most ? floor : most);
    store_relaxed(&account_state()->floor_flushes, flushes);
    add_relaxed(&account_state()->floor_ticked, events);
}

/* --- Maxima ----------------------------------------------------------------------------------- */

/* Raise *WORD to VALUE. Return false if *WORD is already as high. */
static bool
raise_bytes(int64_t *word, int64_t value)
{
    int64_t current = load_relaxed(word);

    while (value > current)
        if (cas_acq_rel(word, &current, value))
            return true;
    return false;
}

/* Raise the peak to VALUE. Return false if the peak is already as high. LIVE_MAX is the upper bound
 * of live bytes that was read together with VALUE. With several threads, first raise bound_bytes to
 * LIVE_MAX. */
static bool
raise_peak(struct disk_shared *shared, int64_t value, int64_t live_max)
{
    if (value <= load_relaxed(&shared->peak_bytes))
        return false;
    if (load_relaxed(&state->multi))
        raise_bytes(&shared->bound_bytes, live_max);
    if (!raise_bytes(&shared->peak_bytes, value))
        return false;
    // Paired with peak_share, which sets multi and then reads the peak: one of the two threads sees
    // the other's store.
    if (load_seq_cst(&state->multi))
        raise_bytes(&shared->bound_bytes, live_max);
    return true;
}

COLD void
peak_catch_up(struct thread *t, struct disk_counter *c)
{
    // Keep this order: an announcement that follows belongs to a newer epoch, hence to the next
    // call.
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

/* --- Publishing live bytes and slack ---------------------------------------------------------- */

/* Publish T's live bytes, without remainder. */
static void
publish_part(struct thread *t)
{
    int64_t part = load_relaxed(&t->live_bytes);

    add_relaxed(&account_state()->sums.published_bytes,
                part - exchange_seq_cst(&t->published_bytes, part));
}

/* Publish SPARE as T's slack: T's live bytes will exceed the published ones by at most SPARE. */
static void
set_slack(struct thread *t, int64_t slack)
{
    if (load_relaxed(&t->slack_bytes) != slack)
        add_relaxed(&account_state()->sums.slack_bytes,
                    slack - exchange_seq_cst(&t->slack_bytes, slack));
}

/* Return an upper bound of live bytes. Call after publishing T's live bytes and slack. If two
 * threads do both concurrently, the later one sees the values of both. */
static int64_t
top_bytes(void)
{
    return load_relaxed(&account_state()->sums.published_bytes) +
           load_relaxed(&account_state()->sums.slack_bytes);
}

static void
set_span(struct thread *t, int64_t low, int64_t high)
{
    t->live_low = low;
    t->live_span = (uint64_t)(high - low);
}

/* Publish T's live bytes and set its slack to 0, on behalf of the owner, which may have no event
 * for long. Invalidates T, so that its owner reads the new state before its next event. */
static void
peak_collect(struct thread *t)
{
    thread_invalidate(t);
    publish_part(t);
    set_slack(t, 0);
    // The owner may have refreshed T in between, and the values that it published were just
    // overwritten. Invalidate T again.
    if (load_relaxed(&t->ready) != THREAD_STALE)
        thread_invalidate(t);
}

/* Publish the maximum that T has seen as the single thread. Call after T's live bytes were
 * published. */
static void
publish_for(struct thread *t)
{
    int64_t seen = load_relaxed(&t->at_peak) ? load_relaxed(&account_state()->sums.published_bytes)
                                             : load_relaxed(&t->peak_seen);

    raise_peak(t->shared, seen, seen);
}

static COLD void
collect_all(bool were_alone)
{
    uint32_t rows = thread_row_count();

    for (uint32_t i = 0; i < rows; i++) {
        struct thread *t = load_acquire(&account_state()->threads[i]);

        if (t == NULL)
            continue;
        peak_collect(t);
        if (were_alone)
            publish_for(t);
    }
}

COLD void
peak_collect_ended(struct thread *t)
{
    peak_collect(t);
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

/* Set T's span while it is the only thread. The span is as large as the timeline allows, and ends
 * at the maximum. */
static void
set_span_alone(struct thread *t)
{
    int64_t published = load_relaxed(&t->published_bytes), high = published + ALONE_SLACK_BYTES;

    t->live_besides = load_relaxed(&account_state()->sums.published_bytes) - published;
    if (!t->at_peak && t->peak_seen - t->live_besides < high)
        high = t->peak_seen - t->live_besides;
    set_span(t, published - ALONE_SLACK_BYTES, high);
}

static void
flush_single(struct thread *t)
{
    int64_t unpublished = t->live_bytes - load_relaxed(&t->published_bytes);

    if (!t->at_peak && t->live_besides + t->live_bytes > t->peak_seen) {
        t->raised_from = t->peak_seen;
        t->raised_after = load_relaxed(&t->shared->peak_epoch);
        epoch_raise(&t->shared->peak_epoch);
        signal_fence(); // If a handler jumps out before this store, the next maximum
                        // raises the epoch again.
        store_relaxed(&t->at_peak, true);
    }
    if (unpublished > ALONE_SLACK_BYTES || unpublished < -ALONE_SLACK_BYTES) {
        publish_part(t);
        peak_publish(t);
    }
    set_span_alone(t);
}

/* --- Several threads -------------------------------------------------------------------------- */

/* Flush T in the mode far: set its span, and its slack if that should change. Return false if the
 * room between live bytes and the peak is too small for T's slack. */
static bool
flush_far(struct thread *t)
{
    int64_t part = t->live_bytes, least = share_of(near_error()), most = share_of(far_error());
    int64_t peak = load_relaxed(&t->shared->peak_bytes);
    int64_t slack = load_relaxed(&t->slack_bytes);
    int64_t room = peak - top_bytes();
    // The shift allows for more threads than exist, and not all of them allocate.
    int64_t fair = peak_rounded((room + slack) * 2 >> load_relaxed(&account_state()->share_shift));

    if (fair > most)
        fair = most;
    if (room < 0 || fair > slack) {
        if (fair < least)
            return false;
        slack = fair;
        set_slack(t, slack);
        if (top_bytes() > peak)
            return false;
    }
    // A decrease that is not published adds no error, so the span extends far downwards.
    set_span(t, part - most, part + slack);
    return true;
}

/* Double the duration of near if near is entered again soon after far; else halve the duration. */
static void
fit_near(uint32_t flushes)
{
    uint32_t shift = load_relaxed(&account_state()->near_shift);
    uint32_t far = flushes - load_relaxed(&account_state()->far_since);

    if (far < (uint32_t)FAR_FLUSHES << load_relaxed(&account_state()->share_shift))
        shift += shift < NEAR_SHIFT_MAX;
    else
        shift -= shift > 0;
    store_relaxed(&account_state()->near_shift, shift);
}

/* Return true if all threads have published their live bytes. If no thread has called them yet,
 * call them now. FLUSHES is the number of this flush. */
static bool
is_near(uint32_t flushes)
{
    // Read the mode after the sum was changed. The mode becomes far before any thread gets a larger
    // span. So if the mode is not far here, the sum lacks at most the allowed error.
    uint32_t mode = load_acquire(&account_state()->peak_mode);

    if (mode == PEAK_NEAR)
        return true;
    if (mode == PEAK_FAR ? !cas_acq_rel(&account_state()->peak_mode, &mode, (uint32_t)PEAK_CALLED)
                         : flushes % CALL_FLUSHES != 0)
        return false;
    collect_all(false);
    fit_near(flushes);
    store_relaxed(&account_state()->near_since, flushes);
    mode = PEAK_CALLED;
    cas_acq_rel(&account_state()->peak_mode, &mode, (uint32_t)PEAK_NEAR);
    return true;
}

/* Switch to far if near has lasted long enough and each thread can have more slack than when
 * near. */
static void
leave_near(const struct thread *t, uint32_t flushes, int64_t slack)
{
    uint32_t shift = load_relaxed(&account_state()->share_shift), mode = PEAK_NEAR;
    uint32_t since = flushes - load_relaxed(&account_state()->near_since);
    int64_t room = load_relaxed(&t->shared->peak_bytes) - top_bytes();

    if (since >> load_relaxed(&account_state()->near_shift) >> shift != 0 &&
        room > slack << shift &&
        cas_acq_rel(&account_state()->peak_mode, &mode, (uint32_t)PEAK_FAR))
        store_relaxed(&account_state()->far_since, flushes);
}

/* Raise the peak to the sum of published bytes if that is higher. */
static void
look_for_peak(struct thread *t)
{
    int64_t published = load_relaxed(&account_state()->sums.published_bytes);
    int64_t slack = load_relaxed(&account_state()->sums.slack_bytes);

    // Read the sum only once: it may fall before a second reading.
    if (raise_peak(t->shared, published, published + peak_larger(slack, 0)))
        epoch_raise(&t->shared->peak_epoch);
}

static void
flush_multi(struct thread *t)
{
    uint32_t flushes;
    int64_t slack;

    publish_part(t);
    // Two concurrent flushes may count as one.
    flushes = load_relaxed(&account_state()->sums.flushes) + 1;
    store_relaxed(&account_state()->sums.flushes, flushes);
    if (unlikely(flushes % CALL_FLUSHES == 0))
        fit_floor(flushes);
    if (load_acquire(&account_state()->peak_mode) == PEAK_FAR && flush_far(t))
        return;
    if (is_near(flushes))
        look_for_peak(t);
    slack = share_of(near_error());
    set_slack(t, slack);
    // Publish the slack before the thread uses it.
    raise_bytes(&t->shared->bound_bytes, top_bytes());
    set_span(t, t->live_bytes - slack, t->live_bytes + slack);
    leave_near(t, flushes, slack);
}

void
peak_flush(struct thread *t)
{
    if (!load_relaxed(&state->multi))
        flush_single(t);
    else
        flush_multi(t);
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
    uint32_t before = load_relaxed(&account_state()->share_shift), shift = 1;
    uint32_t threads = load_relaxed(&account_state()->live_threads);

    // Compare powers of two, so that not every new thread invalidates all others.
    while ((uint32_t)1 << shift < threads + 1)
        shift++;
    store_relaxed(&account_state()->share_shift, shift);
    or_relaxed(&state->header->compatible, (uint64_t)DISK_COMPATIBLE_BOUND);
    if (threads > 1 && !load_relaxed(&state->multi)) {
        store_relaxed(&account_state()->floor_ticked,
                      load_relaxed(&account_state()->ticked_events));
        exchange_seq_cst(&state->multi, 1u); // Set multi before the peak is read; paired with
                                             // raise_peak.
        collect_all(true);
        store_release(&account_state()->peak_mode, (uint32_t)PEAK_NEAR);
        raise_bytes(&state->header->shared.bound_bytes,
                    peak_larger(load_relaxed(&state->header->shared.peak_bytes), 1));
    } else if (shift > before && load_relaxed(&state->multi)) {
        thread_invalidate_all();
    }
}

void
peak_refresh(struct thread *t)
{
    if (!load_relaxed(&state->multi)) {
        set_span_alone(t);
        return;
    }
    // Publish the maximum that the thread has seen while it was the only thread.
    peak_publish(t);
    store_relaxed(&t->at_peak, false);
    raise_bytes(&t->shared->bound_bytes, load_relaxed(&t->shared->peak_bytes));
    flush_multi(t);
}

/* --- Undoing the latest event ----------------------------------------------------------------- */

/* Undo the block's maximum, while T is the only thread and no counter has saved values for the
 * present maximum. */
static bool
take_back_alone(struct thread *t, int64_t size_bytes)
{
    int64_t live;

    if (!t->at_peak)
        return false;
    store_relaxed(&t->live_bytes, t->live_bytes - size_bytes);
    live = t->live_besides + t->live_bytes;
    if (live <= t->raised_from) {
        // The previous maximum remains the peak, and the values saved for it are complete.
        live = t->raised_from;
        store_relaxed(&t->shared->peak_epoch, t->raised_after);
        store_relaxed(&t->at_peak, false);
    }
    store_relaxed(&t->peak_seen, live);
    if (load_relaxed(&t->shared->peak_bytes) > live)
        store_relaxed(&t->shared->peak_bytes, live);
    // The span is centred on the published bytes, which may still include the block.
    publish_part(t);
    set_span_alone(t);
    return true;
}

bool
peak_take_back(struct thread *t, const struct disk_counter *c, uint64_t size_bytes)
{
    // C must record its values for a snapshot first.
    if (peak_is_behind(t, c))
        return false;
    return !load_relaxed(&state->multi) && take_back_alone(t, (int64_t)size_bytes);
}
