/* test_gate.c: if this fails, exact recording misses calls, excluded calls are recorded, or frees
 * of recorded blocks are skipped. The gate is inline in every allocation function; its slow path is
 * replaced here and only counts calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake_recorder.h"

#include "sampling/draw.c"
#include "event/gate.h"
#include "event/reentry.h"

struct sample sample;
uint8_t filter_pages[FILTER_PAGES];

static int looks, questions;
static uint64_t looked_at;

enum gate
gate_refill(uint64_t size_bytes, uint64_t slot)
{
    (void)slot;
    looks++;
    looked_at = size_bytes;
    return GATE_SAMPLE;
}

bool
filter_is_nothing(const void *p)
{
    (void)p;
    questions++;
    return false;
}

static int
gate_begin(void **unused)
{
    (void)unused;
    fake_state_begin();
    tls = (struct tls){0};
    sample = (struct sample){0};
    memset(filter_pages, 0, sizeof filter_pages);
    looks = questions = 0;
    return 0;
}

static int
gate_end(void **unused)
{
    (void)unused;
    fake_state_end();
    return 0;
}

/* If this fails, a thread never reads its recording mode, and its first blocks are missing. */
static void
a_new_thread_looks_at_its_first_call(void **unused)
{
    (void)unused;
    assert_int_equal(gate_of(100, 0), GATE_SAMPLE);
    assert_int_equal(looks, 1);
    assert_int_equal(looked_at, 100);
}

/* In exact recording, no call passes the gate or takes the slow path, whatever its size. If this
 * fails, exact recording misses calls, or each call takes the slow path. */
static void
exact_recording_records_every_call(void **unused)
{
    static const uint64_t sizes[] = {0, 1, 100, UINT64_MAX, (uint64_t)1 << 63, INT64_MAX};

    (void)unused;
    tls.exact = 1;
    tls.credit = MODE_EXACT_CREDIT;
    for (int i = 0; i < 600000; i++)
        assert_int_equal(gate_of(sizes[(size_t)i % countof(sizes)], 0), GATE_EXACT);
    assert_int_equal(looks, 0);
    assert_true(tls.credit == MODE_EXACT_CREDIT - 600000);
}

/* If this fails, the gate treats a signal handler that interrupted the recorder as ordinary code,
 * and records its call in the middle of another event. */
static void
exact_recording_looks_when_it_is_busy(void **unused)
{
    (void)unused;
    tls.exact = 1;
    tls.credit = MODE_EXACT_CREDIT;
    tls.busy = REENTRY_IN_RECORDER;
    gate_of(100, 0);
    assert_int_equal(looks, 1);
}

/* The distance to the next sample counts from the end of one block to the end of the next: a charge
 * of exactly the credit still passes. If this fails, samples by bytes are drawn too early or too
 * late, and every estimate is wrong by as much. */
static void
credit_is_spent_by_size(void **unused)
{
    struct draw_mode p = draw_mode(DISK_MODE_BYTES, 4096);

    (void)unused;
    tls.charge_mask = p.mask;
    tls.credit = 101 + 1 + 301;
    assert_int_equal(gate_of(100, 0), GATE_PASS);
    assert_int_equal(gate_of(0, 0), GATE_PASS);
    assert_int_equal(gate_of(300, 0), GATE_PASS);
    assert_int_equal(tls.credit, 0);
    assert_int_equal(gate_of(0, 0), GATE_SAMPLE);
    assert_int_equal(looks, 1);
}

/* If this fails, sampling by calls prefers large blocks, or the distance is one call off. */
static void
credit_is_spent_by_calls(void **unused)
{
    (void)unused;
    tls.charge_mask = draw_mode(DISK_MODE_COUNT, 100).mask;
    tls.credit = 3;
    for (int i = 0; i < 3; i++)
        assert_int_equal(gate_of((uint64_t)1 << (10 * i), 0), GATE_PASS);
    assert_int_equal(gate_of(1, 0), GATE_SAMPLE);
}

