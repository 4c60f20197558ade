/* interval.c: intervals for weighted counts of rare events.
 *
 * An estimate is a sum over weighted samples. With many samples, the score interval applies. It has
 * all values that differ from the estimate by at most 1.96 of *their* standard deviations; the
 * variance grows in proportion to the value. It is asymmetric, as the distribution is. Unlike the
 * usual +- interval, it covers 95 % even at 30 samples.
 *
 * With few samples, the gamma interval of Fay and Feuer (Statistics in Medicine 16, 1997) applies.
 * It extends the exact interval of a Poisson count to weighted sums by matching mean and variance.
 * Its upper end assumes that one more event of the largest weight was just missed. Its lower end is
 * conditional on at least one sample, because values without samples are not shown. It is wide
 * rather than wrong. Zero samples are its limiting case: up to ln(40) = 3.7 units.
 *
 * Both intervals know only the observed events. A site of large blocks, which are always sampled,
 * and of a few small ones without a sample would seem to be exact. So the variance of one more
 * sample widens the upper end of the score interval as well; with many samples this is negligible.
 *
 * The number of samples and estimate^2 / variance determine whether samples are many. The quotient
 * is the size of an equally weighted sample of the same quality. */
#include "analyse/interval.h"

#include <math.h>

#include "util/ensure.h"

#define Z 1.959963984540054 // Quantile of the normal distribution at 97.5 %.
#define TAIL 0.025
#define LOG_TAIL 3.6888794541139363 // -ln(TAIL)

enum { STEPS_MAX = 5000, BISECTIONS = 200 };

/* Limits of the variance, in squared weights of the rarest kind of block seen. Below FEW_UNITS, an
 * even rarer kind may have no sample. From MANY_UNITS on, sums are nearly normal. */
enum { FEW_UNITS = 10, MANY_UNITS = 60 };

/* Above this shape the gamma distribution is nearly normal, and its series is long. */
#define SHAPE_MAX 1e4

/* Return the probability of values below X in the gamma distribution with SHAPE: by its series for
 * small X, by the continued fraction (Lentz's method) for large X. */
static double
gamma_below(double shape, double x)
{
    double front = exp(shape * log(x) - x - lgamma(shape));
    double sum, term, b, c, d, h;

    if (x < shape + 1) {
        sum = term = 1 / shape;
        for (int k = 1; k < STEPS_MAX && term > sum * 1e-16; k++)
            sum += term *= x / (shape + k);
        return front * sum;
    }
    b = x + 1 - shape;
    c = 1e300;
    d = h = 1 / b;
    for (int k = 1; k < STEPS_MAX; k++) {
        double a = -k * (k - shape), change;

        b += 2;
        d = a * d + b;
        c = b + a / c;
        d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
        change = c * d;
        h *= change;
        if (fabs(change - 1) < 1e-15)
            break;
    }
    return 1 - front * h;
}

