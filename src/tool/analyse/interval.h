/* interval.h: how far an estimate may be off: 95 % intervals. docs/internals/sampling.md has the
 * methods and where they come from. */
#ifndef ANALYSE_INTERVAL_H
#define ANALYSE_INTERVAL_H

#include "analyse/stacks.h"

/* The truth lies in [low, high] in 95 of 100 recordings; low == high where nothing was left out. */
struct interval {
    double low, high;
};

/* Return the interval around TOTAL. Its part ESTIMATE comes from SAMPLES samples with VARIANCE. One
 * more sample would have added UNIT; UNIT_FEW is assumed when there are few samples. */
struct interval interval_around(double total, double samples, double estimate, double variance,
                                double unit, double unit_few);

enum interval_of {
    INTERVAL_ALLOCATIONS,
    INTERVAL_ALLOCATED_BYTES,
    INTERVAL_LIVE_BLOCKS,
    INTERVAL_LIVE_BYTES,
    INTERVAL_PEAK_BLOCKS,
    INTERVAL_PEAK_BYTES,
};

/* Return the interval of the counter WHAT of C, whose errors are E. */
struct interval interval_of(const struct counters *c, const struct errors *e,
                            enum interval_of what);

/* Return the interval of METRIC. Short-lived blocks have none: both ends are the value. */
struct interval interval_of_metric(const struct counters *c, const struct errors *e,
                                   enum metric metric);

/* Return the interval of the growth from BEFORE, whose interval is B, to AFTER, whose interval is
 * A. The two recordings must have been drawn independently. */
struct interval interval_of_growth(double before, struct interval b, double after,
                                   struct interval a);

/* Return X rounded to the nearest whole number that fits into the result. */
int64_t interval_rounded(double x);

/* Return true if I is too wide to show VALUE with an error: as wide as with fewer samples than
 * INTERVAL_FEW_SAMPLES. */
bool interval_is_rough(struct interval i, double value);

/* Return the number of samples behind counter WHAT; 0 also for exact counters. */
double interval_samples(const struct errors *e, enum interval_of what);

/* With fewer samples the estimate is unreliable: show the interval instead. */
enum { INTERVAL_FEW_SAMPLES = 30 };

/* Return the upper bound for a site without samples, in units of the period. */
double interval_unseen(void);

/* Return the quantile P of the gamma distribution with this SHAPE and scale 1. */
double interval_gamma_quantile(double p, double shape);

/* Return true if I, the interval of VALUE, keeps the invariants above. Only reads; see
 * util/ensure.h. */
bool interval_is_valid(struct interval i, double value);

#endif
