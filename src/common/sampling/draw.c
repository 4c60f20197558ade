/* draw.c: distances between samples, and the weight of a sample.
 *
 * Each block has a charge, and the charges follow each other as a stream. Points are scattered over
 * the stream at random, `mean` apart on average. A block is sampled if a point falls into its
 * charge. The distance to the next point has an exponential distribution, which has no memory. So
 * the next distance can be drawn from the end of the sampled block, and blocks are selected
 * independently of each other. The probability for a block of charge c is p = 1 - exp(-c / mean).
 *
 * A sample of size s counts as 1 / p blocks and s / p bytes: the expected sums are the true ones
 * (Horvitz and Thompson). Counters are whole numbers, so 1 / p is rounded up or down at random,
 * with probabilities that preserve the expected value. Bytes are rounded to the nearest integer:
 * half a byte is negligible beside the period.
 *
 * In sampling by count, the charge of each call is 1, and the mean makes p exactly 1 / period.
 *
 * No libm: the recorder must not bring a library into the program. draw_log and draw_share are
 * accurate to a few units in the last place, far more than a draw needs; unit/draw compares them
 * with libm. */
#include "sampling/draw.h"

#include <string.h>

#include "base/hash.h"
#include "format/format.h"

/* Mask of a charge. A request larger than the address space must fail, so its size must not lower
 * the credit into the range of exact mode. */
#define CHARGE_MASK (((uint64_t)1 << 47) - 1)

/* Largest charge between two polls of the clock and the control words. A poll costs some 50 ns,
 * once every few hundred or thousand calls. */
enum { POLL_BYTES = 256 << 10, POLL_CALLS = 4096 };

/* Upper bound of a distance, so that the conversion to int64_t is defined. */
#define DISTANCE_MAX 4e18

#define LN2_HIGH 0x1.62e42feep-1
#define LN2_LOW 0x1.a39ef35793c76p-33

bool
draw_is_valid(uint64_t mode, uint64_t period)
{
    switch (mode) {
    case DISK_MODE_EXACT:
    case DISK_MODE_OFF:
        return period == 0;
    case DISK_MODE_BYTES:
        return period >= DISK_SAMPLE_BYTES_MIN && period <= DISK_SAMPLE_PERIOD_MAX;
    case DISK_MODE_COUNT:
        return period >= DISK_SAMPLE_COUNT_MIN && period <= DISK_SAMPLE_PERIOD_MAX;
    default:
        return false;
    }
}

/* Return the mean with which a charge of 1 is sampled with the probability 1 / PERIOD: -1 / log(1 -
 * 1 / PERIOD). Large periods use the series of artanh, which avoids cancellation. */
static double
mean_of_calls(double period)
{
    double s = 1 / (2 * period - 1);

    if (period < 1000)
        return -1 / draw_log(1 - 1 / period);
    return 1 / (2 * s * (1 + s * s / 3 * (1 + s * s * 3 / 5)));
}

struct draw_mode
draw_mode(uint64_t mode, uint64_t period)
{
    struct draw_mode p = {.mode = (uint32_t)mode, .period = period, .poll = POLL_BYTES};

    if (mode == DISK_MODE_EXACT)
        return p;
    p.mask = CHARGE_MASK;
    p.mean = (double)period;
    if (mode == DISK_MODE_COUNT) {
        p.mask = 0;
        p.poll = POLL_CALLS;
        p.mean = mean_of_calls((double)period);
    }
    return p;
}

double
draw_log(double x)
{
    enum { TERMS = 12, MANTISSA_BITS = 52, BIAS = 1023 };
    uint64_t bits;
    int64_t exponent;
    double m, s, sum = 0;

    memcpy(&bits, &x, sizeof bits);
    exponent = (int64_t)(bits >> MANTISSA_BITS) - BIAS;
    bits = (bits & ((UINT64_C(1) << MANTISSA_BITS) - 1)) | (uint64_t)BIAS << MANTISSA_BITS;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m /= 2;
        exponent++;
    }
    s = (m - 1) / (m + 1); // log(m) = 2 artanh(s), and |s| < 0.172.
    for (int k = TERMS; k > 0; k--)
        sum = (sum + 1.0 / (2 * k + 1)) * s * s;
    return (double)exponent * LN2_HIGH + ((double)exponent * LN2_LOW + 2 * s * (1 + sum));
}

/* Return exp(-R) - 1 for |R| < 0.7. */
static double
small_share(double r)
{
    enum { TERMS = 18 };
    double sum = 0;

    for (int k = TERMS; k > 1; k--)
        sum = (sum + 1) * -r / k;
    return -r * (1 + sum);
}

double
draw_share(double x)
{
    enum { ALL = 60, MANTISSA_BITS = 52, BIAS = 1023 };
    double k, scale;
    uint64_t bits;

    if (x > ALL)
        return 1;
    k = (double)(int64_t)(x * 1.4426950408889634 + 0.5);
    if (x < 0.6)
        return -small_share(x);
    bits = (uint64_t)(BIAS - (int64_t)k) << MANTISSA_BITS;
    memcpy(&scale, &bits, sizeof scale);
    return 1 - scale * (1 + small_share(x - k * LN2_HIGH - k * LN2_LOW));
}

uint64_t
draw_random(uint64_t *random)
{
    // The generator is a hashed counter. Its odd step makes the counter visit all words.
    *random += 0x9e3779b97f4a7c15u;
    return hash_u64(*random);
}

/* Return a random number, uniformly distributed in (0, 1]. */
static double
draw_uniform(uint64_t *random)
{
    return (double)((draw_random(random) >> 11) + 1) * 0x1p-53;
}

int64_t
draw_distance(const struct draw_mode *mode, uint64_t *random)
{
    double distance = -mode->mean * draw_log(draw_uniform(random));

    // A point at distance D lies in the unit of charge numbered floor(D).
    return distance < DISTANCE_MAX ? (int64_t)distance : (int64_t)DISTANCE_MAX;
}

/* Return 1 / p for a block of SIZE_BYTES. Store p in *RET_SHARE. */
static double
inverse(const struct draw_mode *mode, uint64_t size_bytes, double *ret_share)
{
    if (mode->mode == DISK_MODE_COUNT) {
        *ret_share = 1 / (double)mode->period;
        return (double)mode->period;
    }
    *ret_share = draw_share((double)draw_charge(size_bytes, mode->mask) / mode->mean);
    return 1 / *ret_share;
}

bool
draw_rounds_up(const struct draw_mode *mode, uint64_t size_bytes, uint64_t *random)
{
    double share, w = inverse(mode, size_bytes, &share);

    return w - (double)(uint64_t)w > draw_uniform(random);
}

struct draw_weight
draw_weight(const struct draw_mode *mode, uint64_t size_bytes, bool rounded_up)
{
    double share, w = inverse(mode, size_bytes, &share);
    double part = w - (double)(uint64_t)w, size = (double)size_bytes;
    double points = (double)draw_charge(size_bytes, mode->mask) / mode->mean;
    double variance = (1 - share) * w * w;

    return (struct draw_weight){
        .blocks = (uint64_t)w + rounded_up,
        .bytes = (uint64_t)(size * w + 0.5),
        // Add the variance of the rounding, which the sample's size does not include.
        .blocks_variance = variance + part * (1 - part),
        .bytes_variance = variance * size * size,
        .blocks_unit = 1 / points,
        .bytes_unit = size / points,
    };
}
