/* pick_stacks.c: select stacks by the options that commands share.
 *
 * A pattern without a match gives an empty view, which is correct but looks like a defect. So a
 * message lists the possible values. A filter, a heap or a label may be in one process of a session
 * and not in the others, so warnings wait for all of them.
 */
#include "open/pick_stacks.h"

#include <string.h>

#include "util/strbuf.h"

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

/* Add P's heaps to those that a message lists. */
static void
add_heaps(const struct profile *p, struct filter_hits *hits)
{
    for (size_t i = 0; i < p->heap_count; i++) {
        size_t listed = hits->heap_count < PICK_HEAPS_LISTED ? hits->heap_count : PICK_HEAPS_LISTED;
        size_t k = 0;

        if (i > 0 && p->heaps[i].made == 0)
            continue;
        while (k < listed && strcmp(hits->heaps[k], p->heaps[i].name) != 0)
            k++;
        if (k < listed)
            continue;
        if (listed < PICK_HEAPS_LISTED)
            hits->heaps[listed] = p->heaps[i].name;
        hits->heap_count++;
    }
}

void
pick_check(const struct profile *p, const struct stacks_options *options, const struct stacks *s,
           struct arena *arena, struct filter_hits *hits)
{
    struct tag_picks picks;

    hits->stacks += s->recorded;
    hits->matched |= s->filter_matched;
    hits->profiles++;
    hits->pid = p->process.pid;
    tags_pick(p, &options->tags, arena, &picks);
    hits->has_heap |= any(picks.heaps, p->heap_count);
    hits->has_label |= any(picks.label_sets, p->label_set_count);
    hits->has_labels |= tags_has_labels(p);
    add_heaps(p, hits);
}

/* Append the heaps of HITS to OUT, as far as they fit into a message. */
static void
put_heaps(const struct filter_hits *hits, struct strbuf *out)
{
    for (size_t i = 0; i < hits->heap_count && i < PICK_HEAPS_LISTED; i++)
        strbuf_fmt(out, "%s%s", i > 0 ? ", " : "", hits->heaps[i]);
    if (hits->heap_count > PICK_HEAPS_LISTED)
        strbuf_str(out, ", \xe2\x80\xa6");
}

/* Warn if no profile has the heap or the label of TAGS. */
static void
print_tags(const struct filter_hits *hits, const struct tag_filter *tags)
{
    struct strbuf who = {0}, heaps = {0};

    if (hits->profiles > 1 || hits->pid == 0)
        strbuf_str(&who, "no process has the");
    else
        strbuf_fmt(&who, "process %u has no", hits->pid);
    put_heaps(hits, &heaps);
    if (tags->heap != NULL && !hits->has_heap)
        message_warning("%s heap '%s'; there is %s", strbuf_text(&who), tags->heap,
                        strbuf_text(&heaps));
    if (tags->label != NULL && !hits->has_label)
        message_warning("%s label '%s'%s", strbuf_text(&who), tags->label,
                        hits->has_labels ? "; heaptap report --by label shows all"
                                         : " or any other");
    strbuf_release(&who);
    strbuf_release(&heaps);
}

void
pick_print_hits(const struct filter_hits *hits, const struct view_options *options)
{
    const char *filter = options->filter;

    if (hits->profiles > 0)
        print_tags(hits, &options->tags);
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
