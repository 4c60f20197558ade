/* view_json.c: the machine's view, exact and complete. The layout is a contract (docs/json.md):
 * members may be added, but none is renamed, removed or given another unit without a new "version".
 *
 * What is unknown is null, never an empty string. Addresses are strings, because JSON's readers
 * keep numbers as doubles.
 *
 *     {"format": "heaptap-report", "version": 1, "process": {…}, "totals": {…},
 *      "losses": {…}, "recorder": {…}, "threads": […], "sizes": […], "timeline": […],
 *      "sites": [{"live_bytes": 96, …, "stack": [{"function": "main", "file": "a.c", "line": 3,
 * …}]}]}
 */
#include "view/view_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyse/interval.h"

enum { JSON_VERSION = 1 };

static void
json_known(struct json *j, const char *key, const char *text)
{
    json_string(j, key, text && *text ? text : NULL);
}

void
json_of_whole(struct json *j, const char *key, const struct counters *c, int64_t value)
{
    if (c->partial)
        json_string(j, key, NULL);
    else
        json_int(j, key, value);
}

void
json_counters(struct json *j, const struct counters *c)
{
    bool any = c->size_min != SIZE_MIN_NONE;

    json_int(j, "allocations", c->allocations);
    json_int(j, "allocated_bytes", c->allocated_bytes);
    json_int(j, "frees", c->frees);
    json_int(j, "freed_bytes", c->freed_bytes);
    json_of_whole(j, "reallocations", c, c->reallocations);
    json_int(j, "live_blocks", counters_live_blocks(c));
    json_int(j, "live_bytes", counters_live_bytes(c));
    json_of_whole(j, "peak_blocks", c, c->peak_blocks);
    json_of_whole(j, "peak_bytes", c, c->peak_bytes);
    json_of_whole(j, "temporary", c, c->temporary);
    json_of_whole(j, "size_min", c, any ? (int64_t)c->size_min : 0);
    json_of_whole(j, "size_max", c, (int64_t)c->size_max);
}

static void
json_limit(struct json *j, const char *prefix, const char *key, const char *end, double limit)
{
    char name[64];

    snprintf(name, sizeof name, "%s%s%s", prefix, key, end);
    json_int(j, name, interval_rounded(limit));
}

void
json_errors(struct json *j, const char *prefix, const struct counters *c, const struct errors *e)
{
    static const struct {
        const char *key;
        enum interval_of what;
    } intervals[] = {
        {"allocations", INTERVAL_ALLOCATIONS}, {"allocated_bytes", INTERVAL_ALLOCATED_BYTES},
        {"live_blocks", INTERVAL_LIVE_BLOCKS}, {"live_bytes", INTERVAL_LIVE_BYTES},
        {"peak_blocks", INTERVAL_PEAK_BLOCKS}, {"peak_bytes", INTERVAL_PEAK_BYTES},
    };

    json_limit(j, prefix, "samples", "", e->allocated.samples);
    json_limit(j, prefix, "live_samples", "", interval_samples(e, INTERVAL_LIVE_BYTES));
    json_limit(j, prefix, "peak_samples", "", interval_samples(e, INTERVAL_PEAK_BYTES));
    for (size_t i = 0; i < countof(intervals); i++) {
        struct interval r = interval_of(c, e, intervals[i].what);

        json_limit(j, prefix, intervals[i].key, "_low", r.low);
        json_limit(j, prefix, intervals[i].key, "_high", r.high);
    }
}

void
json_self(struct json *j, const struct counters *c)
{
    json_int(j, "self_allocations", c->allocations);
    json_int(j, "self_allocated_bytes", c->allocated_bytes);
    json_int(j, "self_frees", c->frees);
    json_int(j, "self_freed_bytes", c->freed_bytes);
    json_int(j, "self_live_blocks", counters_live_blocks(c));
    json_int(j, "self_live_bytes", counters_live_bytes(c));
    json_of_whole(j, "self_peak_blocks", c, c->peak_blocks);
    json_of_whole(j, "self_peak_bytes", c, c->peak_bytes);
    json_of_whole(j, "self_temporary", c, c->temporary);
    json_of_whole(j, "self_reallocations", c, c->reallocations);
}

