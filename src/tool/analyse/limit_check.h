/* limit_check.h: limits of a profile's totals, or of their growth from an earlier profile, for use
 * in tests. */
#ifndef ANALYSE_LIMIT_CHECK_H
#define ANALYSE_LIMIT_CHECK_H

#include "analyse/diff.h"
#include "analyse/leaks.h"

/* Quantities that a limit can bound. */
enum limit_of {
    LIMIT_PEAK,      // Bytes live at the peak.
    LIMIT_INUSE,     // Bytes still live.
    LIMIT_LEAKS,     // Bytes still live, without stacks that the built-in list suppresses.
    LIMIT_ALLOC,     // Bytes ever allocated.
    LIMIT_COUNT,     // Calls that allocated.
    LIMIT_TEMPORARY, // Short-lived blocks; in older profiles, temporary blocks.
    LIMIT_CORRUPTION, // Overflowed blocks and double frees (profile_corruptions).
    LIMIT_KINDS,
};

/* The unit of a limit in percent is 1 / PERCENT_SCALE percent. */
enum { PERCENT_SCALE = 100000000 };

struct limit {
    bool given;
    bool unnamed;    // Given without a name; ignored where its default quantity has no meaning.
    bool is_percent; // Percentage of the earlier value.
    uint64_t value;  // Bytes or calls; with is_percent, in 1 / PERCENT_SCALE percent.
};

struct limits {
    struct limit v[LIMIT_KINDS];
};

/* Return true if L has any limit. */
bool limits_are_given(const struct limits *l);

/* limit_name returns the name of WHAT for users; limit_is_bytes returns true if WHAT counts
 * bytes. */
const char *limit_name(enum limit_of what);
bool limit_is_bytes(enum limit_of what);

/* Return the metric that WHAT limits. LIMIT_CORRUPTION has METRIC_PEAK: like the peak, it needs a
 * whole run. */
enum metric limit_metric(enum limit_of what);

/* The function of user code with the largest part of a value or of the growth. */
struct limit_cause {
    const char *function; // NULL = unknown.
    int64_t amount;       // May exceed the growth, if other functions shrank.
};

/* A limit and the growth compared with it. */
struct limit_result {
    enum limit_of of;
    struct limit limit;
    int64_t before;  // Value in the earlier profile; 0 if there is none.
    int64_t value;   // Value in the profile.
    int64_t allowed; // Largest growth allowed from BEFORE.
    // Lower bound of the growth from BEFORE. It is less than the difference for estimates and for
    // peaks of several threads.
    int64_t least;
    // Upper bound of the growth from BEFORE. It is more than the difference for estimates.
    int64_t most;
    bool exceeded;   // The lower bound exceeds the limit.
    struct limit_cause cause; // Set if the limit is exceeded.
};

struct limit_results {
    struct limit_result v[LIMIT_KINDS];
    size_t count;
};

/* Totals of some stacks of P, to compare with a limit. */
struct limit_totals {
    const struct profile *p;
    struct counters counters;
    struct errors errors;
};

/* Set the value of J, whose quantity is set, and its bounds to those of T. */
void limit_measure(struct limit_result *j, const struct limit_totals *t);

/* Return the growth that PERCENT (in 1 / PERCENT_SCALE percent) of BASE and AMOUNT allow. */
int64_t limit_allowed(int64_t base, uint64_t percent, uint64_t amount);

/* Judge J by its bounds: every verdict on a limit is made here. */
void limit_judge(struct limit_result *j);

/* Find the live blocks of P that count as leaks, under OPTIONS. Returns as leaks_find. */
int limit_find_leaks(const struct profile *p, const struct stacks_options *options,
                     struct arena *arena, struct leaks *ret, struct err *err);

/* Return 0, or HEAPTAP_USAGE with ERR set if WHAT is an estimate without bounds in P. IS_FILTERED:
 * the amount depends on callers. */
int limit_check_range(enum limit_of what, const struct profile *p, bool is_filtered,
                      struct err *err);

/* Return true if a limit in RESULTS is exceeded. */
bool limits_exceeded(const struct limit_results *results);

/* Compare the limits L with the growth D from BEFORE to AFTER, whose stacks OPTIONS selected.
 * Temporary data is from ARENA. Returns 0, or HEAPTAP_USAGE with ERR set if a limited quantity is
 * unknown at a moment, or is an estimate without an interval. */
int limit_check_growth(const struct limits *l, const struct diff *d, const struct diff_side *before,
                       const struct diff_side *after, const struct stacks_options *options,
                       struct arena *arena, struct limit_results *ret, struct err *err);

/* Compare the limits L with the totals of P. Requires P to be symbolised if leaks are limited.
 * Finds no causes. Percentages have no meaning here. Returns as limit_check_growth. */
int limit_check_profile(const struct limits *l, const struct profile *p, struct arena *arena,
                        struct limit_results *ret, struct err *err);

/* Find the causes of the exceeded limits in RESULTS of P, which must be symbolised. */
void limit_check_causes(const struct profile *p, struct arena *arena,
                        struct limit_results *results);

/* --- limit_cause.c: the function behind an exceeded limit. */

/* Set *RET to the function whose METRIC grew most from BEFORE to AFTER. */
void limit_cause_of_growth(enum metric metric, const struct diff_side *before,
                           const struct diff_side *after, struct arena *arena,
                           struct limit_cause *ret);

/* Set *RET to the function with the largest METRIC in SIDE. */
void limit_cause_of_value(enum metric metric, const struct diff_side *side, struct arena *arena,
                          struct limit_cause *ret);

#endif
