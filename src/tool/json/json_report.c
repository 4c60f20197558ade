/* json_report.c: write the document "heaptap-report": all sites, or groups or a tree instead.
 *
 *     {"format": "heaptap-report", "version": 2, "process": {…}, "totals": {…},
 *      "losses": {…}, "recorder": {…}, "threads": […], "sizes": […], "timeline": […],
 *      "sites": {"live_bytes": [96, …], …, "stack": [4, …]}, "tables": {…}} */
#include "json/json.h"

#include <string.h>

#include "analyse/frame_name.h"
#include "json/json_tables.h"
#include "view/table.h"

static void
json_self_report(struct json *j, const struct profile *p)
{
    const struct profile_recorder *r = &p->recorder;

    json_losses(j, p);
    json_object(j, "recorder");
    json_uint(j, "memory_bytes", r->memory_bytes);
    json_uint(j, "file_bytes", r->file_bytes);
    if (r->limit_bytes != 0)
        json_uint(j, "limit_bytes", r->limit_bytes);
    else
        json_string(j, "limit_bytes", NULL);
    json_uint(j, "frames_reused", r->frames_reused);
    json_uint(j, "frames_unwound", r->frames_unwound);
    json_uint(j, "full_unwinds", r->full_unwinds);
    json_uint(j, "events_timed", r->events_timed);
    json_uint(j, "timed_ns", r->timed_ns);
    if (r->overhead_limit != 0) {
        json_object(j, "overhead");
        json_double(j, "limit_percent", (double)r->overhead_limit / 1000);
        json_uint(j, "recorder_ns", r->overhead_ns);
        json_uint(j, "program_ns", r->overhead_program_ns);
        json_end(j);
    }
    json_bool(j, "runtime_left_out", p->losses.runtime_left_out);
    json_end(j);
    json_notes(j, p);
}

static void
json_for_others(struct json *j, const struct thread_share *share)
{
    if (share->for_others_blocks < 0) {
        json_string(j, "frees_for_others", NULL);
        json_string(j, "freed_bytes_for_others", NULL);
    } else {
        json_int(j, "frees_for_others", share->for_others_blocks);
        json_int(j, "freed_bytes_for_others", share->for_others_bytes);
    }
}

static void
json_threads(struct json *j, const struct profile *p, struct arena *arena)
{
    struct thread_shares shares;

    threads_charge(p, NULL, arena, &shares);
    json_array(j, "threads");
    for (size_t i = 0; i < p->thread_count; i++) {
        json_object(j, NULL);
        json_known(j, "name", p->threads[i].name);
        json_uint(j, "tid", p->threads[i].tid);
        json_uint(j, "uses", p->threads[i].uses);
        json_counters(j, &shares.v[i].counters);
        json_for_others(j, &shares.v[i]);
        json_end(j);
    }
    json_end(j);
}

static void
json_sizes(struct json *j, const struct profile *p)
{
    json_array(j, "sizes");
    for (size_t i = 0; i < p->bin_count; i++) {
        const struct profile_bin *b = &p->bins[i];

        if (b->counters.allocations == 0 && b->counters.frees == 0)
            continue;
        json_object(j, NULL);
        json_uint(j, "size_min", b->size_min);
        json_uint(j, "size_max", b->size_max);
        json_int(j, "allocations", b->counters.allocations);
        json_int(j, "allocated_bytes", b->counters.allocated_bytes);
        json_int(j, "frees", b->counters.frees);
        json_int(j, "freed_bytes", b->counters.freed_bytes);
        json_end(j);
    }
    json_end(j);
}

static void
json_time_points(struct json *j, const struct profile *p)
{
    json_array(j, "timeline");
    for (size_t i = 0; i < p->time_point_count; i++) {
        json_object_line(j, NULL);
        json_uint(j, "elapsed_ns", p->timeline[i].elapsed_ns);
        json_int(j, "live_bytes", p->timeline[i].live_bytes);
        json_uint(j, "events", p->timeline[i].events);
        json_end(j);
    }
    json_end(j);
}

