/* test_budget.c: the choice of the share of callers with --max-overhead. If this fails, recording
 * costs more than the user permits although a smaller share would help, records fewer callers than
 * it may, or changes the share all the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event/budget.c"

struct state *state;
struct sample sample;

bool
mode_callers(uint64_t period, uint32_t *ret_callers)
{
    *ret_callers = (uint32_t)period;
    return true;
}

enum disk_answer
mode_change(const struct draw_mode *mode, uint32_t callers)
{
    (void)mode;
    (void)callers;
    return DISK_ANSWER_DONE;
}

struct draw_mode
draw_mode(uint64_t mode, uint64_t period)
{
    return (struct draw_mode){.mode = (uint32_t)mode, .period = period};
}

uint64_t
host_number(const char *name)
{
    (void)name;
    return 0;
}

uint64_t
sys_process_work_ns(void)
{
    return 0;
}

enum { FIVE_PERCENT = 5000, EXACT = 0, N16 = 1, N64 = 2, N256 = 3, N4096 = 5 };

/* Return the level after LEVEL if the program takes a second, the recorder OWN_MS, and whole stacks
 * WHOLE_US. */
static uint32_t
next_level(uint32_t level, uint64_t own_ms, uint64_t whole_us)
{
    const struct budget b = {.limit = FIVE_PERCENT, .level = level, .exact_ns = 40000};
    const struct budget_window w = {own_ms * MS, whole_us * 1000, 1000 * MS, 1024 * 1024};

    return budget_level(&b, &w);
}

/* If this fails, an expensive program stays exact, or a cheap one does not. */
static void
exact_recording_lasts_while_it_is_cheap(void **unused)
{
    (void)unused;
    assert_int_equal(next_level(EXACT, 0, 0), EXACT);
    assert_int_equal(next_level(EXACT, 50, 0), EXACT);
    assert_int_equal(next_level(EXACT, 51, 0), N16);
    assert_int_equal(next_level(EXACT, 201, 0), N64);
}

/* If this fails, the share falls too slowly, or further than the limit requires. */
static void
the_share_falls_to_the_limit(void **unused)
{
    (void)unused;
    assert_int_equal(next_level(N16, 60, 20000), N64);   // 40 + 5 ms.
    assert_int_equal(next_level(N16, 130, 90000), N256); // 40 + 22.5, 40 + 5.6 ms.
    assert_int_equal(next_level(N4096, 900, 90000), N4096);
    // Counting alone costs 100 ms; whole stacks of one in 64 cost less than 3.1 ms.
    assert_int_equal(next_level(N16, 110, 10000), N64);
    assert_int_equal(next_level(N64, 102, 2500), N64);
}

/* If this fails, callers are left out although there is time for them, or the share rises so that
 * the limit is exceeded. */
static void
the_share_rises_while_there_is_room(void **unused)
{
    struct budget b = {.limit = FIVE_PERCENT, .level = N64, .wait = 1};
    const struct budget_window w = {10 * MS, 2 * MS, 1000 * MS, 1024};

    (void)unused;
    assert_int_equal(next_level(N64, 10, 2000), N16);   // 8 + 8 ms.
    assert_int_equal(next_level(N64, 30, 5000), N64);   // 25 + 20 ms are above 37.5.
    assert_int_equal(next_level(N16, 10, 2000), N16);   // 8 + 32 ms are too much,
    assert_int_equal(next_level(N16, 8, 1800), EXACT);  // 6.2 + 28.8 ms are not.
    assert_int_equal(next_level(N16, 3, 2900), N16);    // 0.1 + 41 ms, as exact recording took.
    assert_int_equal(budget_level(&b, &w), N64);        // It must wait.
    b.wait = 0;
    assert_int_equal(budget_level(&b, &w), N16);
}

/* If this fails, a run that began too expensively stays above the limit. */
static void
an_excess_is_made_up_for(void **unused)
{
    const struct budget_window w = {30 * MS, 20 * MS, 1000 * MS, 1024};
    struct budget b = {.limit = FIVE_PERCENT, .level = N64};

    (void)unused;
    b.own_ns = 40 * MS;
    b.program_ns = 1000 * MS;
    assert_int_equal(budget_level(&b, &w), N64);
    b.own_ns = 60 * MS;
    assert_int_equal(budget_level(&b, &w), N256);
}

/* If this fails, the share swings between two values for ever. */
static void
each_increase_makes_the_next_wait_longer(void **unused)
{
    (void)unused;
    budget = (struct budget){.limit = FIVE_PERCENT, .decides = true, .level = N64};
    budget_choose(N256);
    assert_int_equal(budget.wait, 1);
    budget_choose(N256);
    assert_int_equal(budget.wait, 0);
    budget_choose(N64);
    budget_choose(N256);
    assert_int_equal(budget.wait, 3);
    for (int i = 0; i < 20; i++)
        budget_choose(budget.level == N64 ? N256 : N64);
    assert_in_range(budget.wait, WAIT_MAX - 1, 2 * WAIT_MAX);
}

/* If this fails, estimates that exceed the time itself give a negative cost. */
static void
a_window_divides_the_time(void **unused)
{
    struct budget_window w = window_of(160, 1000, 2000);

    (void)unused;
    assert_int_equal(w.own_ns, 150);
    assert_int_equal(w.whole_ns, 150);
    assert_int_equal(w.program_ns, 10);
    w = window_of(160, 20, 30);
    assert_int_equal(w.own_ns, 30);
    assert_int_equal(w.program_ns, 130);
    assert_int_equal(cost_of(5, 100), 5000);
    assert_int_equal(cost_of(UINT64_MAX, 1), LIMIT_MAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_recording_lasts_while_it_is_cheap),
        cmocka_unit_test(the_share_falls_to_the_limit),
        cmocka_unit_test(the_share_rises_while_there_is_room),
        cmocka_unit_test(an_excess_is_made_up_for),
        cmocka_unit_test(each_increase_makes_the_next_wait_longer),
        cmocka_unit_test(a_window_divides_the_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
