/* test_callers.c: if this fails, a profile with --callers shows wrong sums for a site, marks exact
 * numbers as estimates, or claims callers whose true share lies outside the range beside it. Truth
 * is known, because each recording is simulated allocation by allocation with fixed seeds: the
 * result is the same on every machine. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/group.h"
#include "analyse/interval.h"
#include "build_profile.h"
#include "profile/caller_shares.h"
#include "profile/caller_spread.h"
#include "profile/profile_valid.h"
#include "sampling/draw.c"

enum { CALLERS = 10, PERIOD = 16, ALLOCATIONS = 4000, TRIALS = 120, PHASES = 4 };

/* Phases of a recording whose share changes, and 1 in how many allocations has callers. */
static const uint32_t periods[PHASES] = {1, 4, 32, 4};

/* Shares in thousandths: from nearly all to one in a thousand. */
static const uint32_t shares[CALLERS] = {520, 250, 100, 60, 30, 20, 10, 5, 4, 1};

/* The true numbers of one recording, and its profile. */
struct recorded {
    struct counters truth[CALLERS], short_counters, whole[CALLERS];
    // By period, in a recording whose share changes.
    struct counters shorts_of[PHASES], whole_of[PHASES][CALLERS];
};

static uint32_t
caller_of(uint64_t *random)
{
    uint32_t at = (uint32_t)(draw_random(random) % 1000), caller = 0;

    while (at >= shares[caller])
        at -= shares[caller++];
    return caller;
}

static void
count_block(struct counters *c, uint64_t size, bool freed)
{
    struct counters one = build_counters(1, (int64_t)size, freed, freed ? (int64_t)size : 0);

    counters_add(c, &one);
}

/* Simulate a program whose callers differ in the sizes and the lives of their blocks. */
static void
record(struct recorded *r, uint64_t *random)
{
    memset(r, 0, sizeof *r);
    r->short_counters = COUNTERS_ZERO;
    for (int i = 0; i < CALLERS; i++)
        r->truth[i] = r->whole[i] = COUNTERS_ZERO;
    for (int i = 0; i < ALLOCATIONS; i++) {
        uint32_t caller = caller_of(random);
        uint64_t size = 40 + caller * 15 + draw_random(random) % 60;
        bool freed = draw_random(random) % 10 < 9 - caller / 2;

        count_block(&r->truth[caller], size, freed);
        if (draw_random(random) % PERIOD == 0)
            count_block(&r->whole[caller], size, freed);
        else
            count_block(&r->short_counters, size, freed);
    }
}

/* Set the share of callers of SITE. */
static uint32_t
set_period(struct profile *p, uint32_t site, uint32_t period)
{
    p->sites[site].callers = profile_callers_index(p, period);
    return site;
}

static uint32_t
add_short_of(struct profile *p, struct counters c, uint32_t period)
{
    uint32_t site = build_site(p, c, "make@a.c:3", NULL);

    p->nodes[p->sites[site].node].flags |= NODE_CALLERLESS;
    return set_period(p, site, period);
}

static uint32_t
add_short(struct profile *p, struct counters c)
{
    return add_short_of(p, c, PERIOD);
}

/* Add the blocks of caller I. Even callers have one more function in common. */
static void
add_whole(struct profile *p, int i, struct counters c, uint32_t period)
{
    char caller[32];

    snprintf(caller, sizeof caller, "caller%d@b.c:%d", i, i + 1);
    if (c.allocations > 0)
        set_period(p,
                   build_site(p, c, "make@a.c:3", caller, i % 2 ? "odd@b.c:90" : "even@b.c:91",
                              "main@b.c:99", NULL),
                   period);
}

static struct profile *
profile_of(const struct recorded *r)
{
    struct profile *p = build_profile_new();

    add_short(p, r->short_counters);
    for (int i = 0; i < CALLERS; i++)
        add_whole(p, i, r->whole[i], PERIOD);
    return p;
}

/* Simulate a program that calls its functions in other numbers in each phase, and a recorder whose
 * share follows the phases. */
