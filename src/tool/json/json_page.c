/* json_page.c: write the document "heaptap-page": a report and all other data of a page that works
 * without heaptap.
 *
 *     {"format": "heaptap-page", "version": 1,
 *      "report": {…, "parts": {…}, "growing": […], "history": {…}, "tables": {…}},
 *      "before": null, "filter": null, "sizes": {…}, "leaks": {…}, "sources": […]}
 *
 * The report equals `heaptap report --json`, with three more members. `parts` are the sites as
 * recorded: a site of a report is a stack, which may allocate in several size classes, and blocks
 * of several types. `history` lists the changes of each part between known moments, so that a
 * reader can sum any period as --between does. Its rows are in order of time, and the rows of a
 * part sum to its counters. `growing` lists the stacks that grow. They have folded frames, as in
 * the report's first screen, so each lists all its sites.
 *
 * Every value here is also shown by a view, so no reader needs to recompute it. */
#include "json/json.h"

#include <stdlib.h>

#include "analyse/callgraph.h"
#include "analyse/leaks.h"
#include "analyse/stacks.h"
#include "analyse/timeline.h"
#include "json/json_tables.h"
#include "profile/collector.h"
#include "util/ensure.h"

enum { PAGE_VERSION = 1, LEAK_CALLERS = 5 };

/* Change of a part between two moments. */
struct page_change {
    uint32_t point; // Index of the later moment.
    uint32_t part;
    struct profile_amounts amounts;
};

/* Positions of a profile's items in the document. From the view's arena. */
struct page_places {
    uint32_t *site_of; // By stack.
    uint32_t *part_of; // By site of the profile: part plus 1; 0 = left out.
    size_t parts;
};

static struct page_places
find_places(const struct view *v, const struct stack *const *sites)
{
    struct page_places ret = {
        .site_of = arena_array(v->arena, v->stacks->count, sizeof *ret.site_of),
        .part_of = arena_array(v->arena, v->p->site_count, sizeof *ret.part_of)};

    for (size_t i = 0; i < v->stacks->count; i++)
        ret.site_of[sites[i] - v->stacks->v] = (uint32_t)i;
    for (size_t i = 0; i < v->p->site_count; i++)
        if (v->stacks->site_stacks[i] != 0)
            ret.part_of[i] = (uint32_t)++ret.parts;
    return ret;
}

static void
put_part(struct json_tables *t, const struct profile_site *part, uint32_t site)
{
    static const char *const verdicts[] = {[VERDICT_UNKNOWN] = "unknown",
                                           [VERDICT_SAME_SIZE] = "same size",
                                           [VERDICT_LIKELY] = "likely",
                                           [VERDICT_CERTAIN] = "certain"};
    struct json *j = t->j;

    json_row(j);
    json_uint(j, "site", site);
    json_uint(j, "size_class", part->size_class);
    json_counters(j, &part->counters);
    if (t->has_types) {
        if (part->type != 0)
            json_uint(j, "type", json_tables_type(t, profile_string(t->p, part->type)));
        else
            json_string(j, "type", NULL);
        json_string(j, "verdict", verdicts[part->verdict]);
    }
    json_end(j);
}

static void
json_page_put_parts(struct json_tables *t, const struct view *v, const struct page_places *places)
{
    static const struct profile_site none = {.counters = COUNTERS_ZERO};

    t->has_types = v->p->typed;
    json_columns(t->j, "parts");
    for (size_t i = 0; i < v->p->site_count; i++)
        if (places->part_of[i] != 0)
            put_part(t, &v->p->sites[i], places->site_of[v->stacks->site_stacks[i] - 1]);
    if (places->parts == 0)
        put_part(t, &none, 0);
    json_columns_end(t->j, places->parts);
}

static int
by_point(const void *a, const void *b)
{
    const struct page_change *x = a, *y = b;

    if (x->point != y->point)
        return x->point < y->point ? -1 : 1;
    return x->part < y->part ? -1 : x->part > y->part;
}

static bool
is_change(const struct profile_amounts *a)
{
    return a->allocations != 0 || a->allocated_bytes != 0 || a->frees != 0 || a->freed_bytes != 0;
}

/* Store the changes of V's profile in *RET by point and part, each pair once. Return their
 * number. */
static size_t
find_changes(const struct view *v, const struct page_places *places, struct page_change **ret)
{
    const struct profile *p = v->p;
    struct page_change *all = arena_array(v->arena, p->change_count, sizeof *all);
    size_t count = 0, left = 0;

    for (size_t i = 0; i < p->change_count; i++) {
        const struct profile_change *c = &p->changes[i];
        uint32_t part = places->part_of[p->thread_sites[c->thread_site].site];

        if (part != 0)
            all[count++] = (struct page_change){c->interval + 1, part - 1, c->amounts};
    }
    if (count > 0)
        qsort(all, count, sizeof *all, by_point);
    for (size_t i = 0, end; i < count; i = end) {
        struct page_change sum = all[i];

        for (end = i + 1; end < count && by_point(&all[i], &all[end]) == 0; end++)
            profile_amounts_add(&sum.amounts, &all[end].amounts);
        if (is_change(&sum.amounts))
            all[left++] = sum;
    }
    *ret = all;
    return left;
}

