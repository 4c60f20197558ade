/* fuzz_views.c: show every profile that loads, by every view, as text and as JSON, and by every
 * exporter. Behaviour must be defined, memory bounded, and the output bounded by the size of the
 * profile's stacks with their names. The counters may have any values.
 *
 * Locations without names get some, so that no file named in the profile is opened. Inputs are
 * profiles, so the mutator of fuzz_profile.c is used. Profiles with much output are left to
 * output.sh, because they would be slow here. */
/* covers: text_brief.c top_holders.c user_code.c stack_numbers.c */
/* covers: text_view.c text_header.c text_notes.c text_stack.c text_site.c text_overview.c */
/* covers: text_leaks.c text_groups.c text_heaps.c text_frees.c text_tree.c text_size_totals.c */
/* covers: text_corruptions.c stack_details.c text_one_stack.c */
/* covers: text_paths.c text_function_totals.c text_callgraph.c text_timeline.c text_diff.c */
/* covers: classic_callgraph.c dot_callgraph.c json_members.c json_stack.c json_report.c */
/* covers: json_tables.c json_out.c */
/* covers: json_heaps.c json_leaks.c json_size_totals.c json_paths.c json_function_totals.c
 * json_callgraph.c */
/* covers: json_timeline.c json_diff.c group_table.c phrases.c backing.c sampling.c load_fit.c */
/* covers: diff.c timeline.c callgraph.c group.c collapsed.c flamegraph.c flame_tree.c */
/* covers: notes.c json_notes.c text_recording.c */
/* covers: pprof_proto.c pprof_text.c timeline_svg.c timeline_flame.c time_frame.c */
/* covers: thread_shares.c callgrind.c line_text.c massif.c dhat.c */
/* covers: json_page.c page_writer.c */
/* covers: access_sites.c access_words.c text_access.c json_access.c load_access.c access.c */
/* covers: fields.c field_advice.c field_words.c text_fields.c json_fields.c fields_svg.c */
/* covers: caller_cells.c caller_errors.c caller_history.c caller_shares.c */
/* covers: fold_runtime.c fold_language.c */
/* covers: frame_table.c titles.c speedscope.c csv.c heapprofile.c firefox.c */
#define LLVMFuzzerTestOneInput fuzz_profile_one
#include "fuzz_profile.c"
#undef LLVMFuzzerTestOneInput

#include "analyse/access_sites.h"
#include "analyse/fields.h"
#include "analyse/stacks.h"
#include "command/exporters.h"
#include "html/page_writer.h"
#include "json/json.h"
#include "profile/caller_shares.h"
#include "profile/fold_language.h"
#include "svg/svg.h"
#include "text/text.h"
#include "text/text_view.h"
#include "view/phrases.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

enum {
    WRITTEN_MAX = 1 << 20, // Maximum size of a profile's stacks.
    FRAME_BYTES = 64,      // Bytes of a frame in addition to its names.
    ROW_BYTES = 128,       // Bytes of a row of numbers, with the names of the columns.
    // Limit on how often all of this is written, for each snapshot; the maximum seen is 400.
    TIMES_MAX = 4000,
};

/* A profile whose views are being written, and the bytes written so far. */
struct looked_at {
    struct profile *p;
    struct arena arena;
    struct stacks stacks;
    struct text_view view;
    struct strbuf out;
    uint32_t version; // Version of the JSON.
    uint64_t written;
};

static void
throw_away(struct strbuf *out)
{
    *(uint64_t *)out->drain_arg += out->length;
    strbuf_clear(out);
}

/* Give frames to all locations without names. */
static void
name_places(struct profile *p)
{
    for (size_t i = 1; i < p->location_count; i++) {
        struct profile_location *l = &p->locations[i];

        if (l->frame_count != 0)
            continue;
        l->first_frame = (uint32_t)p->frame_count;
        l->frame_count = 1;
        profile_add_frame(p, &(struct profile_frame){.module = l->module});
    }
    p->symbolised = true;
}

/* Return the size of P's stacks as text; counting stops beyond WRITTEN_MAX. */
static uint64_t
views_stack_bytes(const struct profile *p)
{
    uint64_t *bytes = xmalloc((p->node_count + 1) * sizeof *bytes);
    uint64_t sum = 0;

    bytes[0] = 0;
    for (size_t i = 1; i < p->node_count; i++) {
        const struct profile_location *l = &p->locations[p->nodes[i].location];

        bytes[i] = bytes[p->nodes[i].parent];
        for (uint32_t f = 0; f < l->frame_count; f++) {
            const struct profile_frame *frame = &p->frames[l->first_frame + f];

            bytes[i] += strlen(profile_string(p, frame->function)) +
                        strlen(profile_string(p, frame->file)) +
                        strlen(p->modules[l->module].path) + FRAME_BYTES;
        }
    }
    for (size_t i = 0; i < p->site_count && sum < WRITTEN_MAX; i++)
        sum += bytes[p->sites[i].node];
    for (size_t i = 0; i < p->backing_count && sum < WRITTEN_MAX; i++)
        sum += bytes[p->backings[i].node];
    for (size_t i = 0; i < p->unknown_free_count && sum < WRITTEN_MAX; i++)
        sum += bytes[p->unknown_frees[i].node] + bytes[p->unknown_frees[i].site_node];
    for (size_t i = 0; i < p->type_count && sum < WRITTEN_MAX; i++)
        sum += strlen(profile_string(p, p->types[i].name));
    free(bytes);
    return sum;
}

