/* interval.h: 95 % intervals of estimates. docs/internals/sampling.md has the methods and their
 * sources. */
#ifndef ANALYSE_INTERVAL_H
#define ANALYSE_INTERVAL_H

#include "analyse/stacks.h"

/* The true value lies in [low, high] in 95 of 100 recordings; low == high for exact values. */
struct interval {
    double low, high;
};

/* Return the interval around TOTAL. Its part ESTIMATE comes from SAMPLES samples with VARIANCE.
 * UNIT is the amount that one more sample would add; UNIT_FEW replaces UNIT if there are few
 * samples. */
struct interval interval_around(double total, double samples, double estimate, double variance,
                                double unit, double unit_few);

/* The counters of enum share_of, with the same values. */
enum interval_of {
    INTERVAL_ALLOCATIONS = SHARE_ALLOCATIONS,
    INTERVAL_ALLOCATED_BYTES = SHARE_ALLOCATED_BYTES,
    INTERVAL_LIVE_BLOCKS = SHARE_LIVE_BLOCKS,
    INTERVAL_LIVE_BYTES = SHARE_LIVE_BYTES,
    INTERVAL_PEAK_BLOCKS = SHARE_PEAK_BLOCKS,
    INTERVAL_PEAK_BYTES = SHARE_PEAK_BYTES,
};

/* Return the interval of the counter WHAT of C, whose errors are E; NULL = exact. */
struct interval interval_of(const struct counters *c, const struct errors *e,
                            enum interval_of what);

/* Return the interval of METRIC. Short-lived blocks have no interval: both ends are the value. */
struct interval interval_of_metric(const struct counters *c, const struct errors *e,
                                   enum metric metric);

/* Return the interval of the growth from BEFORE, with interval B, to AFTER, with interval A.
 * Requires that the samples of the two recordings are independent. */
struct interval interval_of_growth(double before, struct interval b, double after,
                                   struct interval a);

/* Return the int64_t nearest to X. */
int64_t interval_rounded(double x);

/* Return true if I is too wide to show VALUE with an error. An interval with fewer than
 * INTERVAL_FEW_SAMPLES samples is that wide. */
bool interval_is_rough(struct interval i, double value);

/* Return the number of samples of the counter WHAT; 0 for exact counters. */
double interval_samples(const struct errors *e, enum interval_of what);

/* With fewer samples an estimate is unreliable, and views show the interval instead. */
enum { INTERVAL_FEW_SAMPLES = 30 };

/* Return the upper bound for a site without samples, in units of the sampling period. */
double interval_unseen(void);

/* Return the quantile P of the gamma distribution with SHAPE and scale 1. */
double interval_gamma_quantile(double p, double shape);

/* Return true if I, the interval of VALUE, keeps the invariants above. Only reads; see
 * util/ensure.h. */
bool interval_is_valid(struct interval i, double value);

#endif
