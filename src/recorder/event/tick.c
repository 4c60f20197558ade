/* tick.c: does the work that depends on time, off the fast path.
 *
 * A thread reads the clock once in LIMIT_TICK_EVENTS events. Two rules bring ticks forward, so that
 * slow programs tick in time while the fast path stays unchanged:
 *  - The countdown adapts. It is 1 for the first TICK_CLOSE_EVENTS events of the process. If a tick
 *    follows the previous one by more than TICK_LATE_NS, the time between them counts as a rest:
 *    the countdown is then 1 for one event per TICK_CLOSE_NS of the rest, but for at most
 *    TICK_CLOSE_EVENTS. After that it doubles while ticks follow within TICK_SOON_NS, and shrinks
 *    in proportion when a tick comes late.
 *  - A thread whose live bytes have changed by TICK_BYTES ticks at once. Such a change goes through
 *    peak_flush.
 * So in a program with few events each event ticks. In a rest the values stay the last tick's. So a
 * snapshot that is taken before the event that ends the rest gets the time of that tick. Small
 * events after a longer burst may still wait for the countdown of the burst.
 *
 * The clock gives the times in the header, the time of the peak (to within a tick) and the
 * timeline, a bounded list of totals. When the list is full, every second point is dropped and the
 * interval doubles. A reader sorts points by time and drops duplicates, so it loses no point if it
 * reads while points move.
 *
 * To estimate the recorder's cost, one event per TIMED_TICKS ticks is timed with the cycle counter.
 * The counter also runs while another thread has the processor. So a long event counts only if its
 * duration agrees with the thread's processor time since the previous tick. That time is read right
 * after the previous tick, because a system call just before the event would slow the event
 * down. */
#include "event/tick.h"

#include "access/counted_blocks.h"
#include "account/account_state.h"
#include "account/file.h"
#include "account/history.h"
#include "account/limit.h"
#include "account/peak.h"
#include "base/atomics.h"
#include "core/core_publish.h"
#include "event/budget.h"
#include "event/event_state.h"
#include "event/request.h"
#include "platform/arch_x86_64.h"
#include "platform/mem.h"
#include "platform/sys.h"

/* An event of SUSPECT_CYCLES, some 3 microseconds, may have been interrupted. An event of
 * INTERRUPTED_CYCLES, some 50 microseconds, was interrupted, or is too rare to represent other
 * events. */
enum {
    NAME_REFRESH_EVENTS = 64 * LIMIT_TICK_EVENTS,
    TIMED_TICKS = 4,
    SUSPECT_CYCLES = 10000,
    INTERRUPTED_CYCLES = 150000,
};

/* These bounds allow for a coarse clock, which advances by 4 to 10 ms. */
#define TICK_SOON_NS (UINT64_C(8) * 1000 * 1000)
#define TICK_LATE_NS (UINT64_C(16) * 1000 * 1000)

/* Duration of idle time that permits one event with a tick. A thread that waits for the processor
 * seems to be idle too, and must hardly slow down. */
#define TICK_CLOSE_NS (UINT64_C(1) * 1000 * 1000)

void
tick_clock(void)
{
    struct disk_header *h = state->header;
    uint64_t now_ns = sys_clock_ns();
    uint64_t cycles = arch_cycles();

    if (likely(cycles != 0)) {
        store_relaxed(&h->last_cycles, cycles);
        store_relaxed(&h->last_cycles_ns, now_ns);
    }
    store_relaxed(&h->shared.last_ns, now_ns - state->start_ns);
    core_record_set_time(now_ns - state->start_ns);
}

/* Drop every second point of the timeline. Return the number of remaining points. */
static uint64_t
thin_out(struct disk_time_point *points)
{
    uint64_t kept = 0;

    for (uint64_t i = 0; i < LIMIT_TIME_POINTS; i += 2)
        points[kept++] = points[i];
    for (uint64_t i = kept; i < LIMIT_TIME_POINTS; i++)
        store_relaxed(&points[i].elapsed_ns, UINT64_C(0));
    return kept;
}

static void
tick_add_point(uint64_t elapsed_ns)
{
    struct table *t = &state->tables[DISK_TIMELINE];
    struct disk_time_point *points = (struct disk_time_point *)(void *)t->base;
    uint64_t index = t->used;

    if (index * sizeof *points >= t->mapped_bytes)
        return;
    points[index].live_bytes = load_relaxed(&account_state()->sums.published_bytes);
    points[index].events = load_relaxed(&account_state()->ticked_events) +
                           load_relaxed(&event_state()->sampled_events);
    store_release(&points[index].elapsed_ns, elapsed_ns);
    t->used = index + 1;
    if (t->used == LIMIT_TIME_POINTS) {
        t->used = thin_out(points);
        event_state()->interval_ns *= 2;
    }
}

static void
timeline(uint64_t elapsed_ns)
{
    uint32_t idle = 0;
    uint64_t mask;

    if (elapsed_ns < load_relaxed(&event_state()->next_point_ns))
        return;
    mask = sys_block_signals();
    if (cas_acq_rel(&event_state()->timeline_busy, &idle, 1u)) {
        tick_add_point(elapsed_ns);
        store_relaxed(&event_state()->next_point_ns, elapsed_ns + event_state()->interval_ns);
        store_release(&event_state()->timeline_busy, 0u);
    }
    sys_unblock_signals(mask);
}