static void
record_phases(struct recorded *r, uint64_t *random)
{
    memset(r, 0, sizeof *r);
    for (int i = 0; i < CALLERS; i++)
        r->truth[i] = COUNTERS_ZERO;
    for (int k = 0; k < PHASES; k++) {
        r->shorts_of[k] = COUNTERS_ZERO;
        for (int i = 0; i < CALLERS; i++)
            r->whole_of[k][i] = COUNTERS_ZERO;
    }
    for (int i = 0; i < ALLOCATIONS; i++) {
        int phase = i * PHASES / ALLOCATIONS, k = phase == 3 ? 1 : phase;
        uint32_t caller = (caller_of(random) + 3 * (uint32_t)phase) % CALLERS;
        uint64_t size = 40 + caller * 15 + draw_random(random) % 60;
        bool freed = draw_random(random) % 10 < 9 - caller / 2;

        count_block(&r->truth[caller], size, freed);
        count_block(draw_random(random) % periods[phase] == 0 ? &r->whole_of[k][caller]
                                                              : &r->shorts_of[k],
                    size, freed);
    }
}

static struct profile *
profile_of_phases(const struct recorded *r)
{
    struct profile *p = build_profile_new();

    for (int k = 0; k < PHASES - 1; k++) {
        if (periods[k] > 1)
            add_short_of(p, r->shorts_of[k], periods[k]);
        for (int i = 0; i < CALLERS; i++)
            add_whole(p, i, r->whole_of[k][i], periods[k]);
    }
    return p;
}

/* Counts of intervals, and of those that hold the truth. */
struct tally {
    int intervals, held;
};

static void
check_interval(struct tally *t, const struct counters *c, const struct errors *e,
               const struct counters *truth)
{
    const int64_t true_value[] = {truth->allocations, truth->allocated_bytes,
                                  counters_live_blocks(truth), counters_live_bytes(truth),
                                  truth->peak_blocks, truth->peak_bytes};

    for (int k = INTERVAL_ALLOCATIONS; k <= INTERVAL_LIVE_BYTES; k++) {
        struct interval i = interval_of(c, e, (enum interval_of)k);

        t->intervals++;
        t->held += i.low - 1 <= (double)true_value[k] && (double)true_value[k] <= i.high + 1;
    }
}

static int
caller_named(const char *name)
{
    int i;

    return sscanf(name, "caller%d", &i) == 1 ? i : -1;
}

/* Add the estimated allocations of each caller to ESTIMATES. */
static void
add_estimates(const struct profile *p, const struct stacks *stacks, double *estimates)
{
    struct arena arena = {0};
    struct groups groups;

    group_stacks(p, stacks, BY_FUNCTION, NULL, METRIC_ALLOC, &arena, &groups);
    for (size_t i = 0; i < groups.count; i++) {
        int caller = caller_named(profile_string(p, p->frames[groups.v[i].frame].function));

        if (caller >= 0)
            estimates[caller] += (double)groups.v[i].inclusive.allocations;
    }
    arena_release(&arena);
}

/* Check the rows of functions: sites are exact, callers hold the truth. */
static void
check_rows(const struct profile *p, const struct stacks *stacks, const struct recorded *r,
           struct arena *arena, struct tally *callers, struct tally *sums)
{
    struct groups groups;

    group_stacks(p, stacks, BY_FUNCTION, NULL, METRIC_ALLOC, arena, &groups);
    for (size_t i = 0; i < groups.count; i++) {
        const struct group_row *row = &groups.v[i];
        const char *name = profile_string(p, p->frames[row->frame].function);
        struct counters truth = COUNTERS_ZERO;
        int caller = caller_named(name);

        for (int k = 0; k < CALLERS; k++)
            if (k == caller || (caller < 0 && (strcmp(name, "make") == 0 ||
                                               strcmp(name, "main") == 0 ||
                                               strcmp(name, k % 2 ? "odd" : "even") == 0)))
                counters_add(&truth, &r->truth[k]);
        if (strcmp(name, "make") == 0) {
            struct interval in = interval_of(&row->self, row->self_errors, INTERVAL_LIVE_BYTES);

            assert_true(counters_are_same(&row->self, &truth)); // The site, to the last block,
            assert_true(in.low == in.high);                     // without any mark.
            assert_true(counters_are_same(&row->inclusive, &truth));
        } else {
            check_interval(caller >= 0 ? callers : sums, &row->inclusive, row->inclusive_errors,
                           &truth);
        }
    }
}

