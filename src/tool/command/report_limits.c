/* report_limits.c: print a line for each exceeded limit, with the option that set it, so that a
 * test's log shows the cause. */
#include "command/report_limits.h"

#include "symbol/demangle.h"
#include "view/messages.h"
#include "view/phrases.h"
#include "view/style.h"
#include "view/table.h"

enum { CAUSE_WIDTH = 48 };

static const char *
report_limits_amount(struct arena *arena, enum limit_of of, int64_t value)
{
    return limit_is_bytes(of) ? style_bytes(arena, value) : style_count(arena, value);
}

/* Return VALUE as text, distinguishable from OTHER beside it. */
static const char *
amount_beside(struct arena *arena, enum limit_of of, int64_t value, int64_t other)
{
    return limit_is_bytes(of) ? style_bytes_beside(arena, value, other) : style_count(arena, value);
}

/* Return the limit as given on the command line, to follow VALUE, which exceeds it. */
static const char *
limit_text(struct arena *arena, const struct limit_result *j, int64_t value, const char *option)
{
    const char *limit;

    if (j->limit.value == 0)
        return arena_printf(arena, "and --%s allows none", option);
    limit = j->limit.is_percent
                ? arena_printf(arena, "%.15g %%", (double)j->limit.value / PERCENT_SCALE)
                : amount_beside(arena, j->of, j->allowed, value);
    return arena_printf(arena, "more than the %s that --%s allows", limit, option);
}

/* Return the function behind J, with its amount, to end the line. */
static const char *
report_limits_cause(struct arena *arena, const struct limit_result *j, bool is_growth)
{
    const struct limit_cause *c = &j->cause;

    if (c->function == NULL)
        return "";
    return arena_printf(arena, "; most in %s: %s%s",
                        symbol_shorten(arena, c->function, CAUSE_WIDTH), is_growth ? "+" : "",
                        report_limits_amount(arena, j->of, c->amount));
}

static void
report_limits_report_growth(const struct limit_result *j, const char *option, struct arena *arena)
{
    int64_t growth = counters_difference(j->value, j->before);
    const char *grew = amount_beside(arena, j->of, growth, j->allowed);
    const char *limit = limit_text(arena, j, growth, option), *name = limit_name(j->of);

    if (j->before > 0)
        grew = arena_printf(arena, "%s (%s)", grew, style_percent(arena, growth, j->before));
    if (j->exceeded)
        message_error("%s grew by %s, %s: from %s to %s%s", name, grew, limit,
                      report_limits_amount(arena, j->of, j->before),
                      report_limits_amount(arena, j->of, j->value),
                      report_limits_cause(arena, j, true));
    else
        message_hint(
            "%s grew by %s, %s; but the error of the numbers permits as little as %s, so this "
            "is no failure",
            name, grew, limit, report_limits_amount(arena, j->of, j->least));
}

static void
report_value(const struct limit_result *j, const char *option, const char *who, struct arena *arena)
{
    const char *value = amount_beside(arena, j->of, j->value, j->allowed);
    const char *limit = limit_text(arena, j, j->value, option), *name = limit_name(j->of);

    if (j->exceeded)
        message_error("%s: %s: %s, %s%s", who, name, value, limit,
                      report_limits_cause(arena, j, false));
    else
        message_hint("%s: %s: %s, %s; but the samples permit as little as %s, so this is no "
                     "failure", who,
                     name, value, limit, report_limits_amount(arena, j->of, j->least));
}

/* The estimate is within the limit, but the true number may not be. WHO as for report_limits. */
static void
report_limits_hint_at_most(const struct limit_result *j, const char *option, const char *who,
                           struct arena *arena)
{
    int64_t estimate = counters_difference(j->value, j->before);

    message_hint("%s%s%s%s %s; but the samples permit up to %s, %s; this is no failure",
                 who ? who : "", who ? ": " : "", limit_name(j->of), who ? ":" : " grew by",
                 amount_beside(arena, j->of, estimate, j->most),
                 amount_beside(arena, j->of, j->most, j->allowed),
                 limit_text(arena, j, j->most, option));
}

bool
report_limits(const struct limit_results *j, const char *option, const char *who)
{
    struct arena arena = {0};
    bool exceeded = false;

    for (size_t i = 0; i < j->count; i++) {
        const struct limit_result *one = &j->v[i];

        exceeded |= one->exceeded;
        if (counters_difference(one->value, one->before) <= one->allowed) {
            if (one->most > one->allowed)
                report_limits_hint_at_most(one, option, who, &arena);
        } else if (who != NULL) {
            report_value(one, option, who, &arena);
        } else {
            report_limits_report_growth(one, option, &arena);
        }
    }
    arena_release(&arena);
    return exceeded;
}

bool
report_incomplete(const char *option, const struct profile_losses *losses, bool may_lag)
{
    struct arena arena = {0};
    const char *gap = loss_gap(&arena, losses, may_lag);

    if (gap != NULL)
        message_error("--%s cannot judge it: a profile %s", option, gap);
    arena_release(&arena);
    return gap != NULL;
}

void
report_damaged(const char *option, const struct profile *p)
{
    struct arena arena = {0};

    message_error("--%s cannot judge it: %s", option, damage_sentence(&arena, p));
    arena_release(&arena);
}

void
report_unrecorded(const char *option, const char *path)
{
    message_error("--%s cannot judge it: recording was off for all of %s, so nothing was counted",
                  option, path);
}

void
report_unannotated(const char *option, const char *path)
{
    message_error("--%s cannot judge corruption: %s was not recorded with --annotate, so overflows "
                  "in it are unknown",
                  option, path);
}
