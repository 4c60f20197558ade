/* test_draw.c: if this fails, the probability of a sample does not match its weight, and every
 * estimate is wrong by that factor. The arithmetic is compared with libm. The sums of the draws are
 * compared with their expectations, under fixed seeds; bounds are many standard deviations wide. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sampling/draw.c"

/* If this fails, the distances between samples are not distributed as the weights assume, and all
 * estimates are too high or too low. */
static void
logarithms_are_those_of_libm(void **unused)
{
    uint64_t state = 1;

    (void)unused;
    for (int i = 0; i < 200000; i++) {
        double x = draw_uniform(&state) * (i % 3 ? 1 : 1e-9);

        assert_true(fabs(draw_log(x) - log(x)) <= 4e-16 * fmax(1, fabs(log(x))));
    }
    assert_true(draw_log(1) == 0);
    assert_true(fabs(draw_log(0x1p-53) - log(0x1p-53)) < 1e-13);
}

/* If this fails, the probability of sampling a block is wrong, and so is the weight of each block
 * by bytes. */
static void
shares_are_those_of_libm(void **unused)
{
    (void)unused;
    for (double x = 1e-12; x < 100; x *= 1.0007)
        assert_true(fabs(draw_share(x) + expm1(-x)) <= 1e-15 * -expm1(-x));
    assert_true(draw_share(0) == 0);
    assert_true(draw_share(1e18) == 1);
}

/* Sampling by calls draws exactly one in N calls. If this fails, a sample of `run --sample-count N`
 * represents fewer or more calls than N. */
static void
a_call_is_sampled_with_one_over_n(void **unused)
{
    static const uint64_t periods[] = {2, 3, 4, 5, 7, 10, 100, 1000, 65536, (uint64_t)1 << 40};

    (void)unused;
    for (size_t i = 0; i < countof(periods); i++) {
        struct draw_mode p = draw_mode(DISK_MODE_COUNT, periods[i]);
        double share = -expm1(-1 / p.mean);

        assert_true(fabs(share * (double)periods[i] - 1) < 1e-12);
        assert_int_equal(draw_weight(&p, 12345, false).blocks, periods[i]);
        assert_int_equal(draw_weight(&p, 10, false).bytes, periods[i] * 10);
    }
}

/* Draw from CALLS blocks of SIZE_BYTES as the gate does; return the sum of the samples' weights. */
static struct draw_weight
draw_walk(const struct draw_mode *p, uint64_t size_bytes, int calls, uint64_t *state,
          int *ret_samples)
{
    int64_t left = draw_distance(p, state);
    struct draw_weight sum = {0};

    *ret_samples = 0;
    for (int i = 0; i < calls; i++) {
        struct draw_weight w;

        left -= (int64_t)draw_charge(size_bytes, p->mask);
        if (left >= 0)
            continue;
        w = draw_weight(p, size_bytes, draw_rounds_up(p, size_bytes, state));
        sum.blocks += w.blocks;
        sum.bytes += w.bytes;
        sum.blocks_variance += w.blocks_variance;
        sum.bytes_variance += w.bytes_variance;
        ++*ret_samples;
        left = draw_distance(p, state);
    }
    return sum;
}

/* Sizes range from much smaller to much larger than the period. If this fails, estimates are too
 * high or too low, or their error exceeds the variance in the file. */
static void
estimates_are_right_on_average(void **unused)
{
    static const uint64_t sizes[] = {0, 16, 1000, 5000, 8191, 20000, 100000};
    enum { CALLS = 400000 };
    uint64_t state = 7;

    (void)unused;
    for (size_t i = 0; i < countof(sizes); i++)
        for (uint32_t mode = DISK_MODE_BYTES; mode <= DISK_MODE_COUNT; mode++) {
            struct draw_mode p = draw_mode(mode, mode == DISK_MODE_BYTES ? 8192 : 50);
            int samples;
            struct draw_weight sum = draw_walk(&p, sizes[i], CALLS, &state, &samples);
            double off = (double)sum.blocks - CALLS;

            assert_true(samples > 10);
            assert_true(fabs(off) < 5 * sqrt(sum.blocks_variance) + 1e-9);
            off = (double)sum.bytes - (double)CALLS * (double)sizes[i];
            assert_true(fabs(off) <= 5 * sqrt(sum.bytes_variance) + 0.5 * samples);
        }
}

/* A free recomputes the weight from the size and from the rounding of 1 / p. If this fails, the
 * free subtracts another amount than the allocation added, and live bytes drift. */
static void
a_weight_is_one_over_p_rounded(void **unused)
{
    struct draw_mode p = draw_mode(DISK_MODE_BYTES, 65536);

    (void)unused;
    for (uint64_t size = 1; size < 1000000; size = size * 3 / 2 + 1) {
        struct draw_weight down = draw_weight(&p, size, false), up = draw_weight(&p, size, true);
        double exact = -1 / expm1(-(double)(size | 1) / p.mean);

        assert_true(down.blocks >= 1);
        assert_true((double)down.blocks <= exact && exact < (double)up.blocks);
        assert_int_equal(up.blocks, down.blocks + 1);
        assert_true(fabs((double)down.bytes - (double)size * exact) <= 0.51);
        assert_int_equal(up.bytes, down.bytes);
    }
}

/* If this fails, an invalid period, from the environment or from corrupt control words of a live
 * profile, is used for drawing; or a documented period is refused. */
static void
only_sensible_periods_are_taken(void **unused)
{
    (void)unused;
    assert_true(draw_is_valid(DISK_MODE_EXACT, 0));
    assert_true(draw_is_valid(DISK_MODE_OFF, 0));
    assert_true(draw_is_valid(DISK_MODE_BYTES, 1024));
    assert_true(draw_is_valid(DISK_MODE_COUNT, 2));
    assert_false(draw_is_valid(DISK_MODE_EXACT, 1));
    assert_false(draw_is_valid(DISK_MODE_BYTES, 1023));
    assert_false(draw_is_valid(DISK_MODE_BYTES, UINT64_MAX));
    assert_false(draw_is_valid(DISK_MODE_COUNT, 1));
    assert_false(draw_is_valid(DISK_MODE_COUNT, 0));
    assert_false(draw_is_valid(4, 0));
    assert_false(draw_is_valid(UINT64_MAX, 4096));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms_are_those_of_libm),
        cmocka_unit_test(shares_are_those_of_libm),
        cmocka_unit_test(a_call_is_sampled_with_one_over_n),
        cmocka_unit_test(estimates_are_right_on_average),
        cmocka_unit_test(a_weight_is_one_over_p_rounded),
        cmocka_unit_test(only_sensible_periods_are_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
