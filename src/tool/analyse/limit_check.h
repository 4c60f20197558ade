/* limit_check.h: limits for a profile's totals, or for their growth from another one: the gate of
 * tests.
 */
#ifndef ANALYSE_LIMIT_CHECK_H
#define ANALYSE_LIMIT_CHECK_H

#include "analyse/diff.h"

/* Quantities that a limit can bound. */
enum limit_of {
    LIMIT_PEAK,      // Bytes live at the peak.
    LIMIT_INUSE,     // Bytes still live.
    LIMIT_LEAKS,     // The same without stacks that the built-in list suppresses.
    LIMIT_ALLOC,     // Bytes ever allocated.
    LIMIT_COUNT,     // Calls that allocated.
    LIMIT_TEMPORARY, // Short-lived blocks; of older profiles temporary ones.
    LIMIT_CORRUPTION, // Overflowed blocks and double frees (profile_corruptions).
    LIMIT_KINDS,
};

struct limit {
    bool given;
    bool unnamed;    // Default limit without a name: ignored where it has no meaning.
    bool is_percent; // Percentage of the earlier value.
    uint64_t value;  // Bytes or calls; with is_percent, millionths of the whole.
};

struct limits {
    struct limit v[LIMIT_KINDS];
};

/* Return true if L has any limit. */
bool limits_are_given(const struct limits *l);

/* Return the name of WHAT for users, and whether it counts bytes. */
const char *limit_name(enum limit_of what);
bool limit_is_bytes(enum limit_of what);

/* Return the metric that WHAT limits; of LIMIT_CORRUPTION the peak, which also needs a whole
 * run. */
enum metric limit_metric(enum limit_of what);

/* A limit and the growth compared with it. */
struct limit_result {
    enum limit_of of;
    struct limit limit;
    int64_t before;  // 0 for a profile alone.
    int64_t value;   // After it.
    int64_t allowed; // Largest growth allowed above BEFORE.
    int64_t least;   // Lower bound of the growth above BEFORE: less than the difference for
                     // estimates and for peaks of several threads.
    bool exceeded;   // The lower bound exceeds the limit.
};

struct limit_results {
    struct limit_result v[LIMIT_KINDS];
    size_t count;
};

/* Compare L with the growth D from BEFORE to AFTER, whose stacks OPTIONS chose. Temporary data is
 * from ARENA. Returns 0, or HEAPTAP_USAGE with ERR set if the limit's quantity is unknown at a
 * moment, or has no interval in an estimate. */
int limit_check_growth(const struct limits *l, const struct diff *d, const struct diff_side *before,
                       const struct diff_side *after, const struct stacks_options *options,
                       struct arena *arena, struct limit_results *ret, struct err *err);

/* Compare L with the totals of P, which must be symbolised if leaks are limited. Percentages have
 * no meaning here. Returns as limit_check_growth. */
int limit_check_profile(const struct limits *l, const struct profile *p, struct arena *arena,
                        struct limit_results *ret, struct err *err);

#endif