static void
put_points(struct json *j, const struct profile *p)
{
    uint64_t latest_ns = 0;

    json_array(j, "points");
    for (size_t i = 0; i <= p->snapshot_count + 1; i++) {
        struct profile_point m = point_at(p, i);
        bool is_snapshot = i > 0 && i <= p->snapshot_count;

        // The last event may be a little older than the last snapshot.
        if (m.elapsed_ns > latest_ns)
            latest_ns = m.elapsed_ns;
        json_object_line(j, NULL);
        json_uint(j, "elapsed_ns", latest_ns);
        json_string(j, "name", is_snapshot && *m.name != '\0' ? m.name : NULL);
        json_string(j, "kind",
                    is_snapshot ? json_snapshot_kinds[p->snapshots[i - 1].kind] : m.name);
        json_uint(j, "collections", profile_collections_at(p, &m));
        json_end(j);
    }
    json_end(j);
}

static void
put_change(struct json *j, const struct page_change *c)
{
    json_row(j);
    json_uint(j, "point", c->point);
    json_uint(j, "part", c->part);
    json_int(j, "allocations", c->amounts.allocations);
    json_int(j, "allocated_bytes", c->amounts.allocated_bytes);
    json_int(j, "frees", c->amounts.frees);
    json_int(j, "freed_bytes", c->amounts.freed_bytes);
    json_end(j);
}

static void
put_history(struct json *j, const struct view *v, const struct page_places *places)
{
    static const struct page_change none;
    struct page_change *changes;
    size_t count;

    if (!v->p->has_history || v->p->extent != EXTENT_WHOLE) {
        json_string(j, "history", NULL);
        return;
    }
    count = find_changes(v, places, &changes);
    json_object(j, "history");
    put_points(j, v->p);
    json_columns(j, "changes");
    for (size_t i = 0; i < count; i++)
        put_change(j, &changes[i]);
    if (count == 0)
        put_change(j, &none);
    json_columns_end(j, count);
    json_end(j);
}

/* Build the stacks of V as in the first screen of a report. */
static void
fold(const struct view *v, const struct stacks_options *options, struct stacks *ret)
{
    struct stacks_options folded = *options;
    struct err err = {""};
    int rc;

    folded.no_fold = false;
    folded.merge_labels = folded.fold_recursion = true;
    rc = stacks_build(v->p, &folded, v->arena, ret, &err);
    ENSURE(rc == 0); // The view was built with the same patterns.
    stack_numbers(v->p, ret);
}

/* Sites of V by growing stack, as lists. */
struct page_members {
    uint32_t *first; // By row of the timeline: its first site plus 1.
    uint32_t *next;  // By site: the next site of its row plus 1.
};

static struct page_members
find_members(const struct view *v, const struct stacks *folded, const struct timeline *t,
             const struct page_places *places)
{
    struct arena *a = v->arena;
    uint32_t *row_of_stack = arena_array(a, folded->count, sizeof *row_of_stack);
    uint32_t *row_of = arena_array(a, v->stacks->count, sizeof *row_of);
    struct page_members ret = {arena_array(a, t->growing, sizeof *ret.first),
                               arena_array(a, v->stacks->count, sizeof *ret.next)};

    for (size_t i = 0; i < t->growing; i++)
        row_of_stack[t->rows[i].stack - folded->v] = (uint32_t)i + 1;
    for (size_t i = 0; i < v->p->site_count; i++)
        if (folded->site_stacks[i] != 0 && v->stacks->site_stacks[i] != 0)
            row_of[places->site_of[v->stacks->site_stacks[i] - 1]] =
                row_of_stack[folded->site_stacks[i] - 1];
    for (size_t i = v->stacks->count; i-- > 0;) {
        if (row_of[i] == 0)
            continue;
        ret.next[i] = ret.first[row_of[i] - 1];
        ret.first[row_of[i] - 1] = (uint32_t)i + 1;
    }
    return ret;
}

/* Write the sites of row ROW, and the one with most live bytes. */
static void
json_page_put_members(struct json *j, const struct page_members *members, size_t row,
                      const struct stack *const *sites)
{
    uint32_t largest = members->first[row];

    json_array(j, "sites");
    for (uint32_t i = members->first[row]; i != 0; i = members->next[i - 1]) {
        json_uint(j, NULL, i - 1);
        if (counters_live_bytes(&sites[i - 1]->counters) >
            counters_live_bytes(&sites[largest - 1]->counters))
            largest = i;
    }
    json_end(j);
    if (largest != 0)
        json_uint(j, "site", largest - 1);
    else
        json_string(j, "site", NULL);
}

