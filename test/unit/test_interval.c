/* test_interval.c: the quantiles are compared with published tables. The coverage of the intervals
 * is counted over thousands of simulated recordings with fixed seeds, so the result is the same on
 * every machine. If this fails, the intervals beside estimates are too narrow, and people believe
 * wrong numbers, or so wide that they carry no information. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/interval.h"
#include "sampling/draw.c"

/* If this fails, the interval around an estimate from few samples does not hold its confidence
 * level. */
static void
quantiles_are_those_of_tables(void **unused)
{
    // Exact limits of a Poisson count (Garwood 1936): half of the chi-squared quantiles with twice
    // as many degrees of freedom, as published.
    static const struct {
        int count;
        double low, high;
    } limits[] = {
        {1, 0.0253, 5.5716},      {2, 0.2422, 7.2247},    {5, 1.6235, 11.6683},
        {10, 4.7954, 18.3904},    {20, 12.2165, 30.8884}, {50, 37.1110, 65.9183},
        {100, 81.3640, 121.6272},
    };

    (void)unused;
    for (size_t i = 0; i < countof(limits); i++) {
        assert_true(fabs(interval_gamma_quantile(0.025, limits[i].count) - limits[i].low) < 1e-3);
        assert_true(fabs(interval_gamma_quantile(0.975, limits[i].count + 1) - limits[i].high) <
                    1e-3);
    }
    assert_true(fabs(interval_gamma_quantile(0.975, 1) - log(40)) < 1e-9);
    assert_true(interval_gamma_quantile(0.5, 0) == 0);
}

/* If this fails, exact numbers are shown with an error, or an interval without samples ignores
 * blocks that another sample might have added. */
static void
what_was_recorded_whole_has_no_error(void **unused)
{
    struct interval i = interval_around(1000, 0, 0, 0, 0, 0);

    (void)unused;
    assert_true(i.low == 1000 && i.high == 1000);
    i = interval_around(1000, 5, 500, 0, 0, 0);
    assert_true(i.low == 1000 && i.high == 1000);
    i = interval_around(1000, 0, 0, 0, 100, 100);
    assert_true(i.low == 1000 && fabs(i.high - 1000 - 100 * log(40)) < 1e-6);
}

/* If this fails, invalid sums in a damaged file give a report with `nan`, or an interval whose
 * bounds are swapped. */
static void
any_sums_give_a_finite_interval(void **unused)
{
    static const double whole[] = {0, 1, 1e9, 1e19}, odd[] = {0, 1e-300, 1e-9, 1, 1e18, 1e59};

    (void)unused;
    for (size_t e = 0; e < countof(whole); e++)
        for (size_t v = 0; v < countof(odd); v++)
            for (size_t u = 0; u < countof(odd); u++) {
                struct interval i =
                    interval_around(whole[e], odd[v], whole[e], odd[v], odd[u], odd[u]);

                assert_true(isfinite(i.low) && isfinite(i.high));
                assert_true(i.low <= i.high * (1 + 1e-9));
            }
}

enum { SEEDS = 2000 };

struct hits {
    int blocks, bytes;
    int seen, blocks_seen, bytes_seen; // Draws with a sample; only these create a site.
};

/* Return how often the intervals cover the truth for a site of CALLS blocks with sizes from FIRST
 * to LAST, recorded with PERIOD under SEEDS seeds. */
static struct hits
cover(uint32_t mode, uint64_t period, int calls, uint64_t first, uint64_t last)
{
    struct draw_mode p = draw_mode(mode, period);
    struct hits hits = {0};

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t state = hash_u64(seed);
        int64_t left = draw_distance(&p, &state);
        struct counters c = COUNTERS_ZERO;
        struct errors e = {0};
        bool blocks_in, bytes_in;
        double bytes = 0;
        struct interval i;

        for (int k = 0; k < calls; k++) {
            uint64_t size = first + (last - first) * (uint64_t)k / (uint64_t)calls;
            struct draw_weight w;

            bytes += (double)size;
            left -= (int64_t)draw_charge(size, p.mask);
            if (left >= 0)
                continue;
            w = draw_weight(&p, size, draw_rounds_up(&p, size, &state));
            c.allocations += (int64_t)w.blocks;
            c.allocated_bytes += (int64_t)w.bytes;
            e.allocated.samples++;
            e.allocated.blocks += (double)w.blocks;
            e.allocated.bytes += (double)w.bytes;
            e.allocated.blocks_variance += w.blocks_variance;
            e.allocated.bytes_variance += w.bytes_variance;
            e.blocks_unit_max = fmax(e.blocks_unit_max, w.blocks_unit);
            e.bytes_unit_max = fmax(e.bytes_unit_max, w.bytes_unit);
            e.blocks_unit_few = e.blocks_unit_max;
            e.bytes_unit_few = e.bytes_unit_max;
            left = draw_distance(&p, &state);
        }
        if (e.allocated.samples == 0) { // Without a sample, only the period is known.
            struct draw_weight w = draw_weight(&p, first, false);

            e.blocks_unit_max = e.blocks_unit_few = w.blocks_unit;
            e.bytes_unit_max = e.bytes_unit_few = w.bytes_unit;
        }
        i = interval_of(&c, &e, INTERVAL_ALLOCATIONS);
        blocks_in = i.low <= calls && calls <= i.high;
        i = interval_of(&c, &e, INTERVAL_ALLOCATED_BYTES);
        bytes_in = i.low <= bytes && bytes <= i.high;
        hits.blocks += blocks_in;
        hits.bytes += bytes_in;
        hits.seen += e.allocated.samples > 0;
        hits.blocks_seen += e.allocated.samples > 0 && blocks_in;
        hits.bytes_seen += e.allocated.samples > 0 && bytes_in;
    }
    return hits;
}

