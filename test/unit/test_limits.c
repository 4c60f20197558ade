/* test_limits.c: the syntax of limits, and profiles compared with limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "build_profile.h"
#include "option/shared_opts.h"

static const struct limit_rules growth = {
    .option = "fail-over", .names = (1u << LIMIT_KINDS) - 1,
    .unnamed = 1u << LIMIT_PEAK | 1u << LIMIT_INUSE, .percents = true};
static const struct limit_rules alone = {.option = "fail-on", .names = (1u << LIMIT_KINDS) - 1};

static struct arena arena;
static struct limits limits;
static struct err err;

static void
assert_limit(enum limit_of of, bool is_percent, uint64_t value)
{
    assert_true(limits.v[of].given);
    assert_int_equal(limits.v[of].is_percent, is_percent);
    assert_int_equal(limits.v[of].value, value);
}

static void
limits_assert_refused(const char *text, const struct limit_rules *rules, const char *why)
{
    struct limits before = limits;

    err.text[0] = '\0';
    assert_int_equal(limits_parse(text, rules, &limits, &err), HEAPTAP_USAGE);
    if (strstr(err.text, why) == NULL)
        fail_msg("%s: %s is not in %s", text, why, err.text);
    assert_memory_equal(&before, &limits, sizeof limits);
}

/* If this fails, a gate applies other limits than the script contains. */
static void
limits_are_read_by_name(void **state)
{
    (void)state;
    assert_int_equal(limits_parse("peak=5%,leaks=0,allocations=10.25%,inuse=1M,alloc=2G,temporary",
                                  &growth, &limits, &err), 0);
    assert_limit(LIMIT_PEAK, true, 5 * UINT64_C(100000000));
    assert_limit(LIMIT_LEAKS, false, 0);
    assert_limit(LIMIT_COUNT, true, 1025000000);
    assert_limit(LIMIT_INUSE, false, 1 << 20);
    assert_limit(LIMIT_ALLOC, false, UINT64_C(2) << 30);
    assert_limit(LIMIT_TEMPORARY, false, 0);
    assert_int_equal(limits_parse("count=3", &growth, &limits, &err), 0);
    assert_limit(LIMIT_COUNT, false, 3);
    assert_false(limits.v[LIMIT_PEAK].given);
}

/* If this fails, --fail-over 5% applies to another number, or to none. */
static void
a_limit_without_a_name_is_of_what_the_command_says(void **state)
{
    (void)state;
    assert_int_equal(limits_parse("0.5%,leaks=0", &growth, &limits, &err), 0);
    assert_limit(LIMIT_PEAK, true, 50000000);
    assert_limit(LIMIT_INUSE, true, 50000000);
    assert_true(limits.v[LIMIT_PEAK].unnamed && !limits.v[LIMIT_LEAKS].unnamed);
    assert_int_equal(limits_parse("1K,peak=7", &growth, &limits, &err), 0);
    assert_limit(LIMIT_PEAK, false, 7);
    assert_limit(LIMIT_INUSE, false, 1024);
    assert_int_equal(limits_parse("peak=7,1K", &growth, &limits, &err), 0);
    assert_limit(LIMIT_PEAK, false, 7);
    assert_limit(LIMIT_INUSE, false, 1024);
    limits_assert_refused("5", &alone, "5 needs a name, as in leaks=5");
}

/* If this fails, the stricter of two limits is silently replaced by the other. */
static void
a_second_limit_of_a_quantity_is_refused(void **state)
{
    (void)state;
    limits_assert_refused("leaks=0,leaks=1M", &growth, "two limits of leaks; give one");
    limits_assert_refused("leaks,peak=1,leaks", &alone, "two limits of leaks");
    limits_assert_refused("count=5,allocations=7", &growth, "two limits of allocations");
    limits_assert_refused("5%,6%", &growth, "two limits of peak");
    limits_assert_refused("5%,peak=1,6%", &growth, "two limits of inuse");
}

/* If this fails, a gate with a mistyped limit always passes. */
static void
what_is_no_limit_is_refused(void **state)
{
    (void)state;
    limits_assert_refused("", &growth, "'' is not one of peak, leaks");
    limits_assert_refused("peek=5%", &growth, "(did you mean peak?)");
    limits_assert_refused("peak=", &growth, "'' is no limit");
    limits_assert_refused("peak=5x", &growth, "'5x' is no limit");
    limits_assert_refused("peak=5%%", &growth, "'5%%' is no limit");
    limits_assert_refused("peak=.5%", &growth, "is no limit");
    limits_assert_refused("peak=5.%", &growth, "is no limit");
    limits_assert_refused("peak=5.1x%", &growth, "is no limit");
    limits_assert_refused("peak=-5", &growth, "is no limit");
    limits_assert_refused("5%,", &growth, "'' is not one of");
    limits_assert_refused("leaks=0,,peak=1", &growth, "'' is not one of");
    limits_assert_refused("123456789012%", &growth, "is no limit");
    limits_assert_refused(
        "a.name.that.is.much.too.long.to.be.one.of.the.names.of.limits.that.there.are", &growth,
        "is no limit");
    limits_assert_refused("peak=5%", &alone, "5% has no base: there is nothing to compare with");
}