/* Return the size of the rest of P, with the names that rows share. */
static uint64_t
views_row_bytes(const struct profile *p)
{
    uint64_t rows = p->module_count + p->node_count + p->site_count + p->heap_count +
                    p->label_set_count + p->backing_count + p->thread_count +
                    p->thread_site_count + p->bin_count + p->time_point_count + p->mode_count +
                    p->change_count + p->type_count + p->accesses.count + p->accesses.field_count +
                    p->unknown_free_count + p->corruption_count + p->note_count + p->run_note_count;
    uint64_t bytes = (rows + 1) * ROW_BYTES;

    for (size_t i = 0; i < p->strings.count; i++)
        bytes += strlen(p->strings.strings[i]);
    for (size_t i = 0; i < p->site_count; i++)
        bytes += strlen(p->heaps[p->sites[i].heap].name) +
                 strlen(p->label_sets[p->sites[i].labels].text) +
                 strlen(profile_string(p, p->sites[i].type));
    return bytes;
}

/* Return true if P is small as text. */
static bool
is_small(const struct profile *p)
{
    return views_stack_bytes(p) < WRITTEN_MAX && p->snapshot_count < 256;
}

static void
show_tables(struct looked_at *l, enum metric metric)
{
    struct text_view *v = &l->view;
    struct functions functions;
    struct callgraph g;
    struct function_totals d;
    struct graph_view gv = {.g = &g, .metric = metric, .arcs = 10};
    struct json j;

    functions_init(&functions, l->p, &l->arena);
    callgraph_build(&functions, &l->stacks, metric, &l->arena, &g);
    gv.nodes = g.entries;
    gv.count = g.entry_count;
    text_callgraph(v, &gv);
    classic_callgraph(v, &gv);
    dot_callgraph(v, &gv);
    json_begin(&j, &l->out, l->version);
    json_callgraph(&j, &v->base, &gv);
    function_totals_build(&functions, &l->stacks, metric, &l->arena, &d);
    text_function_totals(v, &functions, &d, metric);
    classic_function_totals(v, &functions, &d);
    json_begin(&j, &l->out, l->version);
    json_function_totals(&j, &v->base, &functions, &d, metric, SIZE_MAX);
    functions_release(&functions);
}

static void
show_leaks(struct looked_at *l)
{
    struct paths_options options = {.call_sites = true};
    struct stacks_options all = {0};
    struct suppressions suppressions = {0};
    struct functions functions;
    struct err err = {""};
    struct leaks leaks;
    struct paths paths;
    struct json j;
    struct leak_paths lp = {&leaks, &suppressions, &paths, &functions, true};

    suppress_add_builtin(&suppressions, &l->arena);
    demand(leaks_find(l->p, &all, &suppressions, &l->arena, &leaks, &err) == 0, "leaks are found");
    text_leaks(&l->view, &leaks, &suppressions);
    json_begin(&j, &l->out, l->version);
    json_leaks(&j, &l->view.base, &leaks, &suppressions, SIZE_MAX);
    functions_init(&functions, l->p, &l->arena);
    paths_build(&functions, leaks.v, leaks.count, &options, &l->arena, &paths);
    text_paths(&l->view, &lp);
    classic_paths(&l->view, &lp);
    json_begin(&j, &l->out, l->version);
    json_paths(&j, &l->view.base, &lp, SIZE_MAX);
    functions_release(&functions);
}

static void
show_timeline(struct looked_at *l)
{
    struct timeline t;
    struct json j;

    for (int by = 0; timeline_by_names[by] != NULL; by++) {
        struct timeline_options options = {.by = (enum timeline_by)by, .limit = 5};

        timeline_build(l->p, &l->stacks, &options, &l->arena, &t);
        text_timeline(&l->view, &t);
        json_begin(&j, &l->out, l->version);
        json_timeline(&j, &l->view.base, &t);
        timeline_svg(l->p, &l->stacks, &t, &l->arena, &l->out);
        timeline_flame(l->p, &l->stacks, &options, &l->arena, &l->out);
    }
}

