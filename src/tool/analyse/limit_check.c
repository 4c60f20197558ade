/* limit_check.c: compare a profile with limits.
 *
 * A test that fails by chance gets disabled. So a limit is exceeded only if all possible true
 * values exceed it: those in the interval of an estimate, and for peaks of several threads also
 * those within the error of the earlier peak. Shrinking is never a finding. Percentages refer to
 * the earlier value; any growth from zero exceeds them. Estimates of short-lived blocks have no
 * known error, so limits of them are refused for sampled profiles.
 *
 * Leaks are defined as in `heaptap leaks`, without the blocks that the C and C++ libraries keep on
 * purpose. They are computed here; every other value is a stored total. */
#include "analyse/limit_check.h"

/* Names and metrics, by enum limit_of. */
static const struct {
    const char *name;
    enum metric metric;
} kinds[] = {
    [LIMIT_PEAK] = {"peak", METRIC_PEAK},
    [LIMIT_INUSE] = {"inuse", METRIC_INUSE},
    [LIMIT_LEAKS] = {"leaks", METRIC_INUSE},
    [LIMIT_ALLOC] = {"alloc", METRIC_ALLOC},
    [LIMIT_COUNT] = {"allocations", METRIC_COUNT},
    [LIMIT_TEMPORARY] = {"temporary", METRIC_TEMPORARY},
    [LIMIT_CORRUPTION] = {"corruption", METRIC_PEAK},
};

bool
limits_are_given(const struct limits *l)
{
    for (size_t i = 0; i < LIMIT_KINDS; i++)
        if (l->v[i].given)
            return true;
    return false;
}

bool
limits_exceeded(const struct limit_results *results)
{
    for (size_t i = 0; i < results->count; i++)
        if (results->v[i].exceeded)
            return true;
    return false;
}

const char *
limit_name(enum limit_of what)
{
    return kinds[what].name;
}

bool
limit_is_bytes(enum limit_of what)
{
    return what != LIMIT_CORRUPTION && metric_is_bytes(kinds[what].metric);
}

enum metric
limit_metric(enum limit_of what)
{
    return kinds[what].metric;
}

int
limit_find_leaks(const struct profile *p, const struct stacks_options *options,
                 struct arena *arena, struct leaks *ret, struct err *err)
{
    struct suppressions suppressions = {0};

    suppress_add_builtin(&suppressions, arena);
    return leaks_find(p, options, &suppressions, arena, ret, err);
}

static struct limit_totals
totals_of(const struct profile *p, const struct leaks *leaks)
{
    return (struct limit_totals){p, leaks->stacks.total, leaks->stacks.errors};
}

/* Return the amount of WHAT in the totals T. */
static int64_t
limit_check_value_of(enum limit_of what, const struct limit_totals *t)
{
    if (what == LIMIT_CORRUPTION)
        return (int64_t)(profile_corruptions(&t->p->losses) & INT64_MAX);
    return metric_value(&t->counters, kinds[what].metric);
}

void
limit_measure(struct limit_result *j, const struct limit_totals *t)
{
    j->value = j->least = j->most = limit_check_value_of(j->of, t);
    if (profile_has_errors(t->p) && j->of != LIMIT_CORRUPTION) {
        struct interval range =
            interval_of_metric(&t->counters, &t->errors, kinds[j->of].metric);

        j->least = interval_rounded(range.low);
        j->most = interval_rounded(range.high);
    }
}