/* If this fails, one malloc of an impossible size underflows the credit permanently, and the thread
 * is never sampled again. */
static void
absurd_sizes_leave_the_credit_sane(void **unused)
{
    static const uint64_t sizes[] = {UINT64_MAX, (uint64_t)1 << 63, INT64_MAX, (uint64_t)1 << 62};

    (void)unused;
    tls.charge_mask = draw_mode(DISK_MODE_BYTES, 4096).mask;
    for (size_t i = 0; i < countof(sizes); i++) {
        tls.credit = 1000;
        gate_of(sizes[i], 0);
        assert_true(tls.credit <= 1000 && tls.credit > -((int64_t)1 << 48));
    }
}

/* If this fails, the free of a sampled block is missed, so that it stays live forever; or each free
 * of a sparsely sampled program costs a ledger lookup. */
static void
frees_ask_only_where_samples_live(void **unused)
{
    char *p = (char *)0x123456789000;

    (void)unused;
    assert_false(gate_leaves_out(p)); // Everything is recorded.
    sample.mode = DISK_MODE_BYTES;
    assert_true(gate_leaves_out(p));
    *filter_of(p) = 1;
    assert_int_equal(questions, 0);
    assert_false(gate_leaves_out(p));
    assert_false(gate_leaves_out(p + 4095));
    assert_int_equal(questions, 2);
    assert_true(gate_leaves_out(p + 4096));
    assert_true(gate_leaves_out(p - 1));
    assert_int_equal(questions, 2);
}

/* An operator's call of malloc would be charged as well. If this fails, that call shortens the
 * distance to the next sample, so too few or too many blocks of operators are sampled, and their
 * estimates are wrong. */
static void
requests_inside_move_no_sample(void **unused)
{
    struct reentry_call c = reentry_guard(REENTRY_RECORDED, (struct arch_caller){0});

    (void)unused;
    tls.change = 1;
    tls.charge_mask = draw_mode(DISK_MODE_BYTES, 4096).mask;
    tls.credit = 1000;
    tls.reserve = 300000;
    reentry_save_credit(&c, 2000);
    assert_int_equal(gate_of(2000, 0), GATE_PASS);
    tls.credit = 17; // The slow path would have set these values.
    tls.reserve = 4000;
    reentry_return_credit(&c);
    assert_int_equal(tls.credit, 1000);
    assert_int_equal(tls.reserve, 300000);
    assert_int_equal(c.undo, 0);
}

/* If this fails, a thread that changes its recording mode keeps a distance that was drawn for the
 * previous one. */
static void
a_change_inside_stays(void **unused)
{
    struct reentry_call c = reentry_guard(REENTRY_RECORDED, (struct arch_caller){0});

    (void)unused;
    tls.change = 1;
    tls.credit = 1000;
    reentry_save_credit(&c, 2000);
    tls.change = 2;
    tls.credit = -1;
    tls.reserve = -1;
    reentry_return_credit(&c);
    assert_int_equal(tls.credit, -1);
    assert_int_equal(tls.reserve, -1);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_thread_looks_at_its_first_call, gate_begin, gate_end),
        cmocka_unit_test_setup_teardown(exact_recording_records_every_call, gate_begin, gate_end),
        cmocka_unit_test_setup_teardown(exact_recording_looks_when_it_is_busy, gate_begin,
                                        gate_end),
        cmocka_unit_test_setup_teardown(credit_is_spent_by_size, gate_begin, gate_end),
        cmocka_unit_test_setup_teardown(credit_is_spent_by_calls, gate_begin, gate_end),
        cmocka_unit_test_setup_teardown(absurd_sizes_leave_the_credit_sane, gate_begin, gate_end),
        cmocka_unit_test_setup_teardown(frees_ask_only_where_samples_live, gate_begin, gate_end),
        cmocka_unit_test_setup_teardown(requests_inside_move_no_sample, gate_begin, gate_end),
        cmocka_unit_test_setup_teardown(a_change_inside_stays, gate_begin, gate_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