/* Compare with a profile without stacks, and with itself. */
static void
show_diff(struct looked_at *l, enum metric metric)
{
    struct stacks none = {.total = COUNTERS_ZERO};
    struct diff_side all = {l->p, &l->stacks}, nothing = {l->p, &none};
    struct diff diff;

    for (int by = 0; by <= DIFF_BY_FUNCTION; by++) {
        for (int k = 0; k < 3; k++) {
            struct diff_view v = {.before = l->p,
                                  .after = l->p,
                                  .diff = &diff,
                                  .by = (enum diff_by)by,
                                  .metric = metric,
                                  .arena = &l->arena,
                                  .limit = SIZE_MAX};
            struct json j;

            diff_build(k == 0 ? &nothing : &all, k == 1 ? &nothing : &all, (enum diff_by)by, metric,
                       &l->arena, &diff);
            text_diff(&v, &l->view.style, TEXT_DEPTH, &l->out);
            json_begin(&j, &l->out, l->version);
            json_diff(&j, &v);
        }
    }
}

static void
export_all(struct looked_at *l, enum metric metric)
{
    struct export_options options = {
        .metric = metric, .roots = {ROOT_HEAP, NULL}, .calls_max = 1000};
    struct flame_side side = {l->p, &l->stacks, options.roots};
    struct err err = {""};
    size_t count;
    const struct exporter *exporters = export_list(&count);

    for (size_t i = 0; i < count; i++) {
        int rc = exporters[i].write(l->p, &l->stacks, &options, &l->out, &err);

        demand(rc == 0 || (rc == HEAPTAP_USAGE && *err.text != '\0'),
               "a profile is exported, or refused with a reason");
    }
    flamegraph_diff(&side, &side, metric, &l->out);
}

static void
show_metric(struct looked_at *l, enum metric metric)
{
    struct text_view *v = &l->view;
    struct json j;

    text_sites(v, metric);
    for (int by = BY_SITE + 1; by <= BY_LABEL; by++) {
        if (by == BY_SIZE && (metric == METRIC_PEAK || metric == METRIC_TEMPORARY))
            continue;
        text_groups(v, (enum group_by)by, metric);
        json_begin(&j, &l->out, l->version);
        json_groups(&j, &v->base, (enum group_by)by, metric, SIZE_MAX);
    }
    for (int direction = 0; direction <= TREE_BOTTOM_UP; direction++) {
        text_tree(v, (enum tree_direction)direction, metric, 0);
        json_begin(&j, &l->out, l->version);
        json_tree(&j, &v->base, (enum tree_direction)direction, metric, 3);
    }
    show_tables(l, metric);
    show_diff(l, metric);
    export_all(l, metric);
}

/* Add a structure for the first named type, like one from debug information. */
static void
views_add_structure(struct looked_at *l)
{
    struct profile *p = l->p;
    uint32_t name = 0;

    for (size_t i = 0; i < p->site_count && name == 0; i++)
        name = fields_type_name(p, &p->sites[i]);
    if (name == 0)
        return;
    p->structures = arena_alloc(&p->arena, sizeof *p->structures);
    p->structure_count = 1;
    *p->structures = (struct profile_structure){
        .name = name, .size = 84, .alignment = 8, .is_complete = true, .member_count = 3};
    p->structures->members = arena_array(&p->arena, 3, sizeof *p->structures->members);
    for (uint32_t i = 0; i < 3; i++)
        p->structures->members[i] = (struct profile_member){
            .name = name, .type = name, .offset = i * 30, .size = 20, .alignment = 2, .part = i};
}

static void
views_show_fields(struct looked_at *l)
{
    struct fields f;
    struct json j;

    if (l->p->accesses.granule_bytes == 0)
        return;
    views_add_structure(l);
    fields_build(l->p, &l->stacks, &l->arena, &f);
    text_fields(&l->view, &f);
    fields_svg(l->p, &f, SIZE_MAX, &l->out);
    json_begin(&j, &l->out, l->version);
    json_fields(&j, &l->view.base, &f, SIZE_MAX);
}

static void
show_accesses(struct looked_at *l)
{
    struct access_table t;
    struct json j;

    access_build(l->p, &l->stacks, &l->arena, &t);
    for (int pick = 0; pick <= ACCESS_PICK_NEVER; pick++) {
        text_access(&l->view, &t, (enum access_pick)pick);
        json_begin(&j, &l->out, l->version);
        json_access(&j, &l->view.base, &t, (enum access_pick)pick, SIZE_MAX);
    }
}

static const char *
views_source_of(void *arg, const char *file)
{
    (void)arg;
    return file;
}