int64_t
limit_allowed(int64_t base, uint64_t percent, uint64_t amount)
{
    unsigned __int128 sum = amount;

    if (base > 0)
        sum += (unsigned __int128)base * percent / ((uint64_t)100 * PERCENT_SCALE);
    return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

static int64_t
allowed_by(const struct limit *l, int64_t before)
{
    return limit_allowed(before, l->is_percent ? l->value : 0, l->is_percent ? 0 : l->value);
}

void
limit_judge(struct limit_result *j)
{
    j->exceeded = j->least > j->allowed;
}

static void
limit_check_add(struct limit_results *ret, struct limit_result j)
{
    limit_judge(&j);
    ret->v[ret->count++] = j;
}

/* With sampled callers, only a filter makes a total an estimate. */
int
limit_check_range(enum limit_of what, const struct profile *p, bool is_filtered, struct err *err)
{
    bool is_sample = profile_is_estimate(p);

    if (what != LIMIT_TEMPORARY || (!is_sample && (!p->has_shares || !is_filtered)))
        return 0;
    return err_set(err, HEAPTAP_USAGE,
                   "a limit of '%s': %s give no error bound for it; record without %s",
                   kinds[what].name, is_sample ? "samples" : "sampled callers",
                   is_sample ? "--sample" : "--callers");
}

/* Set *RET to true if L, the limit of WHAT, applies to D. Returns 0, or HEAPTAP_USAGE if a limit
 * given by name does not apply. */
static int
check_known(const struct limit *l, enum limit_of what, const struct diff *d, bool *ret,
            struct err *err)
{
    *ret = metric_is_known(&d->before, kinds[what].metric) &&
           metric_is_known(&d->after, kinds[what].metric);
    if (*ret || l->unnamed)
        return 0;
    return err_set(err, HEAPTAP_USAGE,
                   "a limit of '%s' needs a whole run, not a moment or a range of time",
                   kinds[what].name);
}

/* Set the bounds of the growth in J. */
static void
set_bounds(struct limit_result *j, const struct limit_totals *before,
           const struct limit_totals *after)
{
    enum metric metric = kinds[j->of].metric;
    struct interval i = diff_interval(&before->counters, &before->errors, &after->counters,
                                      &after->errors, metric);

    j->least = j->most = counters_difference(j->value, j->before);
    if (j->of != LIMIT_CORRUPTION && i.low < i.high) {
        j->least = interval_rounded(i.low);
        j->most = interval_rounded(i.high);
    }
    if (j->of == LIMIT_PEAK)
        j->least = counters_difference(j->least, before->p->peak_error_bytes);
}

int
limit_check_growth(const struct limits *l, const struct diff *d, const struct diff_side *before,
                   const struct diff_side *after, const struct stacks_options *options,
                   struct arena *arena, struct limit_results *ret, struct err *err)
{
    *ret = (struct limit_results){0};
    for (int i = 0; i < LIMIT_KINDS; i++) {
        struct limit_totals a = {before->p, d->before, d->before_errors};
        struct limit_totals b = {after->p, d->after, d->after_errors};
        struct diff_side from = *before, to = *after;
        struct leaks leaks_a, leaks_b;
        struct limit_result j = {.of = (enum limit_of)i, .limit = l->v[i]};
        bool known = false;
        int rc;

        if (!j.limit.given)
            continue;
        rc = check_known(&j.limit, j.of, d, &known, err);
        if (rc == 0 && known)
            rc = limit_check_range(j.of, before->p, options->filter != NULL, err);
        if (rc == 0 && known)
            rc = limit_check_range(j.of, after->p, options->filter != NULL, err);
        if (rc == 0 && i == LIMIT_LEAKS)
            rc = limit_find_leaks(before->p, options, arena, &leaks_a, err);
        if (rc == 0 && i == LIMIT_LEAKS)
            rc = limit_find_leaks(after->p, options, arena, &leaks_b, err);
        if (rc != 0)
            return rc;
        if (!known)
            continue;
        if (i == LIMIT_LEAKS) {
            a = totals_of(before->p, &leaks_a);
            b = totals_of(after->p, &leaks_b);
            from.stacks = &leaks_a.stacks;
            to.stacks = &leaks_b.stacks;
        }
        j.before = limit_check_value_of(j.of, &a);
        j.value = limit_check_value_of(j.of, &b);
        j.allowed = allowed_by(&j.limit, j.before);
        set_bounds(&j, &a, &b);
        limit_check_add(ret, j);
        if (ret->v[ret->count - 1].exceeded && i != LIMIT_CORRUPTION)
            limit_cause_of_growth(kinds[i].metric, &from, &to, arena,
                                  &ret->v[ret->count - 1].cause);
    }
    return 0;
}

int
limit_check_profile(const struct limits *l, const struct profile *p, struct arena *arena,
                    struct limit_results *ret, struct err *err)
{
    const struct stacks_options all = {0};

    *ret = (struct limit_results){0};
    for (int i = 0; i < LIMIT_KINDS; i++) {
        struct limit_totals t = {p, p->totals, p->errors};
        struct leaks leaks;
        struct limit_result j = {.of = (enum limit_of)i, .limit = l->v[i]};
        int rc;

        if (!j.limit.given)
            continue;
        rc = limit_check_range(j.of, p, false, err);
        if (rc == 0 && i == LIMIT_LEAKS)
            rc = limit_find_leaks(p, &all, arena, &leaks, err);
        if (rc != 0)
            return rc;
        if (i == LIMIT_LEAKS)
            t = totals_of(p, &leaks);
        j.allowed = allowed_by(&j.limit, 0);
        limit_measure(&j, &t);
        limit_check_add(ret, j);
    }
    return 0;
}

void
limit_check_causes(const struct profile *p, struct arena *arena, struct limit_results *results)
{
    const struct stacks_options all = {0};
    struct err err;

    for (size_t i = 0; i < results->count; i++) {
        struct limit_result *j = &results->v[i];
        struct stacks stacks;
        struct leaks leaks;
        bool is_leaks = j->of == LIMIT_LEAKS;
        int rc;

        if (!j->exceeded || j->of == LIMIT_CORRUPTION)
            continue;
        rc = is_leaks ? limit_find_leaks(p, &all, arena, &leaks, &err)
                      : stacks_build(p, &all, arena, &stacks, &err);
        if (rc == 0)
            limit_cause_of_value(kinds[j->of].metric,
                                 &(struct diff_side){p, is_leaks ? &leaks.stacks : &stacks}, arena,
                                 &j->cause);
    }
}