/* Compare a growth from BEFORE_BYTES to AFTER_BYTES, in one stack, with the limits in TEXT. */
static struct limit_results
limits_checked(const char *text, int64_t before_bytes, int64_t after_bytes,
               int64_t peak_error_bytes)
{
    const struct stacks_options options = {0};
    struct profile *p[] = {build_profile_new(), build_profile_new()};
    struct stacks stacks[2];
    struct diff_side sides[] = {{p[0], &stacks[0]}, {p[1], &stacks[1]}};
    struct limit_results ret;
    struct diff d;

    if (before_bytes > 0)
        build_site(p[0], build_counters(10, before_bytes, 0, 0), "make@a.c:1", "main@a.c:9", NULL);
    build_site(p[1], build_counters(11, after_bytes, 0, 0), "make@a.c:1", "main@a.c:9", NULL);
    build_site(p[1], build_counters(1, 4096, 0, 0), "_IO_file_doallocate", "main@a.c:9", NULL);
    p[0]->peak_error_bytes = peak_error_bytes;
    for (int i = 0; i < 2; i++)
        assert_int_equal(stacks_build(p[i], &options, &arena, &stacks[i], &err), 0);
    diff_build(&sides[0], &sides[1], DIFF_BY_SITE, METRIC_INUSE, &arena, &d);
    assert_int_equal(limits_parse(text, &growth, &limits, &err), 0);
    assert_int_equal(
        limit_check_growth(&limits, &d, &sides[0], &sides[1], &options, &arena, &ret, &err), 0);
    profile_free(p[0]);
    profile_free(p[1]);
    return ret;
}

/* If this fails, a test fails although it is within its limits, or passes although it exceeds
 * them. */
static void
growth_is_held_against_its_limit(void **state)
{
    struct limit_results j = limits_checked("alloc=5096", 1000, 2000, 0);

    (void)state;
    assert_int_equal(j.count, 1);
    assert_int_equal(j.v[0].before, 1000);
    assert_int_equal(j.v[0].value, 6096);
    assert_false(j.v[0].exceeded);
    assert_true(limits_checked("alloc=5095", 1000, 2000, 0).v[0].exceeded);
    assert_false(limits_checked("alloc=0", 10000, 2000, 0).v[0].exceeded);
    j = limits_checked("509.6%,allocations=1", 1000, 2000, 0);
    assert_int_equal(j.count, 3);
    assert_false(j.v[0].exceeded || j.v[1].exceeded);
    assert_true(j.v[2].exceeded); // There are two more calls.
    assert_true(limits_checked("509.5%", 1000, 2000, 0).v[0].exceeded);
}

/* If this fails, a script cannot write the percentage that its own division gave. */
static void
a_percentage_may_have_any_number_of_digits(void **state)
{
    // 4.9999999 % of 200,000,000 bytes are 9,999,999.8. The second profile has a buffer as well.
    const int64_t before = 200000000, most = before + 9999999 - 4096;

    (void)state;
    assert_int_equal(limits_parse("peak=4.9999999%,inuse=0.000000000000001%,leaks=99999999999%",
                                  &growth, &limits, &err), 0);
    assert_limit(LIMIT_PEAK, true, 499999990);
    assert_limit(LIMIT_INUSE, true, 0);
    assert_limit(LIMIT_LEAKS, true, UINT64_C(9999999999900000000));
    assert_false(limits_checked("peak=4.9999999%", before, most, 0).v[0].exceeded);
    assert_true(limits_checked("peak=4.9999999%", before, most + 1, 0).v[0].exceeded);
}

/* If this fails, the buffer of stdout is a leak in every gate. */
static void
suppressed_blocks_are_no_leaks(void **state)
{
    (void)state;
    assert_int_equal(limits_checked("leaks", 1000, 2000, 0).v[0].value, 2000);
    assert_true(limits_checked("leaks=999", 1000, 2000, 0).v[0].exceeded);
    assert_false(limits_checked("leaks=100%", 1000, 2000, 0).v[0].exceeded);
}