void
tick_poll(struct thread *t)
{
    struct disk_shared *s = &state->header->shared;
    uint64_t epoch = load_relaxed(&s->peak_epoch);
    uint64_t now_ns, before_ns = load_relaxed(&s->last_ns);
    int64_t before_bytes = load_relaxed(&s->flushed_bytes);

    tick_clock();
    now_ns = load_relaxed(&s->last_ns);
    t->ticked_bytes = t->live_bytes;
    store_relaxed(&t->disk->frames_reused, t->frames_reused);
    peak_publish(t);
    store_relaxed(&s->flushed_bytes, load_relaxed(&account_state()->sums.published_bytes));
    if (epoch != load_relaxed(&event_state()->dated_epoch) || t->at_peak) {
        store_relaxed(&event_state()->dated_epoch, epoch);
        store_relaxed(&s->peak_ns, now_ns);
    }
    timeline(now_ns);
    history_poll(t, now_ns, before_ns, before_bytes);
    access_poll();
    limit_poll(now_ns);
    file_copy(FILE_COPY_DUE);
}

COLD void
tick_moved(struct thread *t)
{
    tick_poll(t);
    request_poll();
}

void
tick_end(void)
{
    const struct disk_shared *s = &state->header->shared;
    uint64_t before_ns = load_relaxed(&s->last_ns);

    tick_clock();
    budget_end();
    history_end(tls.self, load_relaxed(&s->last_ns), before_ns, load_relaxed(&s->flushed_bytes));
}

/* Return true if T was on the processor since the previous tick, except for less than half of
 * CYCLES. */
static COLD bool
was_at_work(const struct thread *t, uint64_t cycles)
{
    const struct disk_header *h = state->header;
    uint64_t clock_ns = load_relaxed(&h->last_cycles_ns) - h->start_monotonic_ns;
    uint64_t clock_cycles = load_relaxed(&h->last_cycles) - h->start_cycles;
    uint64_t since_cycles = arch_cycles() - t->work_cycles;

    since_cycles -= since_cycles > cycles / 2 ? cycles / 2 : since_cycles;
    // Use integers: floating-point arithmetic could raise an exception flag that the program reads.
    return t->work_ns != 0 && clock_cycles > 0 &&
           (unsigned __int128)since_cycles * clock_ns <=
               (unsigned __int128)(sys_work_ns() - t->work_ns) * clock_cycles;
}

uint64_t
tick_begins(struct thread *t)
{
    // T has counted no event since its last tick, as history_rested requires.
    if (t->tick_events == 1)
        history_rested(t, sys_clock_ns() - state->start_ns,
                       load_relaxed(&state->header->shared.last_ns));
    return t->timed_phase == 0 ? arch_cycles() : 0;
}

/* Count the timed event, which took CYCLES, unless it was interrupted. */
static void
tick_count_timed(struct thread *t, uint64_t cycles)
{
    if (cycles < SUSPECT_CYCLES || (cycles < INTERRUPTED_CYCLES && was_at_work(t, cycles))) {
        bump(&t->disk->timed_events);
        bump_by(&t->disk->timed_cycles, cycles);
    }
}

/* Prepare to time the event of T's next tick. With a reserve the process must not make system calls
 * (start.c). */
static void
expect_timed(struct thread *t)
{
    t->work_ns = account_state()->reserve_bytes == 0 ? sys_work_ns() : 0;
    t->work_cycles = arch_cycles();
}

/* Return the number of T's next events that tick one by one, after idle time of ELAPSED_NS. */
static uint32_t
close_ticks_after(const struct thread *t, uint64_t elapsed_ns)
{
    uint64_t events = elapsed_ns / TICK_CLOSE_NS;

    if (events < t->close_ticks)
        events = t->close_ticks;
    return events < TICK_CLOSE_EVENTS ? (uint32_t)events : TICK_CLOSE_EVENTS;
}

/* Set the number of events until T's next tick. */
static void
plan_next(struct thread *t)
{
    uint64_t now_ns = load_relaxed(&state->header->shared.last_ns);
    uint64_t elapsed_ns = now_ns > t->ticked_ns ? now_ns - t->ticked_ns : 0;
    uint64_t events = t->tick_events;

    if (elapsed_ns > TICK_LATE_NS) {
        events = events * TICK_LATE_NS / elapsed_ns;
        t->close_ticks = close_ticks_after(t, elapsed_ns);
    }
    if (t->close_ticks > 0) {
        t->close_ticks--;
        events = 1;
    } else if (elapsed_ns < TICK_SOON_NS)
        events *= 2;
    if (events > LIMIT_TICK_EVENTS)
        events = LIMIT_TICK_EVENTS;
    t->ticked_ns = now_ns;
    t->countdown = t->tick_events = events > 0 ? (uint32_t)events : 1;
}

void
tick(struct thread *t, uint64_t cycles)
{
    uint64_t after = add_relaxed(&account_state()->ticked_events, t->tick_events) + t->tick_events;
    uint64_t before = after - t->tick_events;
    bool doubled = after >= LIMIT_TICK_EVENTS && (after ^ before) > before;

    t->countdown = t->tick_events; // Set the countdown first, because a handler may jump out of the
                                   // following calls.
    if (t->timed_phase == 0)
        tick_count_timed(t, cycles);
    t->timed_phase = (t->timed_phase + 1) % TIMED_TICKS;
    if (unlikely(budget.limit != 0))
        budget_add(t);
    tick_poll(t);
    request_poll();
    plan_next(t);
    static_assert(sizeof t->text >= MEM_RESIDENT_PAGES, "the buffer");
    mem_measure(!doubled, (unsigned char *)t->text);
    if (doubled || before / NAME_REFRESH_EVENTS != after / NAME_REFRESH_EVENTS)
        thread_refresh_name(t);
    if (t->timed_phase == 0)
        expect_timed(t);
}
