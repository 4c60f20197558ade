/* test_thread_shares.c: each thread's share of memory, if threads free each other's blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyse/totals.h"
#include "build_profile.h"

static struct arena arena;

static struct thread_shares
shares_of(const struct profile *p)
{
    struct thread_shares shares;

    threads_charge(p, NULL, &arena, &shares);
    return shares;
}

static void
thread_shares_assert_has(const struct thread_share *s, int64_t allocations, int64_t live_blocks,
                         int64_t live_bytes, int64_t for_others_blocks)
{
    assert_int_equal(s->counters.allocations, allocations);
    assert_int_equal(counters_live_blocks(&s->counters), live_blocks);
    assert_int_equal(counters_live_bytes(&s->counters), live_bytes);
    assert_int_equal(s->for_others_blocks, for_others_blocks);
}

/* If this fails, a producer seems to hold all blocks that it ever allocated, and its consumers less
 * than nothing. */
static void
what_one_thread_allocates_is_its_own(void **state)
{
    struct profile *p = build_profile_new();
    uint32_t site = build_site(p, build_counters(100, 1000, 90, 900), "make@a.c:1", NULL);
    uint32_t own = build_site(p, build_counters(7, 70, 3, 30), "own@a.c:2", NULL);
    uint32_t maker = build_thread(p, "maker"), first = build_thread(p, "first");
    uint32_t second = build_thread(p, "second");
    struct thread_shares shares;

    (void)state;
    build_thread_site(p, first, site, build_counters(0, 0, 60, 600));
    build_thread_site(p, maker, site, build_counters(100, 1000, 10, 100));
    build_thread_site(p, second, site, build_counters(0, 0, 20, 200));
    build_thread_site(p, second, own, build_counters(7, 70, 3, 30));
    shares = shares_of(p);
    thread_shares_assert_has(&shares.v[maker], 100, 10, 100, 0);
    thread_shares_assert_has(&shares.v[first], 0, 0, 0, 60);
    assert_int_equal(shares.v[first].for_others_bytes, 600);
    thread_shares_assert_has(&shares.v[second], 7, 4, 40, 20);
    // Frees of this thread's blocks, by any thread.
    assert_int_equal(shares.v[maker].counters.frees, 90);
    assert_false(shares.live_is_shared);
    profile_free(p);
}

/* If this fails, threads that free only their own blocks are charged with the blocks of others. */
static void
who_frees_only_its_own_keeps_what_is_left(void **state)
{
    struct profile *p = build_profile_new();
    uint32_t site = build_site(p, build_counters(30, 300, 12, 120), "f@a.c:1", NULL);
    struct thread_shares shares;

    (void)state;
    build_thread_site(p, build_thread(p, "a"), site, build_counters(10, 100, 9, 90));
    build_thread_site(p, build_thread(p, "b"), site, build_counters(20, 200, 3, 30));
    shares = shares_of(p);
    thread_shares_assert_has(&shares.v[0], 10, 1, 10, 0);
    thread_shares_assert_has(&shares.v[1], 20, 17, 170, 0);
    assert_false(shares.live_is_shared);
    profile_free(p);
}

/* If this fails, a guess is shown as known, or the rows do not add up. */
static void
what_several_allocate_and_others_free_is_shared(void **state)
{
    struct profile *p = build_profile_new();
    uint32_t site = build_site(p, build_counters(1000, 10000, 700, 7000), "f@a.c:1", NULL);
    struct thread_shares shares;

    (void)state;
    build_thread_site(p, build_thread(p, "a"), site, build_counters(600, 6000, 0, 0));
    build_thread_site(p, build_thread(p, "b"), site, build_counters(400, 4000, 0, 0));
    build_thread_site(p, build_thread(p, "c"), site, build_counters(0, 0, 700, 7000));
    shares = shares_of(p);
    thread_shares_assert_has(&shares.v[0], 600, 180, 1800, 0);
    thread_shares_assert_has(&shares.v[1], 400, 120, 1200, 0);
    thread_shares_assert_has(&shares.v[2], 0, 0, 0, 700);
    assert_true(shares.live_is_shared);
    profile_free(p);
}

/* If this fails, the frees in an interval are lost, or count as freed for others although they may
 * be a thread's older blocks. */
static void
a_site_that_shrank_is_that_of_those_who_freed(void **state)
{
    struct profile *p = build_profile_new();
    uint32_t site = build_site(p, build_counters(10, 100, 40, 400), "f@a.c:1", NULL);
    struct thread_shares shares;

    (void)state;
    p->extent = EXTENT_BETWEEN;
    build_thread_site(p, build_thread(p, "a"), site, build_counters(10, 100, 0, 0));
    build_thread_site(p, build_thread(p, "b"), site, build_counters(0, 0, 40, 400));
    shares = shares_of(p);
    thread_shares_assert_has(&shares.v[0], 10, 0, 0, -1);
    thread_shares_assert_has(&shares.v[1], 0, -30, -300, -1);
    p->extent = EXTENT_WHOLE;
    profile_free(p);
}

static uint64_t
thread_shares_next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

/* If this fails, the rows of a table by thread do not add up to the whole. */
static void
sums_stay_whatever_threads_do(void **state)
{
    enum { THREADS = 5, ROUNDS = 2000 };
    uint64_t x = 88172645463325252u;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct profile *p = build_profile_new();
        struct counters sum = COUNTERS_ZERO, got = COUNTERS_ZERO;
        struct thread_shares shares;

        build_site(p, build_counters(1, 1, 0, 0), "f@a.c:1", NULL);
        for (uint32_t i = 0; i < THREADS; i++) {
            int64_t n = (int64_t)(thread_shares_next_random(&x) % 50),
                    freed = (int64_t)(thread_shares_next_random(&x) % 50);
            int64_t bytes = n * (int64_t)(thread_shares_next_random(&x) >>
                                          (24 + thread_shares_next_random(&x) % 39));
            struct counters c = build_counters(n, bytes, freed, bytes / 50 * freed);

            build_thread_site(p, build_thread(p, "t"), 0, c);
            counters_add(&sum, &c);
        }
        shares = shares_of(p);
        for (uint32_t i = 0; i < THREADS; i++) {
            const struct counters *c = &shares.v[i].counters;

            assert_true(counters_live_bytes(&sum) < 0 || counters_live_bytes(c) >= 0);
            assert_true(counters_live_bytes(c) <= c->allocated_bytes);
            counters_add(&got, c);
        }
        assert_int_equal(counters_live_bytes(&got), counters_live_bytes(&sum));
        assert_int_equal(counters_live_blocks(&got), counters_live_blocks(&sum));
        assert_int_equal(got.peak_bytes, sum.peak_bytes);
        profile_free(p);
    }
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_thread_allocates_is_its_own),
        cmocka_unit_test(who_frees_only_its_own_keeps_what_is_left),
        cmocka_unit_test(what_several_allocate_and_others_free_is_shared),
        cmocka_unit_test(a_site_that_shrank_is_that_of_those_who_freed),
        cmocka_unit_test(sums_stay_whatever_threads_do),
    };

    return cmocka_run_group_tests_name("thread_shares", tests, NULL, NULL);
}
