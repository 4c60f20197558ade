/* sampling.c: how profiles say that they are estimates.
 *
 * The rule: a number from enough samples gets its error beside it; from few samples it gets the
 * interval, because the number itself would be believed. What has no sample at all cannot be
 * listed, so one line says how much may hide in a site that is missing.
 */
#include "view/sampling.h"

#include <inttypes.h>

#include "analyse/interval.h"
#include "format/format.h"
#include "view/view_text.h"

enum { PHASES_SHOWN = 8, SNAPSHOTS_SHOWN = 10 };

int
sampling_check(uint64_t bytes, uint64_t count, struct err *err)
{
    if (bytes != 0 && count != 0)
        return err_set(err, HEAPTAP_USAGE,
                       "options '--sample' and '--sample-count' exclude each other");
    if (bytes != 0 && (bytes < DISK_SAMPLE_BYTES_MIN || bytes > DISK_SAMPLE_PERIOD_MAX))
        return err_set(err, HEAPTAP_USAGE,
                       "option '--sample': the size must be from 1K to 1T; below that, exact "
                       "recording is as fast");
    if (count == 1 || count > DISK_SAMPLE_PERIOD_MAX)
        return err_set(err, HEAPTAP_USAGE,
                       "option '--sample-count': the number must be from 2 to 2^40; one in 1 is "
                       "exact recording");
    return 0;
}

const char *
sampling_mode(struct arena *arena, const struct profile_phase *phase)
{
    switch (phase->mode) {
    case MODE_BYTES:
        return arena_printf(arena, "sampled, one block in %s", text_size(arena, phase->period));
    case MODE_COUNT:
        return arena_printf(arena, "sampled, one call in %s",
                            style_count(arena, (int64_t)phase->period));
    case MODE_OFF:
        return "off";
    default:
        return "exact";
    }
}

const char *
sampling_how(struct arena *arena, const struct profile *p)
{
    if (!profile_is_estimate(p))
        return "exact";
    if (p->phase_count == 1)
        return sampling_mode(arena, &p->phases[0]);
    return arena_printf(arena, "%zu ways of recording", p->phase_count);
}

static const char *
moment_text(const struct profile_moment *m, struct arena *arena)
{
    return arena_printf(arena, "%s%s%s%s", style_duration(arena, m->elapsed_ns),
                        *m->name ? " (" : "", m->name, *m->name ? ")" : "");
}

const char *
sampling_extent(struct arena *arena, const struct profile *p)
{
    if (p->extent == EXTENT_AT)
        return arena_printf(arena, "As it was at %s", moment_text(&p->to, arena));
    return arena_printf(arena, "What happened from %s to %s", moment_text(&p->from, arena),
                        moment_text(&p->to, arena));
}

static void
put_phases(struct text_view *v)
{
    const struct profile *p = v->p;
    struct arena *a = v->arena;

    if (p->merged_processes > 1) {
        for (size_t i = 0; i < p->phase_count && i < PHASES_SHOWN; i++)
            text_line(v, INK_DIM,
                      arena_printf(a, "  %s %s", i ? "               some" : "Recording      some",
                                   sampling_mode(a, &p->phases[i])));
        return;
    }
    for (size_t i = 0; i < p->phase_count && i < PHASES_SHOWN; i++)
        text_line(v, INK_DIM,
                  arena_printf(
                      a, "  %s %-10s  %s", i ? "               from" : "Recording      from",
                      style_duration(a, p->phases[i].elapsed_ns), sampling_mode(a, &p->phases[i])));
    if (p->phase_count > PHASES_SHOWN)
        text_line(
            v, INK_DIM,
            arena_printf(a, "                     \xe2\x80\xa6 and %s",
                         style_plural(a, (int64_t)(p->phase_count - PHASES_SHOWN), "more change")));
}

static void
put_unseen(struct text_view *v)
{
    uint64_t bytes = v->p->longest_bytes, calls = v->p->longest_calls;
    struct arena *a = v->arena;

    if (bytes != 0 || calls != 0)
        text_line(v, INK_DIM,
                  "  Estimates: \xc2\xb1 is a 95 % interval; \"few\": too few samples to trust the "
                  "number");
    if (bytes != 0)
        text_line(v, INK_DIM,
                  arena_printf(
                      a, "  A site without a sample is not listed, and may have had %s",
                      style_bytes(a, interval_rounded(interval_unseen() * (double)bytes))));
    if (calls != 0)
        text_line(v, INK_DIM,
                  arena_printf(a, "  A site without a sample is not listed, and may have had %s",
                               style_plural(a, interval_rounded(interval_unseen() * (double)calls),
                                            "call")));
    if (calls != 0)
        text_line(v, INK_DIM,
                  "  By calls, bytes are not to be trusted where sizes vary");
}

static void
put_snapshot(struct text_view *v, const struct profile_snapshot *s)
{
    const struct profile_amounts *m = &s->amounts;
    struct arena *a = v->arena;

    text_line(v, INK_PLAIN,
              arena_printf(a, "  %s %-10s %s: live %s; so far %s allocations, %s",
                           s->kind == SNAPSHOT_PHASE ? "Phase from" : "Snapshot at",
                           style_duration(a, s->elapsed_ns), s->name,
                           style_bytes(a, profile_amounts_live(m)),
                           style_count(a, m->allocations), style_bytes(a, m->allocated_bytes)));
}

void
sampling_snapshots(struct text_view *v)
{
    const struct profile *p = v->p;
    size_t named = 0;

    for (size_t i = 0; i < p->snapshot_count && p->extent == EXTENT_WHOLE; i++) {
        if (*p->snapshots[i].name == '\0')
            continue;
        if (named++ == 0)
            strbuf_char(v->out, '\n');
        if (named <= SNAPSHOTS_SHOWN)
            put_snapshot(v, &p->snapshots[i]);
    }
    if (named > SNAPSHOTS_SHOWN)
        text_line(v, INK_DIM,
                  arena_printf(
                      v->arena, "  \xe2\x80\xa6 and %s",
                      style_plural(v->arena, (int64_t)(named - SNAPSHOTS_SHOWN), "more snapshot")));
}

void
sampling_text(struct text_view *v)
{
    if (!profile_is_estimate(v->p))
        return;
    strbuf_char(v->out, '\n');
    if (v->p->phase_count > 1)
        put_phases(v);
    put_unseen(v);
    if (v->p->extent != EXTENT_WHOLE)
        text_line(v, INK_DIM,
                  "  Estimates; what they may be off by is known of the whole run only");
}

/* A number with an error is believed; too rough a one is not shown without its interval. */
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
    if (!interval_is_rough(i, (double)metric_value(c, metric)))
        return arena_printf(arena, " %s", mark);
    return arena_printf(arena, " (%s: %s\xe2\x80\x93%s)", mark,
                        text(arena, interval_rounded(i.low)),
                        text(arena, interval_rounded(i.high)));
}

const char *
sampling_mark(struct arena *arena, const struct counters *c, const struct errors *e,
              enum metric metric)
{
    double value = (double)metric_value(c, metric);
    struct interval i = interval_of_metric(c, e, metric);

    if (i.high <= i.low)
        return "";
    if (interval_is_rough(i, value))
        return "few";
    return arena_printf(arena, "\xc2\xb1 %.*f %%", i.high - i.low < value * 0.2 ? 1 : 0,
                        50 * (i.high - i.low) / value);
}