static void
json_unknown_frees(struct json_tables *t, const struct view *v)
{
    struct json *j = t->j;
    static const char *const kinds[] = {
        [FREE_FOREIGN] = "foreign", [FREE_TWICE] = "twice", [FREE_INHERITED] = "inherited"};

    json_array(j, "unknown_frees");
    for (size_t i = 0; i < v->p->unknown_free_count; i++) {
        const struct profile_unknown_free *f = &v->p->unknown_frees[i];
        struct stack stack = stack_of_node(v->p, f->node, v->arena);
        struct stack site = stack_of_node(v->p, f->site_node, v->arena);

        json_object(j, NULL);
        json_string(j, "kind", kinds[f->kind]);
        json_uint(j, "count", f->count);
        json_address(j, "address", f->address);
        json_stack(t, "stack", &stack);
        json_stack(t, "allocated", &site);
        json_end(j);
    }
    json_end(j);
}

static void
json_corruptions(struct json_tables *t, const struct view *v)
{
    static const char *const kinds[] = {[CORRUPTED_PAST_END] = "past_end",
                                        [CORRUPTED_BEFORE_START] = "before_start",
                                        [CORRUPTED_OVERWRITTEN] = "overwritten"};
    static const char *const finders[] = {[CORRUPTION_BY_FREE] = "free",
                                          [CORRUPTION_BY_REALLOC] = "realloc",
                                          [CORRUPTION_BY_CHECK] = "check"};
    struct json *j = t->j;

    json_array(j, "damaged");
    for (size_t i = 0; i < v->p->corruption_count; i++) {
        const struct profile_corruption *d = &v->p->corruptions[i];
        struct stack stack = stack_of_node(v->p, d->node, v->arena);
        struct stack site = stack_of_node(v->p, d->site_node, v->arena);
        struct stack front = stack_of_node(v->p, d->front_node, v->arena);
        char hex[2 * PROFILE_CORRUPTION_BYTES + 1] = "";

        for (uint32_t k = 0; k < d->written_bytes; k++) {
            hex[2 * k] = "0123456789abcdef"[d->written[k] >> 4];
            hex[2 * k + 1] = "0123456789abcdef"[d->written[k] & 15];
        }
        json_object(j, NULL);
        json_string(j, "kind", kinds[d->kind]);
        json_string(j, "found_by", finders[d->found]);
        json_uint(j, "found_ns", d->found_ns);
        json_uint(j, "whole_ns", d->whole_ns);
        json_address(j, "address", d->address);
        json_uint(j, "size", d->size_bytes);
        json_address(j, "front_address", d->front_address);
        json_uint(j, "front_size", d->front_size_bytes);
        json_address(j, "at", d->at);
        json_string(j, "written", hex);
        json_stack(t, "stack", &stack);
        json_stack(t, "allocated", &site);
        json_stack(t, "front_allocated", &front);
        json_end(j);
    }
    json_end(j);
}

/* Write the modules as a separate member of nested documents, which have no tables. */
static void
json_modules(struct json *j, const struct profile *p)
{
    if (!json_is_nested(j))
        return;
    json_array(j, "modules");
    for (size_t i = 1; i < p->module_count; i++)
        json_module(j, &p->modules[i], p->modules[i].path, NULL);
    json_end(j);
}

static void
report_head(struct json *j, const struct view *v, enum metric metric)
{
    json_head(j, "heaptap-report", v->p, &v->stacks->total, &v->stacks->errors);
    json_string(j, "metric", metric_name(metric));
    json_self_report(j, v->p);
    json_counting(j, v->p);
    json_modules(j, v->p);
}

/* Sites of a document, in their order. */
struct report_sites {
    const struct stack *const *v;
    size_t count;
};

static void
put_report(struct json *j, const struct view *v, enum metric metric,
           const struct report_sites *sites, json_more *more, void *arg)
{
    struct json_tables t;

    json_tables_begin(&t, j, v->p, v->arena);
    json_object(j, NULL);
    report_head(j, v, metric);
    json_memory_member(&t, v);
    json_threads(j, v->p, v->arena);
    json_sizes(j, v->p);
    json_heaps(j, v->p);
    json_backings(&t, v);
    json_label_sets(j, v->p);
    json_time_points(j, v->p);
    json_unknown_frees(&t, v);
    json_corruptions(&t, v);
    json_sites(&t, "sites", sites->v, sites->count);
    if (more != NULL)
        more(&t, v, sites->v, arg);
    if (v->extra != NULL)
        v->extra->members(v->extra->arg, v, &t);
    json_tables_end(&t);
    json_end(j);
}