/* Spread P, which was recorded as R, and count in CALLERS and SUMS how often an interval holds the
 * truth. Add the estimates of each caller to ESTIMATES. Free P. */
static void
check_trial(struct profile *p, const struct recorded *r, struct tally *callers, struct tally *sums,
            double *estimates)
{
    struct arena arena = {0};
    struct stacks stacks;
    struct err err;

    callers_spread(p, false);
    assert_true(p->has_shares);
    assert_true(profile_sums_are_valid(p));
    assert_int_equal(stacks_build(p, &(struct stacks_options){0}, &arena, &stacks, &err), 0);
    check_rows(p, &stacks, r, &arena, callers, sums);
    add_estimates(p, &stacks, estimates);
    arena_release(&arena);
    profile_free(p);
}

/* If this fails, the range beside a caller's number holds the truth less often than 95 times in
 * 100. */
static void
intervals_hold_the_truth(void **unused)
{
    struct tally callers = {0}, sums = {0};
    double estimates[CALLERS] = {0};
    uint64_t random = 7;

    (void)unused;
    for (int i = 0; i < TRIALS; i++) {
        struct recorded r;

        record(&r, &random);
        check_trial(profile_of(&r), &r, &callers, &sums, estimates);
    }
    printf("callers: %d of %d, sums: %d of %d\n", callers.held, callers.intervals, sums.held,
           sums.intervals);
    // Among 4,036 and 1,440 intervals 97.7 and 99 in 100 hold the truth. With half the width, 81
    // and 88 do, and no luck could raise these to the bounds.
    assert_true(callers.intervals > 1000 && sums.intervals > 1000);
    assert_true(callers.held * 100 >= callers.intervals * 94);
    assert_true(sums.held * 100 >= sums.intervals * 93);
}

/* If this fails, a change of the share during a recording makes estimates wrong: a phase with many
 * whole stacks counts too much, or a caller that was missed in another phase seems exact. */
static void
intervals_hold_the_truth_if_the_share_changes(void **unused)
{
    struct tally callers = {0}, sums = {0};
    double estimates[CALLERS] = {0}, truths[CALLERS] = {0};
    uint64_t random = 11;

    (void)unused;
    for (int i = 0; i < TRIALS; i++) {
        struct recorded r;

        record_phases(&r, &random);
        check_trial(profile_of_phases(&r), &r, &callers, &sums, estimates);
        for (int k = 0; k < CALLERS; k++)
            truths[k] += (double)r.truth[k].allocations;
    }
    printf("phases: callers: %d of %d, sums: %d of %d\n", callers.held, callers.intervals,
           sums.held, sums.intervals);
    for (int k = 0; k < CALLERS; k++) {
        printf("caller%d: mean estimate %.1f, truth %.1f\n", k, estimates[k] / TRIALS,
               truths[k] / TRIALS);
        assert_true(fabs(estimates[k] - truths[k]) < 0.05 * truths[k]);
    }
    assert_true(callers.intervals > 1000 && sums.intervals > 1000);
    assert_true(callers.held * 100 >= callers.intervals * 95);
    assert_true(sums.held * 100 >= sums.intervals * 95);
}