static void
json_process(struct json *j, const struct profile *p)
{
    const struct profile_process *pr = &p->process;

    json_object(j, "process");
    json_known(j, "command", pr->command);
    json_uint(j, "pid", pr->pid);
    if (pr->pid_here != 0)
        json_uint(j, "pid_here", pr->pid_here);
    json_uint(j, "parent_pid", pr->parent_pid);
    json_known(j, "executable", pr->executable);
    json_uint(j, "start_unix_ns", pr->start_unix_ns);
    json_uint(j, "elapsed_ns", pr->elapsed_ns);
    json_bool(j, "ended", pr->ended);
    json_bool(j, "forked", pr->forked);
    json_known(j, "kernel", pr->kernel);
    json_known(j, "machine", pr->machine);
    json_uint(j, "cpu_count", pr->cpu_count);
    json_uint(j, "page_bytes", pr->page_bytes);
    if (p->frames_kept != 0)
        json_uint(j, "frames_kept", p->frames_kept);
    else
        json_string(j, "frames_kept", NULL);
    json_known(j, "heaptap", pr->heaptap);
    json_uint(j, "sample_period_bytes", p->sample_period_bytes);
    json_known(j, "profile", p->path);
    json_end(j);
}

static void
json_merged(struct json *j, const struct profile *p)
{
    if (p->merged_processes == 0)
        return;
    json_object(j, "merged");
    json_uint(j, "processes", p->merged_processes);
    json_uint(j, "damaged", p->merged_damaged);
    json_uint(j, "left_out", p->merged_left_out);
    json_array(j, "programs");
    for (size_t i = 0; i < p->program_count; i++) {
        json_object_line(j, NULL);
        json_known(j, "executable", p->programs[i].executable);
        json_uint(j, "processes", p->programs[i].processes);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void
json_phases(struct json *j, const struct profile *p)
{
    static const char *const modes[] = {
        [MODE_EXACT] = "exact", [MODE_BYTES] = "bytes", [MODE_COUNT] = "count", [MODE_OFF] = "off"};

    json_array(j, "phases");
    for (size_t i = 0; i < p->phase_count; i++) {
        json_object_line(j, NULL);
        json_uint(j, "elapsed_ns", p->phases[i].elapsed_ns);
        json_string(j, "mode", modes[p->phases[i].mode]);
        json_uint(j, "period", p->phases[i].period);
        json_end(j);
    }
    json_end(j);
}

const char *const json_snapshot_kinds[SNAPSHOT_KINDS] = {
    [SNAPSHOT_ASKED] = "asked",   [SNAPSHOT_TIMED] = "timed",   [SNAPSHOT_PROGRAM] = "program",
    [SNAPSHOT_PHASE] = "phase",   [SNAPSHOT_GROWTH] = "growth", [SNAPSHOT_SIGNAL] = "signal",
    [SNAPSHOT_PERIOD] = "period",
};

void
json_snapshot(struct json *j, const struct profile_snapshot *s)
{
    json_object_line(j, NULL);
    json_uint(j, "elapsed_ns", s->elapsed_ns);
    json_known(j, "name", s->name);
    json_string(j, "kind", json_snapshot_kinds[s->kind]);
    json_int(
        j, "live_bytes",
        counters_sum(s->amounts.allocated_bytes, (int64_t)(0 - (uint64_t)s->amounts.freed_bytes)));
    json_int(j, "allocations", s->amounts.allocations);
    json_int(j, "allocated_bytes", s->amounts.allocated_bytes);
    json_end(j);
}

static void
json_snapshots(struct json *j, const struct profile *p)
{
    json_array(j, "snapshots");
    for (size_t i = 0; i < p->snapshot_count; i++)
        if (*p->snapshots[i].name != '\0')
            json_snapshot(j, &p->snapshots[i]);
    json_end(j);
}

static void
json_moment(struct json *j, const char *key, const struct profile_moment *m)
{
    json_object_line(j, key);
    json_uint(j, "elapsed_ns", m->elapsed_ns);
    json_known(j, "name", m->name);
    json_end(j);
}

void
json_extent(struct json *j, const struct profile *p)
{
    if (p->extent == EXTENT_BETWEEN)
        json_moment(j, "from", &p->from);
    if (p->extent == EXTENT_BETWEEN)
        json_moment(j, "to", &p->to);
    if (p->extent == EXTENT_AT)
        json_moment(j, "at", &p->to);
}

void
json_head(struct json *j, const char *format, const struct profile *p,
          const struct counters *totals, const struct errors *errors)
{
    json_string(j, "format", format);
    json_int(j, "version", JSON_VERSION);
    json_process(j, p);
    json_merged(j, p);
    json_object(j, "totals");
    json_counters(j, totals);
    if (profile_has_errors(p))
        json_errors(j, "", totals, errors);
    json_of_whole(j, "peak_error_bytes", totals, p->peak_error_bytes);
    json_of_whole(j, "peak_elapsed_ns", totals, (int64_t)p->peak_elapsed_ns);
    json_end(j);
    json_phases(j, p);
    json_snapshots(j, p);
    json_extent(j, p);
}

void
json_losses(struct json *j, const struct profile *p)
{
    json_object(j, "losses");
    for (size_t i = 0; i < loss_field_count; i++)
        json_uint(j, loss_fields[i].key, loss_value(&p->losses, &loss_fields[i]));
    json_bool(j, "file_failed", p->losses.file_failed);
    json_end(j);
}

static void
json_self_report(struct json *j, const struct profile *p)
{
    const struct profile_recorder *r = &p->recorder;

    json_losses(j, p);
    json_object(j, "recorder");
    json_uint(j, "memory_bytes", r->memory_bytes);
    json_uint(j, "file_bytes", r->file_bytes);
    json_uint(j, "frames_reused", r->frames_reused);
    json_uint(j, "frames_unwound", r->frames_unwound);
    json_uint(j, "full_unwinds", r->full_unwinds);
    json_uint(j, "events_timed", r->events_timed);
    json_uint(j, "timed_ns", r->timed_ns);
    json_end(j);
    json_array(j, "notes");
    for (size_t i = 0; i < p->note_count; i++)
        json_string(j, NULL, p->notes[i]);
    json_end(j);
}

static void
json_threads(struct json *j, const struct profile *p)
{
    json_array(j, "threads");
    for (size_t i = 0; i < p->thread_count; i++) {
        json_object(j, NULL);
        json_known(j, "name", p->threads[i].name);
        json_uint(j, "tid", p->threads[i].tid);
        json_uint(j, "uses", p->threads[i].uses);
        json_counters(j, &p->threads[i].counters);
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
json_timeline(struct json *j, const struct profile *p)
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
json_frame(struct json *j, const struct profile *p, uint32_t frame, uint32_t location)
{
    const struct profile_frame *f = &p->frames[frame];
    const struct profile_location *l = &p->locations[location];
    char address[32];

    json_known(j, "function", profile_string(p, f->function));
    json_known(j, "file", profile_string(p, f->file));
    if (f->line)
        json_uint(j, "line", f->line);
    else
        json_string(j, "line", NULL);
    json_known(j, "module", p->modules[f->module].path);
    json_bool(j, "inlined", f->inlined);
    snprintf(address, sizeof address, "0x%" PRIx64, l->address);
    json_string(j, "address", address);
    snprintf(address, sizeof address, "0x%" PRIx64, l->address - p->modules[l->module].bias);
    json_string(j, "offset", address);
}

static void
json_flags(struct json *j, uint32_t flags)
{
    json_bool(j, "other", (flags & NODE_OTHER) != 0);
    json_bool(j, "truncated", (flags & NODE_TRUNCATED) != 0);
    json_bool(j, "guessed", (flags & NODE_GUESSED) != 0);
    json_bool(j, "broken", (flags & NODE_BROKEN) != 0);
}

void
json_stack(struct json *j, const char *key, const struct profile *p, const struct stack *s)
{
    json_array(j, key);
    for (uint32_t i = 0; i < s->depth; i++) {
        json_object_line(j, NULL);
        json_frame(j, p, s->frames[i], s->locations[i]);
        json_end(j);
    }
    json_end(j);
}

static void
json_unknown_frees(struct json *j, const struct text_view *v)
{
    static const char *const kinds[] = {
        [FREE_FOREIGN] = "foreign", [FREE_TWICE] = "twice", [FREE_INHERITED] = "inherited"};

    json_array(j, "unknown_frees");
    for (size_t i = 0; i < v->p->unknown_free_count; i++) {
        const struct profile_unknown_free *f = &v->p->unknown_frees[i];
        struct stack stack = stack_of_node(v->p, f->node, v->arena);
        struct stack site = stack_of_node(v->p, f->site_node, v->arena);
        char address[32];

        json_object(j, NULL);
        json_string(j, "kind", kinds[f->kind]);
        json_uint(j, "count", f->count);
        snprintf(address, sizeof address, "0x%" PRIx64, f->address);
        json_string(j, "address", address);
        json_stack(j, "stack", v->p, &stack);
        json_stack(j, "allocated", v->p, &site);
        json_end(j);
    }
    json_end(j);
}

static void
json_sites(struct json *j, const char *key, const struct profile *p, const struct stack *const *v,
           size_t count)
{
    json_array(j, key);
    for (size_t i = 0; i < count; i++) {
        json_object(j, NULL);
        json_counters(j, &v[i]->counters);
        if (profile_has_errors(p))
            json_errors(j, "", &v[i]->counters, &v[i]->errors);
        json_string(j, "heap", p->heaps[v[i]->heap].name);
        if (v[i]->labels != STACK_LABELS_SEVERAL)
            json_labels(j, &p->label_sets[v[i]->labels]);
        json_flags(j, v[i]->flags);
        json_stack(j, "stack", p, v[i]);
        json_end(j);
    }
    json_end(j);
}

static void
report_head(struct json *j, const struct text_view *v, enum metric metric)
{
    json_head(j, "heaptap-report", v->p, &v->stacks->total, &v->stacks->errors);
    json_string(j, "metric", metric_name(metric));
    json_self_report(j, v->p);
}

void
json_report(struct json *j, const struct text_view *v, enum metric metric, size_t limit)
{
    const struct stack **all = group_sorted_stacks(v->stacks, metric, v->arena);

    json_object(j, NULL);
    report_head(j, v, metric);
    json_threads(j, v->p);
    json_sizes(j, v->p);
    json_heaps(j, v->p);
    json_backings(j, v);
    json_label_sets(j, v->p);
    json_timeline(j, v->p);
    json_unknown_frees(j, v);
    json_sites(j, "sites", v->p, all, v->stacks->count < limit ? v->stacks->count : limit);
    json_end(j);
}

static void
json_verdicts(struct json *j, const struct groups *groups, enum metric metric)
{
    int64_t sums[VERDICT_CERTAIN + 1];

    text_verdicts(groups, metric, sums);
    json_object(j, "verdicts");
    json_int(j, "certain", sums[VERDICT_CERTAIN]);
    json_int(j, "likely", sums[VERDICT_LIKELY]);
    json_int(j, "same_size", sums[VERDICT_SAME_SIZE]);
    json_int(j, "unknown", sums[VERDICT_UNKNOWN]);
    json_end(j);
}

void
json_groups(struct json *j, const struct text_view *v, enum group_by by, enum metric metric,
            size_t limit)
{
    struct groups groups;
    struct table t;

    text_build_groups(v, by, metric, &groups);
    text_group_table(v, &groups, by, metric, &t);
    json_object(j, NULL);
    report_head(j, v, metric);
    if (by == BY_TYPE)
        json_verdicts(j, &groups, metric);
    table_json(&t, j, "rows", limit);
    json_end(j);
}

/* The node after N in pre-order; 0 after the last. PARENTS holds the way from the root. */
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

void
json_tree(struct json *j, const struct text_view *v, enum tree_direction direction,
          enum metric metric)
{
    struct tree tree;
    uint32_t *parents;

    tree_build(v->p, v->stacks, direction, metric, v->arena, &tree);
    parents = arena_array(v->arena, tree.count + 1, sizeof *parents);
    json_object(j, NULL);
    report_head(j, v, metric);
    json_string(j, "direction", direction == TREE_TOP_DOWN ? "top-down" : "bottom-up");
    json_array(j, "tree");
    for (uint32_t n = next_node(&tree, 0, parents); n != 0; n = next_node(&tree, n, parents)) {
        const struct tree_node *node = &tree.nodes[n];

        json_object(j, NULL);
        json_uint(j, "depth", node->depth - 1);
        if (node->is_other)
            json_string(j, "function", "other");
        else
            json_frame(j, v->p, node->frame, node->location);
        json_counters(j, &node->inclusive);
        json_self(j, &node->self);
        if (profile_has_errors(v->p)) {
            json_errors(j, "", &node->inclusive, &node->inclusive_errors);
            json_errors(j, "self_", &node->self, &node->self_errors);
        }
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

void
json_suppressions(struct json *j, const struct leaks *leaks,
                  const struct suppressions *suppressions)
{
    json_object(j, "suppressed");
    json_int(j, "live_blocks", leaks->suppressed_blocks);
    json_int(j, "live_bytes", leaks->suppressed_bytes);
    json_array(j, "by");
    for (size_t i = 0; i < suppressions->count; i++) {
        const struct suppression *s = &suppressions->v[i];

        if (s->counters.allocations == 0)
            continue;
        json_object(j, NULL);
        json_string(j, "pattern", s->pattern);
        json_string(j, "origin", s->origin);
        json_int(j, "live_blocks", counters_live_blocks(&s->counters));
        json_int(j, "live_bytes", counters_live_bytes(&s->counters));
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

void
json_leaks(struct json *j, const struct text_view *v, const struct leaks *leaks,
           const struct suppressions *suppressions, size_t limit)
{
    json_object(j, NULL);
    json_head(j, "heaptap-leaks", v->p, &v->p->totals, &v->p->errors);
    json_object(j, "total");
    json_int(j, "live_blocks", counters_live_blocks(&leaks->stacks.total));
    json_int(j, "live_bytes", counters_live_bytes(&leaks->stacks.total));
    json_int(j, "sites", (int64_t)leaks->count);
    if (profile_has_errors(v->p))
        json_errors(j, "", &leaks->stacks.total, &leaks->stacks.errors);
    json_end(j);
    json_suppressions(j, leaks, suppressions);
    json_sites(j, "leaks", v->p, leaks->v, leaks->count < limit ? leaks->count : limit);
    json_end(j);
}