/* Return the first LIMIT of V's stacks by METRIC. From V's arena. */
static struct report_sites
first_sites(const struct view *v, enum metric metric, size_t limit)
{
    return (struct report_sites){group_sorted_stacks(v->stacks, metric, v->arena),
                                 v->stacks->count < limit ? v->stacks->count : limit};
}

void
json_report(struct json *j, const struct view *v, enum metric metric, size_t limit)
{
    struct report_sites sites = first_sites(v, metric, limit);

    put_report(j, v, metric, &sites, NULL, NULL);
}

void
json_report_more(struct json *j, const struct view *v, enum metric metric, json_more *more,
                 void *arg)
{
    struct report_sites sites = first_sites(v, metric, SIZE_MAX);

    put_report(j, v, metric, &sites, more, arg);
}

/* Write the amounts C, a part of a stack. A cut profile has no others. */
static void
json_part_of_stack(struct json *j, const struct counters *c)
{
    json_int(j, "allocations", c->allocations);
    json_int(j, "allocated_bytes", c->allocated_bytes);
    json_int(j, "frees", c->frees);
    json_int(j, "freed_bytes", c->freed_bytes);
    json_int(j, "live_blocks", counters_live_blocks(c));
    json_int(j, "live_bytes", counters_live_bytes(c));
    json_end(j);
}

struct numbered_stack {
    const struct stack_details *details;
    uint32_t number, highest;
};

/* Write the member "numbered" of json_one_stack. */
static void
json_numbered(struct json_tables *t, const struct view *v, const struct stack *const *sites,
              void *arg)
{
    static const char *const verdicts[] = {[VERDICT_LIKELY] = "likely",
                                           [VERDICT_CERTAIN] = "certain"};
    const struct numbered_stack *n = arg;
    struct json *j = t->j;

    (void)v, (void)sites;
    json_object(j, "numbered");
    json_uint(j, "number", n->number);
    json_uint(j, "highest", n->highest);
    json_counters(j, &n->details->total);
    json_array(j, "by_size");
    for (size_t i = 0; i < SIZE_CLASS_COUNT; i++) {
        const struct counters *c = &n->details->by_class[i];

        if (c->size_min == SIZE_MIN_NONE)
            continue;
        json_object(j, NULL);
        json_uint(j, "size_min", c->size_min);
        json_uint(j, "size_max", c->size_max);
        json_part_of_stack(j, c);
    }
    json_end(j);
    json_array(j, "by_type");
    for (size_t i = 0; i < n->details->type_count; i++) {
        const struct stack_type *type = &n->details->types[i];

        json_object(j, NULL);
        json_string(j, "type", type->name);
        json_string(j, "verdict", verdicts[type->verdict]);
        json_part_of_stack(j, &type->counters);
    }
    json_end(j);
    json_end(j);
}

void
json_one_stack(struct json *j, const struct view *v, enum metric metric,
               const struct stack_details *d, uint32_t highest)
{
    struct report_sites sites = {d->v, d->count};
    struct numbered_stack numbered = {d, d->v[0]->number, highest};

    put_report(j, v, metric, &sites, json_numbered, &numbered);
}

static void
json_verdicts(struct json *j, const struct groups *groups, enum metric metric)
{
    int64_t sums[VERDICT_CERTAIN + 1];

    group_table_verdicts(groups, metric, sums);
    json_object(j, "verdicts");
    json_int(j, "certain", sums[VERDICT_CERTAIN]);
    json_int(j, "likely", sums[VERDICT_LIKELY]);
    json_int(j, "same_size", sums[VERDICT_SAME_SIZE]);
    json_int(j, "unknown", sums[VERDICT_UNKNOWN]);
    json_end(j);
}

