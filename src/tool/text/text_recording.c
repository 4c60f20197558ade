/* text_recording.c: recording modes, losses, and the recorder's cost.
 *
 * Sites without any sample are missing, so one line gives the upper bound for such a site. */
#include "text/text_view.h"

#include <inttypes.h>
#include <string.h>

#include "analyse/interval.h"
#include "view/phrases.h"
#include "view/table.h"

enum { MODES_SHOWN = 8, SNAPSHOTS_SHOWN = 10 };

static void
text_recording_put_modes(struct text_view *v)
{
    const struct profile *p = v->base.p;
    struct arena *a = v->base.arena;

    if (p->merged_processes > 1) {
        for (size_t i = 0; i < p->mode_count && i < MODES_SHOWN; i++)
            text_line(v, ATTR_DIM,
                      arena_printf(a, "  %s %s", i ? "               some" : "Recording      some",
                                   sampling_mode(a, &p->modes[i])));
        return;
    }
    for (size_t i = 0; i < p->mode_count && i < MODES_SHOWN; i++)
        text_line(v, ATTR_DIM,
                  arena_printf(
                      a, "  %s %-10s  %s", i ? "               from" : "Recording      from",
                      style_duration(a, p->modes[i].elapsed_ns), sampling_mode(a, &p->modes[i])));
    if (p->mode_count > MODES_SHOWN)
        text_line(
            v, ATTR_DIM,
            arena_printf(a, "                     \xe2\x80\xa6 and %s",
                         style_plural(a, (int64_t)(p->mode_count - MODES_SHOWN), "more change")));
}

static void
put_unseen(struct text_view *v)
{
    uint64_t bytes = v->base.p->longest_bytes, calls = v->base.p->longest_calls;
    struct arena *a = v->base.arena;

    if (bytes != 0 || calls != 0)
        text_prose(v, ATTR_DIM,
                   "  Estimates: \xc2\xb1 is a 95 % interval; \"few\": too few samples to trust "
                   "the number");
    if (bytes != 0)
        text_prose(
            v, ATTR_DIM,
            arena_printf(a, "  A site without a sample is not listed, and may have had %s",
                         style_bytes(a, interval_rounded(interval_unseen() * (double)bytes))));
    if (calls != 0)
        text_prose(v, ATTR_DIM,
                   arena_printf(a, "  A site without a sample is not listed, and may have had %s",
                                style_plural(a,
                                             interval_rounded(interval_unseen() * (double)calls),
                                             "call")));
    if (calls != 0)
        text_prose(v, ATTR_DIM, "  By calls, bytes are not to be trusted where sizes vary");
}

static void
put_snapshot(struct text_view *v, const struct profile_snapshot *s)
{
    const struct profile_amounts *m = &s->amounts;
    struct arena *a = v->base.arena;

    text_line(v, ATTR_PLAIN,
              arena_printf(a, "  %s %-10s %s: live %s; so far %s, %s",
                           s->kind == SNAPSHOT_PHASE ? "Phase from" : "Snapshot at",
                           style_duration(a, s->elapsed_ns), s->name,
                           style_bytes(a, profile_amounts_live(m)),
                           style_plural(a, m->allocations, "allocation"),
                           style_bytes(a, m->allocated_bytes)));
}

void
text_snapshots(struct text_view *v)
{
    const struct profile *p = v->base.p;
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
        text_line(v, ATTR_DIM,
                  arena_printf(v->base.arena, "  \xe2\x80\xa6 and %s",
                               style_plural(v->base.arena, (int64_t)(named - SNAPSHOTS_SHOWN),
                                            "more snapshot")));
}

