/* test_tick.c: the events from which the recorder's cost is estimated. The test provides both
 * clocks, of cycles and of processor time: one cycle is a nanosecond. If this fails, the reported
 * overhead contains time during which another program had the processor, or the estimate makes
 * forbidden system calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake_recorder.h"

#include "platform/arch_x86_64.h"

#define arch_cycles() clock_now

static uint64_t clock_now, work_now;
static unsigned work_reads, rested_events;

#include "event/tick.c"

struct budget budget;

void
budget_add(struct thread *t)
{
    (void)t;
}

void
budget_end(void)
{
}

enum { EVENT_CYCLES = 60, BETWEEN_CYCLES = 50000, SLICE_CYCLES = 30000 };

static struct disk_header header;
static struct disk_thread row;
static struct thread thread;

uint64_t
sys_clock_ns(void)
{
    return clock_now;
}

uint64_t
sys_work_ns(void)
{
    work_reads++;
    return work_now;
}

uint64_t
sys_block_signals(void)
{
    return 0;
}

void
sys_unblock_signals(uint64_t mask)
{
    (void)mask;
}

void
file_copy(enum file_copy when)
{
    (void)when;
}

void
limit_poll(uint64_t now_ns)
{
    (void)now_ns;
}

void
history_poll(const struct thread *t, uint64_t now_ns, uint64_t before_ns, int64_t before_bytes)
{
    (void)t, (void)now_ns, (void)before_ns, (void)before_bytes;
}

void
history_rested(const struct thread *t, uint64_t now_ns, uint64_t before_ns)
{
    (void)t, (void)now_ns, (void)before_ns;
    rested_events++;
}

void
history_end(const struct thread *t, uint64_t now_ns, uint64_t before_ns, int64_t before_bytes)
{
    (void)t, (void)now_ns, (void)before_ns, (void)before_bytes;
}

void
peak_publish(struct thread *t)
{
    (void)t;
}

void
request_poll(void)
{
}

void
mem_measure(bool due, unsigned char buffer[MEM_RESIDENT_PAGES])
{
    (void)due, (void)buffer;
}

void
thread_refresh_name(struct thread *t)
{
    (void)t;
}

static int
tick_begin(void **unused)
{
    (void)unused;
    fake_state_begin();
    memset(&header, 0, sizeof header);
    memset(&row, 0, sizeof row);
    memset(&thread, 0, sizeof thread);
    state->header = &header;
    event_state()->next_point_ns = UINT64_MAX;
    thread.disk = &row;
    clock_now = work_now = 1000000;
    work_reads = rested_events = 0;
    return 0;
}

static int
test_tick_end(void **unused)
{
    (void)unused;
    fake_state_end();
    return 0;
}

/* Simulate CYCLES of work by the thread. */
static void
tick_work(uint64_t cycles)
{
    clock_now += cycles;
    work_now += cycles;
}

/* Run one tick: events, then the timed event, during which another program takes STOLEN cycles. */
static void
run_tick(uint64_t event_cycles, uint64_t stolen)
{
    uint64_t began;

    tick_work(BETWEEN_CYCLES);
    began = tick_begins(&thread);
    tick_work(event_cycles);
    clock_now += stolen;
    tick(&thread, began != 0 ? clock_now - began : 0);
}

/* Run ticks until one is timed. */
static void
until_timed(void)
{
    do
        run_tick(EVENT_CYCLES, 0);
    while (thread.timed_phase != 0);
    row.timed_events = row.timed_cycles = 0;
}

/* If this fails, the recorder seems to cost several times as much on a busy machine as on an idle
 * one. */
static void
what_other_programs_take_is_not_counted(void **state_)
{
    (void)state_;
    until_timed();
    for (int i = 0; i < 400; i++)
        run_tick(EVENT_CYCLES, i / 4 % 3 == 0 ? SLICE_CYCLES : 0);
    // One tick in four is timed, and two in three of these are counted.
    assert_in_range(row.timed_events, 60, 70);
    assert_int_equal(row.timed_cycles, row.timed_events * EVENT_CYCLES);
}

/* If this fails, slow events of the recorder itself are missing from its cost. */
static void
a_slow_event_that_had_the_processor_is_counted(void **state_)
{
    (void)state_;
    until_timed();
    run_tick(SLICE_CYCLES, 0);
    assert_int_equal(row.timed_events, 1);
    assert_int_equal(row.timed_cycles, SLICE_CYCLES);
}

/* If this fails, one page fault that waits for a disk dominates the estimated cost of an event. */
static void
an_event_of_a_rare_length_is_not_counted(void **state_)
{
    (void)state_;
    until_timed();
    run_tick(INTERRUPTED_CYCLES, 0);
    assert_int_equal(row.timed_events, 0);
}

/* If this fails, each tick costs a system call. */
static void
the_processor_clock_is_read_for_one_tick_in_four(void **state_)
{
    (void)state_;
    until_timed();
    work_reads = 0;
    for (int i = 0; i < 400; i++)
        run_tick(EVENT_CYCLES, 0);
    assert_int_equal(work_reads, 100);
    assert_int_equal(row.timed_events, 100);
}

/* If this fails, the estimate kills a program that forbids system calls. */
static void
with_a_reserve_no_clock_is_asked(void **state_)
{
    (void)state_;
    account_state()->reserve_bytes = 1;
    until_timed();
    run_tick(SLICE_CYCLES, 0);
    assert_int_equal(row.timed_events, 0);
    assert_int_equal(work_reads, 0);
}

/* If this fails, a program of few events shows events from after a rest during the rest, or a busy
 * program reads the clock at each event. */
static void
events_tick_alone_at_first_and_after_a_rest(void **state_)
{
    (void)state_;
    thread.close_ticks = TICK_CLOSE_EVENTS;
    thread.tick_events = 1;
    for (int i = 0; i < TICK_CLOSE_EVENTS; i++) {
        run_tick(EVENT_CYCLES, 0);
        assert_int_equal(thread.countdown, 1);
    }
    assert_int_equal(rested_events, TICK_CLOSE_EVENTS);
    run_tick(EVENT_CYCLES, 0);
    assert_int_equal(thread.countdown, 2);
    run_tick(EVENT_CYCLES, 0);
    assert_int_equal(thread.countdown, 4);
    assert_int_equal(rested_events, TICK_CLOSE_EVENTS + 1); // No event ticks alone any longer.
    clock_now += TICK_LATE_NS + 1; // Enough time for 16 ticks.
    run_tick(EVENT_CYCLES, 0);
    assert_int_equal(thread.countdown, 1);
    run_tick(EVENT_CYCLES, 0);
    assert_int_equal(thread.countdown, 1);
    assert_int_equal(rested_events, TICK_CLOSE_EVENTS + 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_tick_alone_at_first_and_after_a_rest, tick_begin,
                                        test_tick_end),
        cmocka_unit_test_setup_teardown(what_other_programs_take_is_not_counted, tick_begin,
                                        test_tick_end),
        cmocka_unit_test_setup_teardown(a_slow_event_that_had_the_processor_is_counted, tick_begin,
                                        test_tick_end),
        cmocka_unit_test_setup_teardown(an_event_of_a_rare_length_is_not_counted, tick_begin,
                                        test_tick_end),
        cmocka_unit_test_setup_teardown(the_processor_clock_is_read_for_one_tick_in_four,
                                        tick_begin, test_tick_end),
        cmocka_unit_test_setup_teardown(with_a_reserve_no_clock_is_asked, tick_begin,
                                        test_tick_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