/* If this fails, a new program passes every gate in percent. */
static void
of_nothing_all_growth_is_too_much(void **state)
{
    (void)state;
    assert_true(limits_checked("leaks=50%", 0, 8, 0).v[0].exceeded);
    assert_int_equal(limits_checked("leaks=50%", 0, 8, 0).v[0].allowed, 0);
}

/* If this fails, a gate for the peak of a program with threads fails by chance. */
static void
a_peak_that_may_have_been_higher_before_is_no_finding(void **state)
{
    (void)state;
    assert_true(limits_checked("peak=5000", 1000, 2000, 95).v[0].exceeded);
    assert_false(limits_checked("peak=5000", 1000, 2000, 96).v[0].exceeded);
}

/* If this fails, --fail-on compares a limit with another process's numbers. */
static void
a_profile_alone_is_held_against_its_totals(void **state)
{
    struct profile *p = build_profile_new();
    struct limit_results j;

    (void)state;
    build_site(p, build_counters(10, 1000, 4, 400), "make@a.c:1", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 4096, 0, 0), "_IO_file_doallocate", "main@a.c:9", NULL);
    assert_int_equal(limits_parse("leaks=600,inuse=4695,allocations=10", &alone, &limits, &err), 0);
    assert_int_equal(limit_check_profile(&limits, p, &arena, &j, &err), 0);
    assert_int_equal(j.count, 3);
    assert_true(j.v[0].of == LIMIT_INUSE && j.v[0].value == 4696 && j.v[0].exceeded);
    assert_true(j.v[1].of == LIMIT_LEAKS && j.v[1].value == 600 && !j.v[1].exceeded);
    assert_true(j.v[2].of == LIMIT_COUNT && j.v[2].value == 11 && j.v[2].exceeded);
    profile_free(p);
}

/* If this fails, a gate for short-lived blocks fails by sampling noise. */
static void
samples_are_not_judged_by_temporary_blocks(void **state)
{
    struct profile *p = build_profile_new();
    struct limit_results j;

    (void)state;
    p->modes = arena_array(&p->arena, 1, sizeof *p->modes);
    p->modes[0] = (struct profile_recording_mode){.mode = MODE_BYTES, .period = 4096};
    p->mode_count = 1;
    assert_int_equal(limits_parse("temporary=10", &alone, &limits, &err), 0);
    assert_int_equal(limit_check_profile(&limits, p, &arena, &j, &err), HEAPTAP_USAGE);
    assert_non_null(strstr(err.text, "'temporary'"));
    p->modes[0].mode = MODE_EXACT;
    assert_int_equal(limit_check_profile(&limits, p, &arena, &j, &err), 0);
    profile_free(p);
}

/* If this fails, a gate misses corruption, or fails on a free that only looks like a double
 * free. */
static void
corruption_counts_where_it_is_certain(void **state)
{
    struct profile *p = build_profile_new();
    struct limit_results j;

    (void)state;
    p->losses.damaged_blocks = 2;
    p->losses.double_frees = 3;
    assert_int_equal(limits_parse("corruption=4", &alone, &limits, &err), 0);
    assert_int_equal(limit_check_profile(&limits, p, &arena, &j, &err), 0);
    assert_true(j.count == 1 && j.v[0].value == 5 && j.v[0].exceeded);
    p->losses.events = 1;
    assert_int_equal(limit_check_profile(&limits, p, &arena, &j, &err), 0);
    assert_true(j.v[0].value == 2 && !j.v[0].exceeded);
    p->losses.events = 0;
    p->losses.ledger_events = 1;
    assert_int_equal(limit_check_profile(&limits, p, &arena, &j, &err), 0);
    assert_true(j.v[0].value == 2 && !j.v[0].exceeded);
    profile_free(p);
}

static int
limits_release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_read_by_name),
        cmocka_unit_test(a_limit_without_a_name_is_of_what_the_command_says),
        cmocka_unit_test(a_second_limit_of_a_quantity_is_refused),
        cmocka_unit_test(what_is_no_limit_is_refused),
        cmocka_unit_test(a_percentage_may_have_any_number_of_digits),
        cmocka_unit_test(growth_is_held_against_its_limit),
        cmocka_unit_test(suppressed_blocks_are_no_leaks),
        cmocka_unit_test(of_nothing_all_growth_is_too_much),
        cmocka_unit_test(a_peak_that_may_have_been_higher_before_is_no_finding),
        cmocka_unit_test(a_profile_alone_is_held_against_its_totals),
        cmocka_unit_test(samples_are_not_judged_by_temporary_blocks),
        cmocka_unit_test(corruption_counts_where_it_is_certain),
    };

    return cmocka_run_group_tests(tests, NULL, limits_release);
}