/* Write pages of the profile alone, and of a comparison with itself. */
static void
views_make_pages(struct looked_at *l)
{
    const struct stacks_options options = {.no_fold = true};
    struct view view = l->view.base;
    struct stacks stacks;
    struct err err = {""};

    demand(stacks_build(l->p, &options, &l->arena, &stacks, &err) == 0, "stacks are built");
    stack_numbers(l->p, &stacks);
    view.stacks = &stacks;
    for (int i = 0; i < 2; i++) {
        struct json_page page = {.view = &view,
                                 .before = i == 0 ? NULL : &view,
                                 .options = &options,
                                 .source = i == 0 ? NULL : views_source_of};
        struct page_writer w;
        struct json j;

        page_begin(&w, "<" PAGE_MARKER ">", &l->out);
        json_begin(&j, &w.data, JSON_VERSION_TABLES);
        json_page(&j, &page);
        page_end(&w);
    }
}

/* Show the first stack alone. */
static void
views_show_one_stack(struct looked_at *l)
{
    uint32_t highest = stack_numbers(l->p, &l->stacks);
    struct stack_details details;
    struct json j;

    if (l->stacks.count == 0)
        return;
    demand(l->stacks.v[0].number >= 1 && l->stacks.v[0].number <= highest, "numbers have a range");
    stack_details_build(l->p, &l->stacks, l->stacks.v[0].number, &l->arena, &details);
    demand(details.count >= 1, "each number has a stack");
    text_one_stack(&l->view, &details, highest);
    json_begin(&j, &l->out, l->version);
    json_one_stack(&j, &l->view.base, METRIC_INUSE, &details, highest);
}

static void
views_show_all(struct looked_at *l, bool wide)
{
    struct json j;

    l->view = (struct text_view){.base = {.p = l->p, .stacks = &l->stacks, .arena = &l->arena},
                                 .style = {.width = wide ? STYLE_NO_LIMIT : 80},
                                 .out = &l->out,
                                 .depth = TEXT_DEPTH};
    text_overview(&l->view);
    text_brief(&l->view);
    json_begin(&j, &l->out, l->version);
    json_report(&j, &l->view.base, METRIC_INUSE, SIZE_MAX);
    views_show_one_stack(l);
    show_accesses(l);
    views_show_fields(l);
    for (int m = 0; m <= METRIC_COUNT; m++)
        if (metric_is_known(&l->p->totals, (enum metric)m))
            show_metric(l, (enum metric)m);
    text_size_totals(&l->view, 20);
    text_size_totals(&l->view, SIZE_MAX);
    classic_size_totals(&l->view);
    json_begin(&j, &l->out, l->version);
    json_size_totals(&j, &l->view.base, SIZE_MAX);
    if (l->p->extent == EXTENT_WHOLE && l->p->has_history)
        show_timeline(l);
    show_leaks(l);
}

static void
views_look_at(struct profile *p)
{
    struct looked_at l = {.p = p};
    struct stacks_options options = {0};
    struct err err = {""};

    l.out = (struct strbuf){.drain = throw_away, .drain_arg = &l.written};
    demand(stacks_build(p, &options, &l.arena, &l.stacks, &err) == 0, "stacks are built");
    l.version = JSON_VERSION_TABLES;
    views_show_all(&l, false);
    views_make_pages(&l);
    l.version = JSON_VERSION_NESTED;
    if (p->extent == EXTENT_WHOLE)
        views_show_all(&l, true);
    throw_away(&l.out);
    demand(l.written <=
               (views_stack_bytes(p) + views_row_bytes(p)) * (p->snapshot_count + 1) * TIMES_MAX,
           "the output is in proportion to the stacks");
    strbuf_release(&l.out);
    arena_release(&l.arena);
}

/* Remove the interpreter's frames from P, then all frames of C code, and view the rest. The totals
 * of the sites must not change. */
static void
look_at_language(struct profile *p)
{
    int64_t before = 0, after = 0;

    for (size_t i = 0; i < p->site_count; i++)
        before = counters_sum(before, p->sites[i].counters.allocated_bytes);
    fold_runtime(p);
    profile_is_of_interpreter(p);
    language_only(p);
    for (size_t i = 0; i < p->site_count; i++)
        after = counters_sum(after, p->sites[i].counters.allocated_bytes);
    demand(before == after, "the sites keep their bytes");
    demand(profile_is_valid(p), "the reduced tree is valid");
    views_look_at(p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct err err = {""};
    struct profile *p;
    struct profile_point moment;

    if (!is_moderate(data, size_bytes) || load_bytes(data, size_bytes, "input", &p, &err) < 0)
        return REFUSED;
    name_places(p);
    if (is_small(p)) {
        callers_spread(p, false);
        views_look_at(p);
        if (p->has_history) {
            moment = point_at(p, (p->snapshot_count + 1) / 2);
            profile_cut(p, NULL, &moment);
            views_look_at(p);
        }
        look_at_language(p);
    }
    profile_free(p);
    return 0;
}