static void
put_growing(struct json *j, const struct view *v, const struct stacks_options *options,
            const struct stack *const *sites, const struct page_places *places)
{
    const struct timeline_options live = {.by = TIMELINE_LIVE};
    struct stacks folded;
    struct timeline t;
    struct page_members members;

    json_array(j, "growing");
    if (v->p->has_history && v->p->extent == EXTENT_WHOLE) {
        fold(v, options, &folded);
        timeline_build(v->p, &folded, &live, v->arena, &t);
        members = find_members(v, &folded, &t, places);
        for (size_t i = 0; i < t.growing; i++) {
            json_object_line(j, NULL);
            json_uint(j, "number", t.rows[i].stack->number);
            json_string(j, "trend", timeline_trend_name(t.rows[i].trend));
            json_double(j, "per_minute", t.rows[i].per_minute);
            json_bool(j, "news", timeline_is_notable(v->p, &t.rows[i]));
            json_bool(j, "freed", timeline_is_freed(&t.rows[i]));
            json_page_put_members(j, &members, i, sites);
            json_end(j);
        }
    }
    json_end(j);
}

/* Data of a report besides its view, and the files that it refers to. */
struct page_report {
    const struct json_page *page;
    const char **files; // By index in the report's tables. From the view's arena.
    size_t file_count;
};

static void
keep_files(struct page_report *r, const struct strtab *files, struct arena *arena)
{
    r->files = arena_array(arena, files->count, sizeof *r->files);
    for (uint32_t i = 1; i < files->count; i++)
        r->files[r->file_count++] = arena_strdup(arena, strtab_get(files, i));
}

static void
put_more(struct json_tables *t, const struct view *v, const struct stack *const *sites, void *arg)
{
    struct page_report *r = arg;
    struct page_places places = find_places(v, sites);

    json_page_put_parts(t, v, &places);
    put_growing(t->j, v, r->page->options, sites, &places);
    put_history(t->j, v, &places);
    if (r->page->source != NULL)
        keep_files(r, &t->files, v->arena);
}

static void
put_sources(struct json *j, const struct page_report *r)
{
    json_array(j, "sources");
    for (size_t i = 0; i < r->file_count; i++) {
        const char *text = r->page->source(r->page->source_arg, r->files[i]);

        if (text == NULL)
            continue;
        json_object(j, NULL);
        json_uint(j, "file", i);
        json_string(j, "text", text);
        json_end(j);
    }
    json_end(j);
}

/* Write live blocks by path, as `heaptap leaks --paths` shows them without options. */
static void
json_page_put_leaks(struct json *j, const struct view *v, const struct stacks_options *options)
{
    const struct paths_options by = {.callers = LEAK_CALLERS};
    struct stacks_options folded = *options;
    struct suppressions suppressions = {0};
    struct functions functions;
    struct leaks leaks;
    struct paths paths;
    struct leak_paths l = {&leaks, &suppressions, &paths, &functions, false};
    struct err err = {""};
    int rc;

    folded.no_fold = folded.merge_labels = false;
    suppress_add_builtin(&suppressions, v->arena);
    rc = leaks_find(v->p, &folded, &suppressions, v->arena, &leaks, &err);
    ENSURE(rc == 0); // The view was built with the same patterns.
    functions_init(&functions, v->p, v->arena);
    paths_build(&functions, leaks.v, leaks.count, &by, v->arena, &paths);
    json_key(j, "leaks");
    json_paths(j, v, &l, SIZE_MAX);
    functions_release(&functions);
}

static void
json_page_put_sizes(struct json *j, const struct view *v)
{
    if (v->p->extent != EXTENT_WHOLE) {
        json_string(j, "sizes", NULL);
        return;
    }
    json_key(j, "sizes");
    json_size_totals(j, v, SIZE_MAX);
}

/* Write the filter of V, so that no reader mistakes a part for the whole. */
static void
put_filter(struct json *j, const struct view *v)
{
    if (v->filter == NULL && v->tags.heap == NULL && v->tags.label == NULL) {
        json_string(j, "filter", NULL);
        return;
    }
    json_object(j, "filter");
    json_string(j, "stacks", v->filter);
    json_string(j, "heap", v->tags.heap);
    json_string(j, "label", v->tags.label);
    json_end(j);
}

void
json_page(struct json *j, const struct json_page *page)
{
    struct page_report report = {.page = page}, before = {.page = page};

    json_object(j, NULL);
    json_string(j, "format", "heaptap-page");
    json_uint(j, "version", PAGE_VERSION);
    json_key(j, "report");
    json_report_more(j, page->view, page->metric, put_more, &report);
    if (page->before != NULL) {
        json_key(j, "before");
        json_report_more(j, page->before, page->metric, put_more, &before);
    } else {
        json_string(j, "before", NULL);
    }
    put_filter(j, page->view);
    json_page_put_sizes(j, page->view);
    json_page_put_leaks(j, page->view, page->options);
    put_sources(j, &report);
    json_end(j);
}
