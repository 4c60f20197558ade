/* pick_stacks.c: select stacks by the options that commands share.
 *
 * A pattern without a match gives an empty view, which is correct but looks like a defect. So a
 * message lists the possible values. A filter, a heap or a label may be in one process of a session
 * and not in the others, so warnings wait for all of them.
 */
#include "open/pick_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "open/symbolise.h"
#include "profile/fold_language.h"
#include "profile/time_slice.h"
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

void
pick_frames(struct profile *p, const struct view_options *options, bool for_people)
{
    if (options->native)
        return;
    fold_runtime(p);
    if (options->language_only ||
        (for_people && !options->keep_languages && profile_is_of_interpreter(p)))
        language_only(p);
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
pick_stacks_add_heaps(const struct profile *p, struct filter_hits *hits)
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
    pick_stacks_add_heaps(p, hits);
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

/* A profile of a session, with the total of its stacks that pass. */
struct pick_row {
    struct profile *p;
    struct set_total total;
};

/* As profiles of a session are sorted (open_set.c), by the stacks that pass. */
static int
pick_by_size(const void *a, const void *b)
{
    const struct pick_row *x = a, *y = b;
    const struct counters *cx = &x->total.counters, *cy = &y->total.counters;
    int64_t of_x = cx->partial ? counters_live_bytes(cx) : cx->peak_bytes;
    int64_t of_y = cy->partial ? counters_live_bytes(cy) : cy->peak_bytes;

    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return x->p->process.pid < y->p->process.pid ? -1 : x->p->process.pid > y->p->process.pid;
}

static int
pick_total(struct profile *p, const struct view_options *options, struct filter_hits *hits,
           struct set_total *ret)
{
    const struct stacks_options of_stacks = pick_options(options, false);
    struct arena arena = {0};
    struct stacks stacks;
    int rc = symbolise_quietly(p, &options->symbols);

    if (rc == 0)
        pick_frames(p, options, !options->json);
    if (rc == 0)
        rc = pick_stacks(p, &of_stacks, &arena, hits, &stacks);
    if (rc == 0)
        *ret = (struct set_total){stacks.total, stacks.errors};
    arena_release(&arena);
    return rc;
}

int
pick_totals(struct view_set *set, const struct view_options *options, struct filter_hits *hits)
{
    struct pick_row *rows = arena_array(&set->arena, set->count, sizeof *rows);
    int rc = 0;

    if (options->filter == NULL && options->tags.heap == NULL && options->tags.label == NULL)
        return 0;
    for (size_t i = 0; i < set->count && rc == 0; i++) {
        rows[i].p = set->v[i];
        rc = pick_total(set->v[i], options, hits, &rows[i].total);
    }
    if (rc != 0)
        return rc;
    qsort(rows, set->count, sizeof *rows, pick_by_size);
    set->totals = arena_array(&set->arena, set->count, sizeof *set->totals);
    for (size_t i = 0; i < set->count; i++) {
        set->v[i] = rows[i].p;
        set->totals[i] = rows[i].total;
    }
    return 0;
}
