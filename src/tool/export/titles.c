/* titles.c: titles of a file's contents, in the words of the reports.
 *
 * A consumer shows them above its pictures. Only titles can mention the moment, estimates, damage,
 * and values that the format cannot hold. */
#include "export/exporter.h"

#include <inttypes.h>

#include "util/path.h"

static const char *const metric_titles[] = {
    [METRIC_INUSE] = "bytes in use",     [METRIC_PEAK] = "bytes at the peak",
    [METRIC_ALLOC] = "bytes allocated",  [METRIC_TEMPORARY] = "short-lived blocks",
    [METRIC_COUNT] = "allocation calls",
};

const char *
title_exporter(const struct profile *p, struct arena *arena)
{
    return arena_printf(arena, "heaptap %s", p->process.heaptap ? p->process.heaptap : "");
}

/* Return TITLE, marked if P is damaged, because a picture must not hide damage. */
static const char *
marked(const struct profile *p, const char *title, struct arena *arena)
{
    return p->damage != NULL ? arena_printf(arena, "%s (damaged profile)", title) : title;
}

const char *
title_program(const struct profile *p, struct arena *arena)
{
    const char *name = p->process.executable ? path_basename(p->process.executable) : "";

    if (p->merged_processes > 0)
        name = profile_title(p, arena);
    return marked(p, *name ? name : p->path, arena);
}

const char *
title_profile(const struct profile *p, const struct stacks *stacks, struct arena *arena)
{
    const char *title = profile_title(p, arena), *estimate = export_estimate(p, stacks, arena);

    if (p->merged_processes == 0)
        title = arena_printf(arena, "%s (pid %s)", title, profile_pid_text(p, arena));
    title = marked(p, title, arena);
    return *estimate ? arena_printf(arena, "%s. %s", title, estimate) : title;
}

static const char *
extent_title(const struct profile *p, struct arena *arena)
{
    double from = (double)p->from.elapsed_ns / 1e9, to = (double)p->to.elapsed_ns / 1e9;

    switch (p->extent) {
    case EXTENT_WHOLE:
        return "";
    case EXTENT_AT:
        return arena_printf(arena, " at %.1f s", to);
    case EXTENT_BETWEEN:
        return arena_printf(arena, ", change from %.1f s to %.1f s", from, to);
    case EXTENT_PEAK:
        return " at the peak";
    }
    return "";
}

const char *
title_metric(const struct profile *p, enum metric metric, int64_t left_out, struct arena *arena)
{
    const char *what = metric == METRIC_TEMPORARY && p->totals.lifetimes_unknown
                           ? "temporary blocks"
                           : metric_titles[metric];
    const char *title = arena_printf(arena, "%s%s%s", what, extent_title(p, arena),
                                     profile_is_estimate(p) ? ", estimated" : "");

    if (left_out == 0)
        return title;
    return arena_printf(arena, "%s, without %" PRId64 " of stacks below zero", title, left_out);
}