double
interval_gamma_quantile(double p, double shape)
{
    double low = 0, high = shape + 1;

    if (!(shape > 0))
        return 0;
    while (high < 1e12 && gamma_below(shape, high) < p)
        high *= 2;
    for (int i = 0; i < BISECTIONS && high - low > high * 1e-13; i++) {
        double middle = (low + high) / 2;

        if (gamma_below(shape, middle) < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* Return the end of the score interval on SIDE, -1 or 1. */
static double
score_end(double estimate, double variance, double side)
{
    double step = variance / estimate; // Variance per unit of the value.

    return estimate + Z * Z * step / 2 + side * Z * sqrt(variance + Z * Z * step * step / 4);
}

static struct interval
score_interval(double estimate, double variance, double unit)
{
    return (struct interval){score_end(estimate, variance, -1),
                             score_end(estimate, variance + unit * unit, 1)};
}

/* Return the lower end for SHAPE in units of the distribution's scale. It is the mean at which,
 * given at least one sample, the sum is reached with probability TAIL. Solves gamma_below(shape, x)
 * / (1 - exp(-x)) = TAIL for x. For one sample the end is 0, because at least one sample is
 * given. */
static double
seen_low(double shape)
{
    double low = 0, high = interval_gamma_quantile(TAIL, shape);

    if (shape <= 1)
        return 0;
    for (int i = 0; i < BISECTIONS && high - low > high * 1e-13; i++) {
        double middle = (low + high) / 2;

        if (gamma_below(shape, middle) < -TAIL * expm1(-middle))
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* Return one end of the interval for the gamma distribution with MEAN and VARIANCE: the lower end
 * if SIDE is -1, the upper end if SIDE is 1. TAIL is the probability of a value beyond the end. */
static double
gamma_end(double mean, double variance, double side)
{
    double shape = mean * mean / variance;

    if (!(variance > 0))
        return mean;
    if (!(shape < SHAPE_MAX))
        return mean + side * Z * sqrt(variance);
    return variance / mean *
           (side < 0 ? seen_low(shape) : interval_gamma_quantile(1 - TAIL, shape));
}

static struct interval
gamma_interval(double estimate, double variance, double unit)
{
    return (struct interval){gamma_end(estimate, variance, -1),
                             gamma_end(estimate + unit, variance + unit * unit, 1)};
}

struct interval
interval_around(double total, double samples, double estimate, double variance, double unit,
                double unit_few)
{
    double exact = total - estimate;
    struct interval r = {0, 0};

    if (!(estimate > 0))
        r.high = unit_few * LOG_TAIL;
    else if (samples < INTERVAL_FEW_SAMPLES || variance < FEW_UNITS * unit * unit)
        r = gamma_interval(estimate, variance, unit_few);
    else if (variance < MANY_UNITS * unit * unit)
        r = gamma_interval(estimate, variance, unit);
    else
        r = score_interval(estimate, variance, unit);
    // The counters of a damaged file may be so large that `exact` is only a rounding error.
    r = (struct interval){fmin(exact + r.low, total), fmax(exact + r.high, total)};
    ENSURE_VALID(interval_is_valid(r, total));
    return r;
}

static struct error_sum
interval_sum_of(const struct errors *e, enum interval_of what)
{
    switch (what) {
    case INTERVAL_ALLOCATIONS:
    case INTERVAL_ALLOCATED_BYTES:
        return e->allocated;
    case INTERVAL_LIVE_BLOCKS:
    case INTERVAL_LIVE_BYTES:
        return errors_live(e);
    case INTERVAL_PEAK_BLOCKS:
    case INTERVAL_PEAK_BYTES:
        return e->peak;
    }
    return (struct error_sum){0};
}

static bool
is_bytes(enum interval_of what)
{
    return what == INTERVAL_ALLOCATED_BYTES || what == INTERVAL_LIVE_BYTES ||
           what == INTERVAL_PEAK_BYTES;
}

/* Return the interval of S, a sum of shares of callers. A share is between 0 and the whole amount.
 * If it is more than half of the whole, the interval of the remainder is computed instead, because
 * the method is made for the rarer part. */
static struct interval
interval_of_share(const struct share *s)
{
    double estimate = s->estimate + s->open, bound = s->bound + s->whole;
    double least = estimate < bound - estimate ? estimate : bound - estimate;
    struct interval i;

    if (!(bound > 0))
        return (struct interval){estimate, estimate};
    // The number of samples that `least` represents determines if there are few.
    i = interval_around(least, least / (s->unit > 0 ? s->unit : 1), least, share_variance(s),
                        s->unit, s->unit);
    i.low = fmin(fmax(i.low, 0), least);
    i.high = fmax(fmin(i.high, bound), least);
    if (least != estimate)
        i = (struct interval){bound - i.high, bound - i.low};
    return (struct interval){fmin(i.low, estimate), fmax(i.high, estimate)};
}

/* Return how much of blocks whose callers are unknown may belong to the counter WHAT. */
static double
interval_callerless(const struct errors *e, enum interval_of what)
{
    const struct share *s = &e->shares[what];
    double others = e->callerless[what] - e->callerless_in[what];

    return fmax(others, s->left + s->open_left);
}

/* Return I, the interval of the counter WHAT, widened by the shares of E in it. */
static struct interval
with_shares(struct interval i, const struct errors *e, enum interval_of what)
{
    const struct share *s = &e->shares[what];
    double estimate = s->estimate + s->open;
    struct interval of_share = interval_of_share(s);

    return (struct interval){i.low - (estimate - of_share.low),
                             i.high + (of_share.high - estimate) + interval_callerless(e, what)};
}

static struct interval
interval_of_samples(const struct counters *c, const struct errors *e, enum interval_of what)
{
    struct error_sum s = interval_sum_of(e, what);
    double total = (double)counters_value(c, (enum share_of)what);

    if (is_bytes(what))
        return interval_around(total, s.samples, s.bytes, s.bytes_variance, e->bytes_unit_max,
                               e->bytes_unit_few);
    return interval_around(total, s.samples, s.blocks, s.blocks_variance, e->blocks_unit_max,
                           e->blocks_unit_few);
}

struct interval
interval_of(const struct counters *c, const struct errors *e, enum interval_of what)
{
    e = errors_or_none(e);
    return with_shares(interval_of_samples(c, e, what), e, what);
}

/* The method derives the variances from the ends of both intervals: G. Y. Zou and A. Donner,
 * Statistics in Medicine 27, 2008; for proportions, R. G. Newcombe 1998. */
struct interval
interval_of_growth(double before, struct interval b, double after, struct interval a)
{
    double growth = after - before;

    return (struct interval){growth - hypot(after - a.low, b.high - before),
                             growth + hypot(a.high - after, before - b.low)};
}

int64_t
interval_rounded(double x)
{
    if (x > 9e18)
        return INT64_MAX;
    return x < -9e18 ? INT64_MIN : (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

bool
interval_is_rough(struct interval i, double value)
{
    // With 30 equal samples, the ends are 0.74 times the value apart.
    return i.high - i.low > 0.75 * value;
}

struct interval
interval_of_metric(const struct counters *c, const struct errors *e, enum metric metric)
{
    static const enum interval_of of[] = {
        [METRIC_INUSE] = INTERVAL_LIVE_BYTES,
        [METRIC_PEAK] = INTERVAL_PEAK_BYTES,
        [METRIC_ALLOC] = INTERVAL_ALLOCATED_BYTES,
        [METRIC_COUNT] = INTERVAL_ALLOCATIONS,
    };
    double value = (double)metric_value(c, metric);

    return metric == METRIC_TEMPORARY ? (struct interval){value, value}
                                      : interval_of(c, e, of[metric]);
}

double
interval_samples(const struct errors *e, enum interval_of what)
{
    e = errors_or_none(e);
    return interval_sum_of(e, what).samples + e->shares[what].samples;
}

double
interval_unseen(void)
{
    return LOG_TAIL;
}

bool
interval_is_valid(struct interval i, double value)
{
    VALID(isfinite(i.low) && isfinite(i.high)); // Callers divide by these limits.
    VALID(i.low <= value && value <= i.high);   // The observed value is always possible.
    return true;
}
