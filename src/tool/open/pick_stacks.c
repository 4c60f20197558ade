/* pick_stacks.c: select stacks by the options that commands share.
 *
 * A pattern without a match gives an empty view, which is correct but looks like a defect.
 * Therefore a message lists the possible values. A filter may match in only one process of a
 * session, so the warning comes after all processes.
 */
#include "open/pick_stacks.h"

enum { HEAPS_LISTED = 10 };

int
pick_metric(const struct profile *p, enum metric metric)
{
    if (p->extent == EXTENT_PEAK && metric != METRIC_INUSE) {
        message_error("--at peak has only the live blocks of that moment, not the metric '%s'",
                      metric_name(metric));
        return EXIT_USAGE;
    }
    if (metric_is_known(&p->totals, metric))
        return 0;
    message_error("the metric '%s' needs a whole run, not a moment or a range of time",
                  metric_name(metric));
    return EXIT_USAGE;
}

struct stacks_options
pick_options(const struct view_options *options, bool fold)
{
    return (struct stacks_options){
        .tags = options->tags,
        .filter = options->filter,
        .fold = options->fold,
        .fold_recursion = options->fold_recursion && !options->keep_recursion,
        .no_fold = options->no_fold || !fold,
        .merge_labels = !options->json,
    };
}

static bool
any(const bool *v, size_t count)
{
    for (size_t i = 0; v != NULL && i < count; i++)
        if (v[i])
            return true;
    return v == NULL;
}

/* Return the names of P's heaps, as many as fit into a message. */
static const char *
heap_names(const struct profile *p, struct arena *arena)
{
    const char *text = p->heaps[0].name;
    size_t told = 1;

    for (size_t i = 1; i < p->heap_count; i++) {
        if (p->heaps[i].made == 0)
            continue;
        if (told++ == HEAPS_LISTED)
            return arena_printf(arena, "%s, \xe2\x80\xa6", text);
        text = arena_printf(arena, "%s, %s", text, p->heaps[i].name);
    }
    return text;
}

void
pick_check(const struct profile *p, const struct stacks_options *options, const struct stacks *s,
           struct arena *arena, struct filter_hits *hits)
{
    const struct tag_filter *tags = &options->tags;
    struct tag_picks picks;

    hits->stacks += s->recorded;
    hits->matched |= s->filter_matched;
    tags_pick(p, tags, arena, &picks);
    if (!any(picks.heaps, p->heap_count))
        message_warning("process %u has no heap '%s'; there is %s", p->process.pid, tags->heap,
                        heap_names(p, arena));
    if (!any(picks.label_sets, p->label_set_count))
        message_warning("process %u has no label '%s'%s", p->process.pid, tags->label,
                        tags_has_labels(p) ? "; heaptap report --by label shows all"
                                           : " or any other");
}

void
pick_print_filter(const struct filter_hits *hits, const char *filter)
{
    if (filter != NULL && !hits->matched && hits->stacks > 0)
        message_warning("--filter '%s' matches none of %zu %s", filter, hits->stacks,
                        hits->stacks == 1 ? "stack" : "stacks");
}

int
pick_stacks(const struct profile *p, const struct stacks_options *options, struct arena *arena,
            struct filter_hits *hits, struct stacks *ret)
{
    struct err err = {""};
    int rc = stacks_build(p, options, arena, ret, &err);

    if (rc == 0) {
        pick_check(p, options, ret, arena, hits);
        return 0;
    }
    message_error("%s", err.text);
    return exit_code(rc);
}