/* If this fails, shares of a count do not add up to it, or a share is negative. */
static void
boundaries_cut_a_count_completely(void **unused)
{
    static const double boundaries[] = {0, 0.1, 0.1, 1.0 / 3, 0.99999, 1};
    static const int64_t amounts[] = {0, 1, 2, 3, 10, 999, INT64_MAX / 2, INT64_MAX, -5, INT64_MIN};

    (void)unused;
    for (size_t a = 0; a < countof(amounts); a++) {
        uint64_t sum = 0;

        for (size_t i = 1; i < countof(boundaries); i++) {
            int64_t low = callers_cut(boundaries[i - 1], amounts[a]);
            int64_t high = callers_cut(boundaries[i], amounts[a]);

            assert_true(amounts[a] < 0 || low <= high);
            sum += (uint64_t)high - (uint64_t)low;
        }
        assert_int_equal(sum, amounts[a]);
    }
}

/* If this fails, blocks of a site without any whole stack vanish, or get invented callers. */
static void
a_site_without_whole_stacks_stays(void **unused)
{
    struct profile *p = build_profile_new();
    struct arena arena = {0};
    struct stacks stacks;
    struct err err;

    (void)unused;
    add_short(p, build_counters(5, 500, 2, 200));
    build_site(p, build_counters(3, 300, 3, 300), "other@c.c:1", "main@b.c:99", NULL);
    callers_spread(p, false);
    assert_int_equal(p->site_count, 2);
    assert_int_equal(stacks_build(p, &(struct stacks_options){0}, &arena, &stacks, &err), 0);
    assert_int_equal(stacks.v[0].counters.allocations, 5);
    assert_string_equal(stack_root(p, &stacks.v[0]), "[callers not recorded]");
    assert_null(stack_root(p, &stacks.v[1]));
    arena_release(&arena);
    profile_free(p);
}

/* If this fails, an allocation of one site is charged to the callers of another, or of another size
 * class. */
static void
shares_stay_in_their_site_and_class(void **unused)
{
    struct profile *p = build_profile_new();
    uint32_t big = add_short(p, build_counters(100, 100000, 0, 0)); // 1000 bytes each.
    uint32_t small = add_short(p, build_counters(50, 1000, 50, 1000));

    (void)unused;
    assert_int_not_equal(big, small);
    set_period(p, build_site(p, build_counters(2, 2000, 0, 0), "make@a.c:3", "a@b.c:1", NULL),
               PERIOD);
    set_period(p, build_site(p, build_counters(1, 20, 1, 20), "make@a.c:3", "b@b.c:2", NULL),
               PERIOD);
    set_period(p, build_site(p, build_counters(7, 140, 7, 140), "make@a.c:4", "b@b.c:2", NULL),
               PERIOD);
    callers_spread(p, false);
    assert_int_equal(p->site_count, 3);
    for (size_t i = 0; i < p->site_count; i++) {
        const struct counters *c = &p->sites[i].counters;

        assert_true(c->allocations == 102 || c->allocations == 51 || c->allocations == 7);
        assert_true(c->allocations != 102 || c->allocated_bytes == 102000);
        assert_true(c->allocations != 51 || c->frees == 51);
    }
    profile_free(p);
}

/* If this fails, a caller that was seen only while all callers were recorded seems to be exact,
 * although blocks of it may be among those without callers. */
static void
a_stack_may_be_missed_while_the_share_is_another(void **unused)
{
    struct profile *p = build_profile_new();

    (void)unused;
    add_short_of(p, build_counters(3100, 310000, 3100, 310000), 32);
    add_whole(p, 0, build_counters(100, 10000, 100, 10000), 32);
    add_whole(p, 1, build_counters(50, 5000, 50, 5000), 1);
    callers_spread(p, false);
    assert_int_equal(p->site_count, 2);
    for (size_t i = 0; i < p->site_count; i++) {
        const struct counters *c = &p->sites[i].counters;
        struct interval in = interval_of(c, profile_site_errors(p, i), INTERVAL_ALLOCATIONS);

        assert_true(c->allocations == 50 || c->allocations == 3200);
        // Up to 3.69 blocks with callers may have been missed, and each represents 31 others.
        assert_true(c->allocations != 50 || (in.low == 50 && in.high > 160 && in.high < 170));
    }
    profile_free(p);
}

