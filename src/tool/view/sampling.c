/* sampling.c: words for estimates.
 *
 * The rule: a number from enough samples is shown with its error. A number from few samples is
 * shown with its interval, because readers would trust the number alone. A value of callers at a
 * moment, whose error is not known, is marked as an estimate. */
#include "view/phrases.h"

#include "analyse/interval.h"
#include "view/style.h"

const char *
sampling_mode(struct arena *arena, const struct profile_recording_mode *mode)
{
    switch (mode->mode) {
    case MODE_BYTES:
        return arena_printf(arena, "sampled, one block in %s", phrase_size(arena, mode->period));
    case MODE_COUNT:
        return arena_printf(arena, "sampled, one call in %s",
                            style_count(arena, (int64_t)mode->period));
    case MODE_OFF:
        return "off";
    default:
        return mode->callers_period == 0
                   ? "exact"
                   : arena_printf(arena, "exact sites, callers of one call in %s",
                                  style_count(arena, (int64_t)mode->callers_period));
    }
}

const char *
sampling_overhead(struct arena *arena, const struct profile *p)
{
    const struct profile_recorder *r = &p->recorder;
    double percent = 100 * (double)r->overhead_ns / (double)r->overhead_program_ns;

    if (r->overhead_limit == 0)
        return "";
    if (r->overhead_program_ns == 0)
        return arena_printf(arena, "cost limited to %g %%, too short to be measured",
                            (double)r->overhead_limit / 1000);
    return arena_printf(arena, "cost ~%.1f %%, %s %g %%", percent,
                        percent * 1000 > (double)r->overhead_limit ? "above the limit of"
                                                                   : "limited to",
                        (double)r->overhead_limit / 1000);
}

const char *
sampling_how(struct arena *arena, const struct profile *p)
{
    if (!profile_is_estimate(p) && p->callers_period != 0 && !p->losses.file_failed)
        return arena_printf(arena, "exact sites, callers of one call in %s%s",
                            p->mode_count > 1 ? "up to " : "",
                            style_count(arena, (int64_t)p->callers_period));
    if (!profile_is_estimate(p))
        return p->losses.file_failed || p->may_lag ? "incomplete" : "exact";
    if (p->mode_count == 1)
        return sampling_mode(arena, &p->modes[0]);
    return arena_printf(arena, "%zu recording modes", p->mode_count);
}

static const char *
point_text(const struct profile_point *m, struct arena *arena)
{
    const char *unreached = "";

    if (m->life == POINT_BEFORE_START)
        return "a time before the process started";
    if (m->life == POINT_AFTER_END)
        return arena_printf(arena, "a time after its end at %s",
                            style_duration(arena, m->elapsed_ns));
    if (m->unreached_ns != 0)
        unreached = arena_printf(arena, "; the run did not reach %s",
                                 style_duration(arena, m->unreached_ns));
    return arena_printf(arena, "%s%s%s%s%s", style_duration(arena, m->elapsed_ns),
                        *m->name ? " (" : "", m->name, *m->name ? ")" : "", unreached);
}

const char *
sampling_extent(struct arena *arena, const struct profile *p)
{
    // The clocks of summed processes differ, so the moment has no time.
    if (p->extent == EXTENT_PEAK && p->merged_processes > 0)
        return "Each process as it was at its peak";
    if (p->extent == EXTENT_AT && p->merged_processes > 0 && p->to.elapsed_ns == 0)
        return arena_printf(arena, "Each process as it was at %s", p->to.name);
    if (p->extent == EXTENT_PEAK && p->to.elapsed_ns == 0)
        return "As it was at the peak";
    if (p->extent == EXTENT_PEAK)
        return arena_printf(arena, "As it was at the peak, after %s",
                            style_duration(arena, p->to.elapsed_ns));
    if (p->extent == EXTENT_AT)
        return arena_printf(arena, "As it was at %s", point_text(&p->to, arena));
    return arena_printf(arena, "Events from %s to %s", point_text(&p->from, arena),
                        point_text(&p->to, arena));
}

/* Readers trust a number with an error, so a rough number is shown only with its interval. */
const char *
sampling_error(struct arena *arena, const struct counters *c, const struct errors *e,
               enum metric metric)
{
    const char *(*text)(struct arena *, int64_t) =
        metric_is_bytes(metric) ? style_bytes : style_count;
    struct interval i = interval_of_metric(c, e, metric);
    const char *mark = sampling_mark(arena, c, e, metric);

    if (*mark == '\0')
        return "";
    if (errors_or_none(e)->unbounded)
        return arena_printf(arena, " %s", mark);
    if (!interval_is_rough(i, (double)metric_value(c, metric)))
        return arena_printf(arena, " %s", mark);
    return arena_printf(arena, " (%s: %s\xe2\x80\x93%s)", mark,
                        text(arena, interval_rounded(i.low)),
                        text(arena, interval_rounded(i.high)));
}

bool
sampling_is_estimate(const struct counters *c, const struct errors *e, enum metric metric)
{
    struct interval i = interval_of_metric(c, e, metric);

    return errors_or_none(e)->unbounded || i.high > i.low;
}

const char *
sampling_mark(struct arena *arena, const struct counters *c, const struct errors *e,
              enum metric metric)
{
    double value = (double)metric_value(c, metric);
    struct interval i = interval_of_metric(c, e, metric);

    if (errors_or_none(e)->unbounded)
        return value != 0 ? "~" : "";
    if (i.high <= i.low)
        return "";
    if (interval_is_rough(i, value))
        return "few";
    return arena_printf(arena, "\xc2\xb1 %.*f %%", i.high - i.low < value * 0.2 ? 1 : 0,
                        50 * (i.high - i.low) / value);
}