void
json_groups(struct json *j, const struct view *v, enum group_by by, enum metric metric,
            size_t limit)
{
    struct groups groups;
    struct table t;

    group_table_rows(v, by, metric, &groups);
    group_table_fill(v, &groups, by, metric, false, &t);
    json_object(j, NULL);
    report_head(j, v, metric);
    if (by == BY_TYPE)
        json_verdicts(j, &groups, metric);
    if (by == BY_SIZE)
        json_calls_of_heaps(j, v->p);
    table_json(&t, j, "rows", limit);
    json_end(j);
}

/* Return the node after N in pre-order; 0 after the last. PARENTS is the path from the root. */
static uint32_t
next_node(const struct tree *tree, uint32_t n, uint32_t *parents)
{
    const struct tree_node *nodes = tree->nodes;

    parents[nodes[n].depth] = n;
    if (nodes[n].first_child)
        return nodes[n].first_child;
    while (n != 0 && nodes[n].next_sibling == 0)
        n = parents[nodes[n].depth - 1];
    return n ? nodes[n].next_sibling : 0;
}

/* Write the members of NODE into the open object or row. PARENT is the row of its parent plus 1. */
static void
json_report_put_node(struct json_tables *t, const struct tree_node *node, uint32_t parent)
{
    struct json *j = t->j;

    json_uint(j, "depth", node->depth - 1);
    if (!json_is_nested(j) && parent > 0)
        json_uint(j, "parent", parent - 1);
    else if (!json_is_nested(j))
        json_string(j, "parent", NULL);
    if (node->root == NULL)
        json_frame(t, node->frame, node->location);
    else if (json_is_nested(j))
        json_string(j, "function",
                    strcmp(node->root, FRAME_NAME_OTHER) == 0 ? "other" : node->root);
    else
        json_string(j, "frame", NULL);
    json_string(j, "root", node->root);
    json_counters(j, &node->inclusive);
    json_self(j, &node->self);
    if (profile_has_errors(t->p)) {
        json_errors(j, "", &node->inclusive, node->inclusive_errors);
        json_errors(j, "self_", &node->self, node->self_errors);
    }
    json_estimated(j, t->p, "", node->inclusive_errors);
    json_estimated(j, t->p, "self_", node->self_errors);
}

static void
put_tree(struct json_tables *t, const struct tree *tree, struct arena *arena)
{
    static const struct tree_node none = {
        .depth = 1, .root = "", .inclusive = COUNTERS_ZERO, .self = COUNTERS_ZERO};
    uint32_t *parents = arena_array(arena, tree->count + 1, sizeof *parents);
    uint32_t *rows = arena_array(arena, tree->count + 1, sizeof *rows);
    bool nested = json_is_nested(t->j);
    uint32_t count = 0;

    if (nested)
        json_array(t->j, "tree");
    else
        json_columns(t->j, "tree");
    for (uint32_t n = next_node(tree, 0, parents); n != 0; n = next_node(tree, n, parents)) {
        if (nested)
            json_object(t->j, NULL);
        else
            json_row(t->j);
        rows[n] = ++count;
        json_report_put_node(t, &tree->nodes[n], rows[parents[tree->nodes[n].depth - 1]]);
        json_end(t->j);
    }
    if (nested) {
        json_end(t->j);
        return;
    }
    if (count == 0) {
        json_row(t->j);
        json_report_put_node(t, &none, 0);
        json_end(t->j);
    }
    json_columns_end(t->j, count);
}

void
json_tree(struct json *j, const struct view *v, enum tree_direction direction, enum metric metric,
          size_t depth)
{
    struct tree tree;
    struct json_tables t;

    tree_build(v->p, v->stacks, direction, metric, v->arena, &tree);
    if (v->limit || depth)
        tree_prune(&tree, metric, v->limit, depth, v->arena);
    json_tables_begin(&t, j, v->p, v->arena);
    json_object(j, NULL);
    report_head(j, v, metric);
    json_string(j, "direction", direction == TREE_TOP_DOWN ? "top-down" : "bottom-up");
    put_tree(&t, &tree, v->arena);
    json_tables_end(&t);
    json_end(j);
}
