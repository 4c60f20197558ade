/* interval.h: how far an estimate may be off: 95 % intervals. docs/internals/sampling.md has the
 * methods and where they come from. */
#ifndef ANALYSE_INTERVAL_H
#define ANALYSE_INTERVAL_H

#include "analyse/stacks.h"

/* The truth lies in [low, high] in 95 of 100 recordings; low == high where nothing was left out. */
struct interval {
    double low, high;
};

/* Around TOTAL, of which ESTIMATE comes from so many SAMPLES, with VARIANCE, and one more point of
 * the draw might have added UNIT; UNIT_FEW is what is assumed of it when there are few samples. */
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

/* Of one of the COUNTERS, whose errors are E. */
struct interval interval_of(const struct counters *c, const struct errors *e,
                            enum interval_of what);

/* Of a METRIC; of temporary allocations none is known, and it is the value. */
struct interval interval_of_metric(const struct counters *c, const struct errors *e,
                                   enum metric metric);

/* Of what grew from BEFORE, whose interval is B, to AFTER, whose interval is A; the two recordings
 * were drawn independently. */
struct interval interval_of_growth(double before, struct interval b, double after,
                                   struct interval a);

/* X as a whole number that fits. */
int64_t interval_rounded(double x);

/* Too wide to show a VALUE with an error beside it: as of less than INTERVAL_FEW_SAMPLES. */
bool interval_is_rough(struct interval i, double value);

/* How many samples stand behind it; 0 also where nothing was left out. */
double interval_samples(const struct errors *e, enum interval_of what);

/* Fewer samples than that give no number to rely on: show the interval, not the estimate. */
enum { INTERVAL_FEW_SAMPLES = 30 };

/* What a site without any sample may have had, in units of the period. */
double interval_unseen(void);

/* The quantile P of the gamma distribution with this SHAPE and scale 1. */
double interval_gamma_quantile(double p, double shape);

#endif