void
text_recording(struct text_view *v)
{
    bool is_estimate = profile_is_estimate(v->base.p);
    bool changed = v->base.p->mode_count > 1;
    bool unbounded = profile_has_unbounded(v->base.p) && !v->is_callerless;

    if (!is_estimate && !(changed && v->base.p->callers_period != 0) && !unbounded)
        return;
    strbuf_char(v->out, '\n');
    if (changed)
        text_recording_put_modes(v);
    if (unbounded)
        text_wrapped(v, ATTR_DIM, "  ",
                     "~: an estimate, because it depends on callers; error bounds exist for the "
                     "whole run only");
    if (!is_estimate)
        return;
    put_unseen(v);
    if (v->base.p->extent != EXTENT_WHOLE)
        text_prose(v, ATTR_DIM,
                   "  Estimates; error bounds exist for the whole run only");
}

void
text_losses(struct text_view *v, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct loss_field *f = &loss_fields[i];
        uint64_t n = loss_value(&v->base.p->losses, f);
        const char *more[] = {loss_share(v->base.arena, v->base.p, f),
                              loss_field_remedy(v->base.arena, v->base.p, f)};

        if (n == 0)
            continue;
        text_prose(v, ATTR_WARNING,
                   arena_printf(v->base.arena, "  %s %s", style_count(v->base.arena, (int64_t)n),
                                loss_meaning(f, n)));
        for (size_t k = 0; k < countof(more); k++)
            if (more[k] != NULL)
                text_wrapped(v, ATTR_DIM, "    ", more[k]);
    }
}

void
text_unchecked(struct text_view *v)
{
    const struct profile *p = v->base.p;

    text_prose(v, ATTR_DIM, "Whether anything still points to these blocks has not been checked.");
    if (!p->process.ended && p->merged_processes == 0 && p->process.pid != 0)
        text_line(v, ATTR_DIM, arena_printf(v->base.arena,
                                            "`heaptap core --pid %" PRIu32 " --leaks` checks it.",
                                            profile_pid_here(p)));
}

void
text_incomplete(struct text_view *v)
{
    if (v->base.p->losses.file_failed) {
        text_wrapped(v, ATTR_WARNING, "",
                     arena_printf(v->base.arena, "Incomplete: %s", loss_of_file));
        text_wrapped(v, ATTR_DIM, "  ", loss_of_file_remedy);
    } else if (v->base.p->may_lag) {
        text_wrapped(v, ATTR_WARNING, "",
                     "Incomplete: a copy of memory that may lack the latest events");
    }
}

/* Return the time that recording took, or "" if it was not measured. */
static const char *
recorder_share(struct text_view *v)
{
    const struct profile_recorder *r = &v->base.p->recorder;
    double events = (double)v->base.p->totals.allocations + (double)v->base.p->totals.frees;

    // Events that were not sampled have no cost, so the measured cost cannot be extrapolated.
    if (profile_is_estimate(v->base.p) || v->base.p->extent != EXTENT_WHOLE ||
        v->base.p->merged_processes > 1 || r->events_timed == 0 ||
        v->base.p->process.elapsed_ns == 0)
        return "";
    return arena_printf(v->base.arena, " and ~%.1f %% of the time",
                        100.0 * (double)r->timed_ns / (double)r->events_timed * events /
                            (double)v->base.p->process.elapsed_ns);
}

void
text_recorder(struct text_view *v)
{
    const struct profile_recorder *r = &v->base.p->recorder;
    uint64_t frames = r->frames_reused + r->frames_unwound;
    struct arena *a = v->base.arena;

    strbuf_char(v->out, '\n');
    text_line(v, v->base.p->losses.events ? ATTR_WARNING : ATTR_DIM,
              arena_printf(a, "  Recorder           %s lost \xc2\xb7 uses %s%s",
                           style_plural(a, (int64_t)v->base.p->losses.events, "event"),
                           style_bytes(a, (int64_t)r->memory_bytes), recorder_share(v)));
    if (frames)
        text_below(v, strlen("  Recorder           "),
                   arena_printf(a, "%.1f %% of all frames were verified, not unwound",
                                100.0 * (double)r->frames_reused / (double)frames));
    text_losses(v, loss_field_count);
}