/* With many expected samples, 93 to 97 of 100 intervals cover the truth. If this fails, the error
 * beside an estimate is too small, or so large that the number is useless. */
static void
many_samples_hold_95_percent(void **unused)
{
    static const struct {
        uint64_t period, first, last;
        int calls;
    } sites[] = {
        {4096, 64, 64, 3000},     {4096, 64, 64, 20000},  {4096, 16, 32, 20000},
        {4096, 33, 256, 2000},    {4096, 257, 2048, 300}, {4096, 3000, 5000, 100},
        {65536, 100, 200, 30000},
    };

    (void)unused;
    for (size_t i = 0; i < countof(sites); i++) {
        struct hits h =
            cover(DISK_MODE_BYTES, sites[i].period, sites[i].calls, sites[i].first, sites[i].last);

        assert_in_range(h.blocks, SEEDS * 93 / 100, SEEDS * 97 / 100);
        assert_in_range(h.bytes, SEEDS * 93 / 100, SEEDS * 97 / 100);
    }
}

/* With few or no samples, at least 95 of 100 intervals cover the truth. If this fails, a site with
 * a handful of samples looks more certain than it is. */
static void
few_samples_promise_no_more_than_they_hold(void **unused)
{
    static const int expected[] = {1, 2, 3, 5, 8, 12, 20};

    (void)unused;
    for (size_t i = 0; i < countof(expected); i++) {
        struct hits h = cover(DISK_MODE_BYTES, 4096, expected[i] * 4096 / 64, 64, 64);

        assert_true(h.blocks >= SEEDS * 95 / 100);
        assert_true(h.bytes >= SEEDS * 95 / 100);
        h = cover(DISK_MODE_COUNT, 100, expected[i] * 100, 500, 500);
        assert_true(h.blocks >= SEEDS * 95 / 100);
        h = cover(DISK_MODE_BYTES, 4096, expected[i] * 4, 100, 2000);
        assert_true(h.bytes >= SEEDS * 95 / 100);
    }
}

/* People see only sites that have a sample. Small sites are among them only if they drew more
 * samples than expected, so their estimates are too high. Still, their intervals must cover the
 * truth. If this fails, rows in the
 * tail of a report are wrong more often than one in twenty. */
static void
what_is_listed_holds_95_percent(void **unused)
{
    static const double expected[] = {0.05, 0.2, 0.5, 1, 1.5, 2, 3, 5};

    (void)unused;
    for (size_t i = 0; i < countof(expected); i++) {
        struct hits h = cover(DISK_MODE_BYTES, 4096, (int)(expected[i] * 4096 / 64 + 0.5), 64, 64);

        assert_true(h.seen > SEEDS / 30);
        assert_true(h.blocks_seen * 100 >= h.seen * 95);
        assert_true(h.bytes_seen * 100 >= h.seen * 95);
        h = cover(DISK_MODE_COUNT, 100, (int)(expected[i] * 100), 500, 500);
        assert_true(h.blocks_seen * 100 >= h.seen * 95);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_tables),
        cmocka_unit_test(what_was_recorded_whole_has_no_error),
        cmocka_unit_test(any_sums_give_a_finite_interval),
        cmocka_unit_test(many_samples_hold_95_percent),
        cmocka_unit_test(few_samples_promise_no_more_than_they_hold),
        cmocka_unit_test(what_is_listed_holds_95_percent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