static const struct profile_site *
site_named(const struct profile *p, const char *function, size_t *ret_index)
{
    for (*ret_index = 0; *ret_index < p->site_count; (*ret_index)++) {
        const struct profile_site *s = &p->sites[*ret_index];
        const struct profile_location *l = &p->locations[p->nodes[s->node].location];
        bool is_short = (p->nodes[s->node].flags & NODE_CALLERLESS) != 0;

        if (is_short == (function == NULL) &&
            (function == NULL ||
             strcmp(profile_string(p, p->frames[l->first_frame].function), function) == 0))
            return s;
    }
    return NULL;
}

/* If this fails, callers get no share in a program that counts accesses, accesses belong to another
 * site, or blocks of memory have no stack. */
static void
short_stacks_keep_what_belongs_to_them(void **unused)
{
    (void)unused;
    for (int counted = 0; counted < 2; counted++) {
        struct profile *p = build_profile_new();
        uint32_t site = add_short(p, build_counters(90, 900, 0, 0)), id;
        struct profile_access access = ACCESS_NONE;
        size_t at;

        id = p->sites[site].id;
        build_site(p, build_counters(3, 30, 3, 30), "other@c.c:1", NULL);
        add_whole(p, 0, build_counters(10, 100, 0, 0), PERIOD);
        access.site = site;
        if (counted)
            p->accesses = (struct profile_accesses){.granule_bytes = 8, .v = &access, .count = 1};
        callers_spread(p, !counted);
        assert_int_equal(p->site_count, 3);
        assert_true(profile_sums_are_valid(p));
        assert_int_equal(site_named(p, "make", &at)->counters.allocations, 100);
        assert_int_equal(site_named(p, NULL, &at)->counters.allocations, 0);
        assert_int_equal(p->sites[at].id, id);
        assert_int_equal(access.site, counted ? at : site);
        assert_false(p->has_callerless);
        p->accesses = (struct profile_accesses){0};
        profile_free(p);
    }
}

/* If this fails, the sums of a thread change, or a thread gets blocks of another one. */
static void
threads_keep_their_sums(void **unused)
{
    struct profile *p = build_profile_new();
    uint32_t one = build_thread(p, "one"), two = build_thread(p, "two");
    uint32_t site = add_short(p, build_counters(100, 5000, 90, 4500));
    struct counters sums[2] = {COUNTERS_ZERO, COUNTERS_ZERO};

    (void)unused;
    build_thread_site(p, one, site, build_counters(70, 3500, 20, 1000));
    build_thread_site(p, two, site, build_counters(30, 1500, 70, 3500));
    for (int i = 0; i < 3; i++) {
        char caller[32];

        snprintf(caller, sizeof caller, "caller%d@b.c:%d", i, i + 1);
        site = set_period(p,
                          build_site(p, build_counters(i + 1, 50 * (i + 1), i, 50 * i),
                                     "make@a.c:3", caller, NULL),
                          PERIOD);
        build_thread_site(p, one, site, build_counters(i + 1, 50 * (i + 1), i, 50 * i));
    }
    callers_spread(p, false);
    assert_int_equal(p->site_count, 3);
    assert_true(profile_sums_are_valid(p));
    for (size_t i = 0; i < p->thread_site_count; i++)
        counters_add(&sums[p->thread_sites[i].thread], profile_row_counters(p, i));
    assert_int_equal(sums[one].allocations, 76);
    assert_int_equal(sums[one].frees, 23);
    assert_int_equal(sums[two].allocations, 30);
    assert_int_equal(sums[two].freed_bytes, 3500);
    profile_free(p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boundaries_cut_a_count_completely),
        cmocka_unit_test(a_site_without_whole_stacks_stays),
        cmocka_unit_test(shares_stay_in_their_site_and_class),
        cmocka_unit_test(a_stack_may_be_missed_while_the_share_is_another),
        cmocka_unit_test(threads_keep_their_sums),
        cmocka_unit_test(short_stacks_keep_what_belongs_to_them),
        cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(intervals_hold_the_truth_if_the_share_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
