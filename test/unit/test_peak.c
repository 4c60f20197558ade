/* test_peak.c: another thread acts in the middle of a settle: the test replaces epoch_raise, which
 * the settle calls between two steps. If this fails, the peak of a program with threads exceeds the
 * upper bound that its profile states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake_recorder.h"

#include "account/peak.c"

static struct thread rows[2];
static struct thread *row_pointers[2];
static struct disk_header header;
static void (*meanwhile)(void); // Action of the next call of epoch_raise; NULL = none.

void
epoch_raise(uint64_t *announced)
{
    void (*act)(void) = meanwhile;

    *announced = ++header.shared.epoch;
    meanwhile = NULL;
    if (act != NULL)
        act();
}

void
history_note(struct disk_counter *c)
{
    (void)c;
}

uint32_t
thread_row_count(void)
{
    return 2;
}

void
thread_invalidate(struct thread *t)
{
    t->ready = THREAD_STALE;
}

void
thread_invalidate_all(void)
{
    for (int i = 0; i < 2; i++)
        thread_invalidate(&rows[i]);
}

static int
peak_begin(void **unused)
{
    (void)unused;
    fake_state_begin();
    memset(rows, 0, sizeof rows);
    memset(&header, 0, sizeof header);
    state->header = &header;
    account_state()->threads = row_pointers;
    for (int i = 0; i < 2; i++) {
        row_pointers[i] = &rows[i];
        rows[i].shared = &header.shared;
        rows[i].ready = THREAD_READY;
    }
    return 0;
}

static int
peak_end(void **unused)
{
    (void)unused;
    fake_state_end();
    return 0;
}

static void
assert_bound_holds(void)
{
    assert_true(header.shared.peak_bytes <= header.shared.bound_bytes);
}

/* Free all blocks of thread 1, in two events. Thread 1 has settled before the first. */
static void
the_other_frees(void)
{
    assert_bound_holds();
    for (int i = 0; i < 2; i++) {
        peak_change(&rows[1], -250000);
        assert_bound_holds();
    }
}

/* If this fails, the bound is too low if another thread frees after the sum for the peak is read,
 * but before that for the bound. */
static void
the_bound_holds_when_another_thread_frees(void **unused)
{
    (void)unused;
    state->multi = 1;
    account_state()->peak_mode = PEAK_NEAR;
    peak_change(&rows[1], 500000);
    assert_int_equal(header.shared.peak_bytes, 500000);
    meanwhile = the_other_frees;
    peak_change(&rows[0], 100000);
    assert_null(meanwhile);
    assert_int_equal(header.shared.peak_bytes, 600000);
    assert_bound_holds();
}

static void
the_other_joins(void)
{
    account_state()->live_threads = 2;
    peak_share();
    assert_int_equal(state->multi, 1);
    assert_bound_holds();
}

/* If this fails, the bound is too low if a second thread joins while the first one is about to
 * publish a maximum. */
static void
the_bound_holds_when_another_thread_joins(void **unused)
{
    (void)unused;
    account_state()->live_threads = 1;
    meanwhile = the_other_joins;
    peak_change(&rows[0], 500000);
    assert_null(meanwhile);
    assert_int_equal(header.shared.peak_bytes, 500000);
    assert_bound_holds();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, peak_begin, peak_end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_bound_holds_when_another_thread_frees),
        TEST(the_bound_holds_when_another_thread_joins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
