/* test_valid.c: each condition of a validity function can be broken, and the function notices. A
 * test builds a valid structure and changes one thing. The function must return false and name the
 * broken condition. If a test fails here, an assert at the border of a module misses an error, or
 * fires without one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyse/callgraph.h"
#include "analyse/diff.h"
#include "analyse/group.h"
#include "analyse/interval.h"
#include "analyse/stacks.h"
#include "analyse/timeline.h"
#include "analyse/totals.h"
#include "build_profile.h"
#include "format/format.h"
#include "load/load.h"
#include "load/loader.h"
#include "merge/merge.h"
#include "merge/merger.h"
#include "profile/pack.h"
#include "profile/profile_valid.h"
#include "profile/time_slice.h"
#include "symbol/ranges.h"
#include "symbol/symcache.h"
#include "type/type_module.h"
#include "util/ensure.h"
#include "util/strbuf.h"

#define SECOND UINT64_C(1000000000)

/* Add two sites to the profile P, one of malloc and one of a heap with labels. */
static void
add_sites(struct profile *p)
{
    uint32_t thread = build_thread(p, "main");
    uint32_t heap = build_heap(p, "arena"), set = build_labels(p, "kind", "get", NULL);
    struct counters large = build_counters(3, 300, 1, 100), small = build_counters(2, 16, 0, 0);

    build_site(p, large, "+in@a.h:1", "f@a.c:2", "main@a.c:3", NULL);
    build_site(p, small, "g@a.c:4", "main@a.c:3", NULL);
    build_thread_site(p, thread, 0, large);
    build_thread_site(p, thread, 1, small);
    p->backings = arena_array(&p->arena, 1, sizeof *p->backings);
    p->backings[p->backing_count++] =
        (struct profile_backing){.heap = heap, .node = 1, .counters = large};
    build_tags(p, 1, heap, set);
    build_bin(p, 8, 8, build_counters(2, 16, 0, 0));
    build_bin(p, 1025, 2048, build_counters(1, 2000, 0, 0));
}

static void
valid_add_times(struct profile *p)
{
    p->timeline = arena_array(&p->arena, 2, sizeof *p->timeline);
    p->timeline[0] = (struct profile_time_point){SECOND, 200, 4};
    p->timeline[1] = (struct profile_time_point){2 * SECOND, 216, 6};
    p->time_point_count = 2;
    p->modes = arena_array(&p->arena, 2, sizeof *p->modes);
    p->modes[1].elapsed_ns = SECOND;
    p->mode_count = 2;
    p->snapshots = arena_array(&p->arena, 2, sizeof *p->snapshots);
    p->snapshots[0] = (struct profile_snapshot){SECOND, "one", SNAPSHOT_ASKED, 0, {3, 300, 1, 100}};
    p->snapshots[1] =
        (struct profile_snapshot){2 * SECOND, "", SNAPSHOT_TIMED, 0, {5, 316, 1, 100}};
    p->snapshot_count = 2;
    p->changes = arena_array(&p->arena, 2, sizeof *p->changes);
    p->changes[0] = (struct profile_change){0, 0, {3, 300, 1, 100}};
    p->changes[1] = (struct profile_change){1, 1, {2, 16, 0, 0}};
    p->change_count = 2;
    p->has_history = true;
}

static void
add_tables(struct profile *p)
{
    static const char *texts[] = {"a sentence"};

    p->unknown_frees = arena_array(&p->arena, 2, sizeof *p->unknown_frees);
    p->unknown_frees[0] = (struct profile_unknown_free){FREE_TWICE, 1, 2, 5, 0x1000};
    p->unknown_frees[1] = (struct profile_unknown_free){FREE_FOREIGN, 2, 0, 3, 0x2000};
    p->unknown_free_count = 2;
    p->types = arena_array(&p->arena, 2, sizeof *p->types);
    p->types[0] = (struct profile_type){8, strtab_id(&p->strings, "point")};
    p->types[1] = (struct profile_type){100, strtab_id(&p->strings, "line")};
    p->type_count = 2;
    p->typed = true;
    p->notes = texts;
    p->note_count = 1;
}

/* Return a profile with an element of each kind. */
static struct profile *
good_profile(void)
{
    struct profile *p = build_profile_new();

    add_sites(p);
    valid_add_times(p);
    add_tables(p);
    return p;
}

/* Assert that the last broken condition is CONDITION, or begins with it. */
static void
assert_broken(const char *condition)
{
    if (strncmp(ensure_broken_text(), condition, strlen(condition)) != 0)
        fail_msg("broken is %s, not %s", ensure_broken_text(), condition);
}

/* Check that the changes to a valid profile P break CONDITION. */
#define BREAKS(condition, ...)                                                                     \
    do {                                                                                           \
        struct profile *p = good_profile();                                                        \
                                                                                                   \
        __VA_ARGS__;                                                                               \
        assert_false(profile_is_valid(p));                                                         \
        assert_broken(condition);                                                                  \
        profile_free(p);                                                                           \
    } while (0)

/* Check that CALL, which returns true, fails because of CONDITION after CHANGE; BACK undoes the
 * change. */
#define BREAKS_FOR_A_WHILE(call, condition, change, back)                                          \
    do {                                                                                           \
        bool valid;                                                                                \
                                                                                                   \
        assert_true(call);                                                                         \
        change;                                                                                    \
        valid = call;                                                                              \
        back;                                                                                      \
        assert_false(valid);                                                                       \
        assert_broken(condition);                                                                  \
    } while (0)

/* Like BREAKS_FOR_A_WHILE, with NUMBER set to VALUE. */
#define BREAKS_IF(call, condition, number, value)                                                  \
    do {                                                                                           \
        typeof(number) was = number;                                                               \
                                                                                                   \
        BREAKS_FOR_A_WHILE(call, condition, (number) = (value), (number) = was);                   \
    } while (0)

/* If this fails, a failed assert does not end with the documented exit code, or does not name its
 * condition. */
static void
a_failed_assert_ends_with_exit_code_four(void **unused)
{
    char text[1024] = "";
    int ends[2], status;
    ssize_t length;
    pid_t pid;

    (void)unused;
    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        ensure_failed("a < b", "c (d.c:5)", "src/e.c", 6);
    }
    close(ends[1]);
    length = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 4);
    assert_true(length > 0 && strstr(text, "e.c:6: expected a < b, broken is c (d.c:5)") != NULL);
}

/* If this fails, every command ends with "a mistake of heaptap's own" on good profiles. */
static void
what_is_good_is_valid(void **unused)
{
    struct profile *p = good_profile(), empty = {.path = "", .totals = COUNTERS_ZERO};
    struct profile_point moment;

    (void)unused;
    assert_true(profile_is_valid(p));
    moment = point_at(p, 1);
    profile_cut(p, NULL, &moment);
    assert_true(profile_is_valid(p));
    profile_free(p);
    assert_false(profile_is_valid(&empty));
}

/* If this fails, a place in the code may refer to a missing module, name or address. */
static void
a_place_that_leads_nowhere_is_found(void **unused)
{
    (void)unused;
    BREAKS("p->module_count >= 1", p->module_count = 0);
    BREAKS("p->modules[0].end == 0", p->modules[0].end = 1);
    BREAKS("m->start <= m->end", p->modules[1].end = 0);
    BREAKS("m->path != NULL", p->modules[1].path = NULL);
    BREAKS("m->build_id_bytes <=", p->modules[1].build_id_bytes = PROFILE_BUILD_ID_MAX + 1);
    BREAKS("m->symbols <= SYMBOLS_DEBUG", p->modules[1].symbols = SYMBOLS_DEBUG + 1);
    BREAKS("p->location_count >= 1", p->location_count = 0);
    BREAKS("p->locations[0].frame_count == 0", p->locations[0].frame_count = 1);
    BREAKS("l->module < p->module_count", p->locations[1].module = 99);
    BREAKS("l->frame_count <= p->frame_count", p->locations[1].frame_count = 99);
    BREAKS("l->first_frame <= p->frame_count", p->locations[1].first_frame = 99);
    BREAKS("i == 0 || l->frame_count > 0", p->locations[1].frame_count = 0);
    BREAKS("l->same < p->location_count", p->locations[1].same = 99);
    BREAKS("is_string(p, f->function)", p->frames[0].function = 999);
    BREAKS("is_string(p, f->linkage)", p->frames[0].linkage = 999);
    BREAKS("is_string(p, f->file)", p->frames[0].file = 999);
    BREAKS("f->module < p->module_count", p->frames[0].module = 99);
}

/* If this fails, a walk from a site to the root may not end, or may leave the tables. */
static void
a_stack_that_leads_nowhere_is_found(void **unused)
{
    (void)unused;
    BREAKS("p->node_count >= 1", p->node_count = 0);
    BREAKS("p->nodes[0].location == 0", p->nodes[0].flags = NODE_GUESSED);
    BREAKS("n->parent < i", p->nodes[2].parent = 2);
    BREAKS("n->location < p->location_count", p->nodes[1].location = 99);
    BREAKS("(n->flags &", p->nodes[1].flags = 1 << 7);
    BREAKS("s->node != 0", p->sites[0].node = 0);
    BREAKS("s->node != 0", p->sites[0].node = 99);
    BREAKS("s->heap < p->heap_count", p->sites[0].heap = 2);
    BREAKS("s->labels < p->label_set_count", p->sites[0].labels = 2);
    BREAKS("s->size_class <", p->sites[0].size_class = DISK_SIZE_CLASSES);
    BREAKS("s->verdict <= VERDICT_CERTAIN", p->sites[0].verdict = VERDICT_CERTAIN + 1);
    BREAKS("is_string(p, s->type)", p->sites[0].type = 999);
    BREAKS("t->thread < p->thread_count", p->thread_sites[0].thread = 1);
    BREAKS("t->site < p->site_count", p->thread_sites[0].site = 2);
    BREAKS("f->kind >= FREE_FOREIGN", p->unknown_frees[0].kind = 0);
    BREAKS("f->node != 0", p->unknown_frees[0].node = 0);
    BREAKS("f->site_node < p->node_count", p->unknown_frees[0].site_node = 99);
}

/* If this fails, a view may read a missing name. */
static void
a_missing_name_is_found(void **unused)
{
    (void)unused;
    BREAKS("p->heap_count >= 1", p->heap_count = 0);
    BREAKS("p->heaps[i].own == (i > 0)", p->heaps[1].own = false);
    BREAKS("p->heaps[i].name != NULL", p->heaps[1].name = "");
    BREAKS("p->label_set_count >= 1", p->label_set_count = 0);
    BREAKS("p->label_sets[0].count == 0", p->label_sets[0] = p->label_sets[1]);
    BREAKS("set->text != NULL", p->label_sets[1].text = NULL);
    BREAKS("set->v[k].key != NULL", p->label_sets[1].v[0].value = NULL);
    BREAKS("b->heap != 0", p->backings[0].heap = 0);
    BREAKS("b->node != 0", p->backings[0].node = 0);
    BREAKS("p->threads[i].name != NULL", p->threads[0].name = NULL);
    BREAKS("p->path != NULL", p->path = NULL);
    BREAKS("pr->command != NULL", p->process.command = NULL);
    BREAKS("pr->executable != NULL", p->process.executable = NULL);
    BREAKS("pr->kernel != NULL", p->process.kernel = NULL);
    BREAKS("pr->heaptap != NULL", p->process.heaptap = NULL);
    BREAKS("pr->machine != NULL", p->process.machine = NULL);
    BREAKS("p->notes[i] != NULL", p->notes = (const char *[]){NULL});
    BREAKS("p->programs[i].executable != NULL", p->programs = &(struct profile_program){NULL, 1};
           p->program_count = p->merged_processes = 1);
    BREAKS("p->program_count == 0", p->programs = &(struct profile_program){"a", 1};
           p->program_count = 1);
}

/* If this fails, a search by time or size finds nothing, or another element. */
static void
what_is_out_of_order_is_found(void **unused)
{
    (void)unused;
    BREAKS("p->timeline[i - 1].elapsed_ns <", p->timeline[1].elapsed_ns = SECOND);
    BREAKS("p->modes[i].mode <= MODE_OFF", p->modes[1].mode = MODE_OFF + 1);
    BREAKS("i == 0 || p->modes[i - 1]", p->modes[0].elapsed_ns = 2 * SECOND);
    BREAKS("s->kind < SNAPSHOT_KINDS", p->snapshots[0].kind = SNAPSHOT_KINDS);
    BREAKS("s->name != NULL", p->snapshots[1].name = NULL);
    BREAKS("i == 0 || p->snapshots[i - 1]", p->snapshots[1].elapsed_ns = 0);
    BREAKS("p->changes[i].thread_site <", p->changes[1].thread_site = 2);
    BREAKS("p->changes[i].interval <=", p->changes[1].interval = 3);
    BREAKS("p->change_count == 0", p->has_history = false);
    BREAKS("b->size_min <= b->size_max", p->bins[0].size_min = 9);
    BREAKS("i == 0 || p->bins[i - 1]", p->bins[0].size_max = 1025);
    BREAKS("is_string(p, p->types[i].name)", p->types[0].name = 999);
    BREAKS("p->types[i - 1].size <=", p->types[0].size = 101);
    BREAKS("p->type_count == 0 || p->typed", p->typed = false);
}

/* If this fails, a report may show totals that differ from the sum of the rows. */
static void
a_sum_that_does_not_add_up_is_found(void **unused)
{
    (void)unused;
    BREAKS("counters_are_same(&threads[i]", p->threads[0].counters.temporary = 1);
    BREAKS("counters_are_same(&sites[i]", p->sites[0].counters.moved = 1);
    BREAKS("counters_are_same(&sites[i]", p->sites[0].counters.size_max++);
    BREAKS("counters_are_same(&total", p->totals.allocations++);
    BREAKS("counters_are_same(&total", p->totals.peak_bytes--);
    BREAKS("counters_are_same(&heaps[i]", p->heaps[1].counters.frees++);
    BREAKS("counters_are_same(&backings[i]", p->backings[0].counters.grown_bytes++);
    BREAKS("counters_are_same(&sets[i]", p->label_sets[1].counters.peak_blocks++);
    BREAKS("memcmp(&rows[i]", p->changes[1].amounts.allocations++);
    BREAKS("memcmp(&sum", p->snapshots[1].amounts.frees++);
    BREAKS("are_amounts(&e->allocated)", p->errors.allocated.samples = -1);
    BREAKS("are_amounts(&e->freed)",
           profile_change_site_errors(p, 1)->freed.bytes_variance = 1 / 0.0);
    BREAKS("are_amounts(&e->peak)", profile_change_site_errors(p, 1)->peak.blocks = -1);
    BREAKS("is_amount(e->blocks_unit_max)", p->errors.bytes_unit_max = -1);
    BREAKS("is_amount(e->blocks_unit_few)", p->errors.blocks_unit_few = -1);
}

/* If this fails, a profile of a moment may show data that is only known for the whole run. */
static void
a_moment_that_knows_too_much_is_found(void **unused)
{
    (void)unused;
    BREAKS("p->extent <= EXTENT_PEAK", p->extent = EXTENT_PEAK + 1);
    BREAKS("p->totals.partial == !whole", p->totals.partial = true);
    BREAKS("whole || p->bin_count == 0", struct profile_point m = point_at(p, 1);
           profile_cut(p, NULL, &m); p->bin_count = 1);
    BREAKS("whole || p->unknown_free_count == 0", struct profile_point m = point_at(p, 1);
           profile_cut(p, NULL, &m); p->unknown_free_count = 1);
    BREAKS("whole || p->backing_count == 0", struct profile_point m = point_at(p, 1);
           profile_cut(p, NULL, &m); p->backing_count = 1);
    BREAKS("whole || p->errors.allocated", struct profile_point m = point_at(p, 1);
           profile_cut(p, NULL, &m); p->errors.allocated.samples = 1);
    BREAKS("whole || p->to.snapshots <=", struct profile_point m = point_at(p, 1);
           profile_cut(p, NULL, &m); p->to.snapshots = 4);
    BREAKS("p->extent != EXTENT_BETWEEN ||", struct profile_point m = point_at(p, 1);
           profile_cut(p, &m, &(struct profile_point){.snapshots = 2, .name = ""});
           p->from = p->to);
}

/* If this fails, a merge may write a file with the counters of other sites. */
static void
a_profile_that_cannot_be_written_is_found(void **unused)
{
    struct merge *m = merge_new();
    struct profile *part = good_profile(), *p;

    (void)unused;
    merge_add(m, part);
    p = m->p;
    BREAKS_IF(profile_is_writable(p), "p->node_count >= 2", p->node_count, 1);
    BREAKS_IF(profile_is_writable(p), "p->nodes[1].flags & NODE_OTHER", p->nodes[1].flags, 0);
    BREAKS_IF(profile_is_writable(p), "p->module_count <=", p->module_count, DISK_NAMED_FRAME + 1);
    BREAKS_IF(profile_is_writable(p), "p->label_set_count < 2", p->label_sets[1].count, 1);
    BREAKS_IF(profile_is_writable(p), "!(p->nodes[i].flags", p->nodes[2].flags, NODE_OTHER);
    BREAKS_FOR_A_WHILE(profile_is_writable(p), "s->id == s->size_class + 1U", p->sites[0].node = 1,
                       p->sites[0].node = 2);
    BREAKS_IF(profile_is_writable(p), "s->id >= DISK_SITE_FIRST", p->sites[0].id, 1);
    BREAKS_IF(profile_is_writable(p), "s->id < DISK_SITE_FIRST", p->sites[0].id, 99);
    BREAKS_IF(profile_is_writable(p), "!taken[s->id]", p->sites[0].id, p->sites[1].id);
    merge_free(m);
    profile_free(part);
}

/* If this fails, the next input of a merge duplicates an existing entry. */
static void
a_sum_that_lost_its_place_is_found(void **unused)
{
    struct merge *m = merge_new();
    struct profile *part = good_profile();
    struct time_step swapped;

    (void)unused;
    merge_add(m, part);
    BREAKS_IF(merge_is_valid(m), "m->threads.count ==", m->threads.count, 0);
    BREAKS_IF(merge_is_valid(m), "m->thread_sites.count ==", m->thread_sites.count, 0);
    BREAKS_IF(merge_is_valid(m), "m->sites.count ==", m->sites.count, 0);
    BREAKS_IF(merge_is_valid(m), "m->frees.count ==", m->frees.count, 0);
    BREAKS_IF(merge_is_valid(m), "m->programs.count ==", m->programs.count, 0);
    BREAKS_IF(merge_is_valid(m), "m->backings.count ==", m->backings.count, 0);
    BREAKS_IF(merge_is_valid(m), "m->heaps.count + 1 ==", m->heaps.count, 0);
    BREAKS_IF(merge_is_valid(m), "m->label_sets.count + 2 >=", m->label_sets.count, 0);
    BREAKS_IF(merge_is_valid(m), "m->nodes.count + 2 >=", m->nodes.count, 0);
    BREAKS_IF(merge_is_valid(m), "m->modules.count + 1 >=", m->modules.count, 0);
    BREAKS_IF(merge_is_valid(m), "t->count <= MERGE_TIME_POINTS", m->time.count,
              MERGE_TIME_POINTS + 1);
    BREAKS_IF(merge_is_valid(m), "counters_are_same(&total", m->p->totals.frees, 9);
    BREAKS_IF(merge_is_valid(m), "p->merged_processes > 0", m->p->merged_processes, 0);
    swapped = m->time.steps[0];
    BREAKS_IF(merge_is_valid(m), "t->steps[i - 1].index <", m->time.steps[0].index,
              m->time.steps[1].index);
    assert_int_equal(swapped.index, m->time.steps[0].index);
    merge_free(m);
    profile_free(part);
}

/* If this fails, a view may rely on a property that a loaded profile does not have. */
static void
what_only_the_loader_promises_is_found(void **unused)
{
    struct merge *m = merge_new();
    struct profile *part = good_profile(), *p;
    struct strbuf file = {0};
    struct err err = {""};

    (void)unused;
    merge_add(m, part);
    assert_int_equal(write_model(merge_finish(m), &file, &err), 0);
    assert_int_equal(load_bytes(file.text, file.length, "sum", &p, &err), 0);
    BREAKS_IF(loaded_is_valid(p), "load_valid_is_first(known, key)", p->sites[1], p->sites[0]);
    BREAKS_IF(loaded_is_valid(p), "load_valid_is_first(known, (uint64_t)t->thread",
              p->thread_sites[1], p->thread_sites[0]);
    BREAKS_IF(loaded_is_valid(p), "p->extent == EXTENT_WHOLE", p->extent, EXTENT_AT);
    BREAKS_IF(loaded_is_valid(p), "p->mode_count >= 1", p->mode_count, 0);
    BREAKS_IF(loaded_is_valid(p), "counters_live_bytes(&p->totals) <=", p->totals.peak_bytes, 1);
    BREAKS_IF(loaded_is_valid(p), "p->peak_error_bytes >= 0", p->peak_error_bytes, -1);
    BREAKS_IF(loaded_is_valid(p), "p->bin_count ==", p->bin_count, 2);
    BREAKS_IF(loaded_is_valid(p), "p->unknown_frees[i].count > 0", p->unknown_frees[1].count, 0);
    BREAKS_IF(loaded_is_valid(p), "i == 0 || p->unknown_frees", p->unknown_frees[1].count, 99);
    profile_free(p);
    strbuf_release(&file);
    merge_free(m);
    profile_free(part);
}

/* A profile and structures derived from it, to be broken. */
struct made {
    struct profile *p;
    struct arena arena;
    struct stacks stacks;
    struct functions functions;
};

static void
valid_make(struct made *t)
{
    struct stacks_options options = {0};
    struct err err = {""};

    *t = (struct made){.p = good_profile()};
    build_thread_site(t->p, 0, build_site(t->p, build_counters(4, 40, 0, 0), "f@a.c:2", "g@a.c:4",
                                          "f@a.c:2", "main@a.c:3", NULL),
                      build_counters(4, 40, 0, 0));
    t->p->has_history = false;
    t->p->change_count = 0;
    assert_int_equal(stacks_build(t->p, &options, &t->arena, &t->stacks, &err), 0);
    functions_init(&t->functions, t->p, &t->arena);
}

static void
unmake(struct made *t)
{
    functions_release(&t->functions);
    arena_release(&t->arena);
    profile_free(t->p);
}

/* If this fails, a view may follow a dangling stack, or show sums of other sites. */
static void
a_stack_of_other_frames_is_found(void **unused)
{
    struct made t;
    struct stacks *s = &t.stacks;
    uint32_t *sites, *frames, *locations;

    (void)unused;
    valid_make(&t);
    sites = (uint32_t *)(uintptr_t)s->site_stacks;
    frames = (uint32_t *)(uintptr_t)s->v[0].frames;
    locations = (uint32_t *)(uintptr_t)s->v[0].locations;
    BREAKS_IF(stacks_are_valid(t.p, s), "s->locations[i] <", locations[0], 99);
    BREAKS_IF(stacks_are_valid(t.p, s), "s->frames[i] -", frames[0], 99);
    BREAKS_IF(stacks_are_valid(t.p, s), "s->node != 0", s->v[0].node, 0);
    BREAKS_IF(stacks_are_valid(t.p, s), "s->heap <", s->v[0].heap, 2);
    BREAKS_IF(stacks_are_valid(t.p, s), "s->labels <", s->v[0].labels, 2);
    BREAKS_IF(stacks_are_valid(t.p, s), "stack <= s->count", sites[0], 9);
    BREAKS_IF(stacks_are_valid(t.p, s), "stack != 0 || s->filtered", sites[0], 0);
    BREAKS_IF(stacks_are_valid(t.p, s), "counters_are_same(&sums[i]", sites[0], 2);
    BREAKS_IF(stacks_are_valid(t.p, s), "counters_are_same(&total", s->total.frees, 9);
    unmake(&t);
}

/* Group T's stacks by BY and check that CONDITION breaks while FIELD has VALUE. */
#define GROUP_BREAKS(condition, by, field, value)                                                  \
    do {                                                                                           \
        struct groups g;                                                                           \
                                                                                                   \
        group_stacks(t.p, &t.stacks, by, "kind", METRIC_ALLOC, &t.arena, &g);                      \
        BREAKS_IF(groups_are_valid(t.p, &t.stacks, by, METRIC_ALLOC, &g), condition, g.field,      \
                  value);                                                                          \
    } while (0)

/* If this fails, a table by function, thread, size or type may have empty rows, or rows whose
 * amount exceeds the total. */
static void
a_group_that_is_off_is_found(void **unused)
{
    struct made t;

    (void)unused;
    valid_make(&t);
    GROUP_BREAKS("r->frame == GROUP_NO_FRAME", BY_FUNCTION, v[0].frame, 99);
    GROUP_BREAKS("by != BY_SITE || r->stack", BY_SITE, v[0].stack, NULL);
    GROUP_BREAKS("by != BY_THREAD || r->thread", BY_THREAD, v[0].thread, NULL);
    GROUP_BREAKS("by != BY_THREAD || r->share", BY_THREAD, v[0].share, NULL);
    GROUP_BREAKS("by != BY_SIZE || r->bin", BY_SIZE, v[0].bin, NULL);
    GROUP_BREAKS("by != BY_TYPE || r->site", BY_TYPE, v[0].site, NULL);
    GROUP_BREAKS("by != BY_HEAP || r->heap", BY_HEAP, v[0].heap, NULL);
    GROUP_BREAKS("r->inclusive.size_min <=", BY_LINE, v[0].inclusive.size_min, 999);
    GROUP_BREAKS("r->inclusive.size_max >=", BY_FILE, v[0].inclusive.size_max, 1);
    GROUP_BREAKS("i == 0 || metric_value", BY_FUNCTION, v[0].self.allocated_bytes, 0);
    GROUP_BREAKS("by != BY_SITE || g->count", BY_SITE, count, 2);
    GROUP_BREAKS("by == BY_THREAD || by == BY_SIZE ||", BY_MODULE, v[0].self.frees, 9);
    unmake(&t);
}

/* If this fails, a tree may be endless, hide a branch, or show amounts that its branches do not
 * have. */
static void
a_tree_that_is_off_is_found(void **unused)
{
    struct made t;
    struct tree tree;
    struct tree_node *n;
    uint32_t child;

    (void)unused;
    valid_make(&t);
    tree_build(t.p, &t.stacks, TREE_BOTTOM_UP, METRIC_ALLOC, &t.arena, &tree);
    n = tree.nodes;
    child = n[0].first_child;
    assert_true(n[child].next_sibling != 0);
#define TREE_BREAKS(condition, number, value)                                                      \
    BREAKS_IF(tree_is_valid(&t.stacks, METRIC_ALLOC, &tree), condition, number, value)
    TREE_BREAKS("c > i && c < t->count", n[0].first_child, 999);
    TREE_BREAKS("!seen[c]", n[child].next_sibling, child);
    TREE_BREAKS("t->nodes[c].depth ==", n[child].depth, 5);
    TREE_BREAKS("last == 0 || counters_by_magnitude", n[child].inclusive.allocated_bytes, 0);
    TREE_BREAKS("counters_are_same(&sum, &n->inclusive)", n[0].self.frees, 9);
    BREAKS_FOR_A_WHILE(tree_is_valid(&t.stacks, METRIC_ALLOC, &tree), "missing == 0",
                       tree.count++; n[tree.count - 1].inclusive = COUNTERS_ZERO;
                       n[tree.count - 1].self = COUNTERS_ZERO, tree.count--);
    TREE_BREAKS("counters_are_same(&t->nodes[0]", t.stacks.total.frees, 9);
    unmake(&t);
}

/* If this fails, the call graph may name the wrong callers, or show more than the total. */
static void
a_call_graph_that_is_off_is_found(void **unused)
{
    struct made t;
    struct callgraph g;
    struct callgraph_arc *in;
    uint32_t cycle, callee, entry;

    (void)unused;
    valid_make(&t);
    callgraph_build(&t.functions, &t.stacks, METRIC_ALLOC, &t.arena, &g);
    cycle = (uint32_t)g.function_count; // The cycle contains f and g, which call each other.
    assert_int_equal(g.node_count, g.function_count + 1);
    for (entry = 0; g.entries[entry] == cycle; entry++)
        ;
    for (callee = 0; g.nodes[callee].caller_count == 0 || g.nodes[callee].cycle == cycle; callee++)
        ;
    in = &g.arcs[g.callers[g.nodes[callee].first_caller]];
#define GRAPH_BREAKS(condition, number, value)                                                     \
    BREAKS_IF(callgraph_is_valid(&g), condition, number, value)
    GRAPH_BREAKS("a->caller < g->function_count", in->caller, 99);
    GRAPH_BREAKS("a->callee < g->node_count", in->callee, 99);
    GRAPH_BREAKS("a->caller != a->callee", in->caller, in->callee);
    GRAPH_BREAKS("a->enters == CALLGRAPH_NONE || a->enters <", in->enters, 99);
    GRAPH_BREAKS("a->enters == CALLGRAPH_NONE || g->arcs", in->enters, (uint32_t)(in - g.arcs));
    GRAPH_BREAKS("a->callee == i", in->callee, callee == 0 ? 1 : 0);
    GRAPH_BREAKS("in == n->calls_in", g.nodes[callee].calls_in, 99);
    GRAPH_BREAKS("out == n->calls_out", g.nodes[callee].calls_out, 99);
    GRAPH_BREAKS("n->cycle == CALLGRAPH_NONE || !is_cycle", g.nodes[cycle].cycle, cycle);
    GRAPH_BREAKS("n->cycle == CALLGRAPH_NONE || (n->cycle", g.nodes[callee].cycle, 0);
    GRAPH_BREAKS("n->index == CALLGRAPH_NONE ||", g.nodes[callee].index, 99);
    GRAPH_BREAKS("g->function_count <= g->node_count", g.node_count, 0);
    GRAPH_BREAKS("amounts_are_same(&selves", g.total.calls, 99);
    GRAPH_BREAKS("g->entries[i] < g->node_count", g.entries[0], 99);
    GRAPH_BREAKS("i == 0 || counters_by_magnitude", g.nodes[g.entries[0]].inclusive,
                 g.nodes[callee].called);
    unmake(&t);
}

/* If this fails, the largest callers or callees may be missing where only some are shown. */
static void
arcs_out_of_order_are_found(void **unused)
{
    struct made t;
    struct callgraph g;
    uint32_t several = 0, *list;

    (void)unused;
    valid_make(&t);
    build_thread_site(t.p, 0, build_site(t.p, build_counters(1, 7, 0, 0), "leaf", "g@a.c:4",
                                         "main@a.c:3", NULL),
                      build_counters(1, 7, 0, 0));
    build_thread_site(t.p, 0, build_site(t.p, build_counters(1, 9, 0, 0), "leaf", "main@a.c:3",
                                         NULL),
                      build_counters(1, 9, 0, 0));
    assert_int_equal(stacks_build(t.p, &(struct stacks_options){0}, &t.arena, &t.stacks, NULL), 0);
    functions_release(&t.functions);
    functions_init(&t.functions, t.p, &t.arena);
    callgraph_build(&t.functions, &t.stacks, METRIC_ALLOC, &t.arena, &g);
    while (g.nodes[several].caller_count < 2)
        several++;
    list = g.callers + g.nodes[several].first_caller;
    BREAKS_FOR_A_WHILE(callgraph_is_valid(&g), "counters_by_magnitude(last",
                       uint32_t first = list[0]; list[0] = list[1]; list[1] = first,
                       list[1] = list[0]; list[0] = first);
    for (several = 0; g.nodes[several].callee_count < 2; several++)
        ;
    list = g.callees + g.nodes[several].first_callee;
    BREAKS_FOR_A_WHILE(callgraph_is_valid(&g), "counters_by_magnitude(last",
                       uint32_t first = list[0]; list[0] = list[1]; list[1] = first,
                       list[1] = list[0]; list[0] = first);
    BREAKS_IF(callgraph_is_valid(&g), "a->caller == i", list[0], list[0] == 0 ? 1 : 0);
    unmake(&t);
}

/* If this fails, the table of leaks or of sizes may omit rows. */
static void
paths_and_bins_that_are_off_are_found(void **unused)
{
    struct made t;
    struct paths paths;
    struct size_totals bins;
    const struct stack **sorted;

    (void)unused;
    valid_make(&t);
    sorted = group_sorted_stacks(&t.stacks, METRIC_INUSE, &t.arena);
    paths_build(&t.functions, sorted, t.stacks.count, &(struct paths_options){0}, &t.arena, &paths);
    size_totals_build(t.p, &t.arena, &bins);
#define PATH_BREAKS(condition, number, value)                                                      \
    BREAKS_IF(paths_are_valid(&paths, sorted, t.stacks.count), condition, number, value)
    PATH_BREAKS("path->stack != NULL && path->depth >= 1", paths.v[0].depth, 0);
    PATH_BREAKS("i == 0 || counters_live_bytes", paths.v[0].counters.allocated_bytes, 0);
    PATH_BREAKS("counters_are_same(&sum, &all)", paths.v[0].counters.moved, 9);
    BREAKS_IF(size_totals_are_valid(t.p, &bins), "b->count >= 1", bins.count, 0);
    BREAKS_IF(size_totals_are_valid(t.p, &bins), "b->v[b->count - 1].size ==", bins.count, 1);
    BREAKS_IF(size_totals_are_valid(t.p, &bins), "i == 0 || row[-1].size", bins.v[0].size,
              BIN_LARGER);
    BREAKS_IF(size_totals_are_valid(t.p, &bins), "row->type_count == 0 ||", bins.v[0].type_count,
              9);
    BREAKS_IF(size_totals_are_valid(t.p, &bins), "counters_are_same(&sum, &b->total)",
              bins.total.frees, 9);
    unmake(&t);
}

/* If this fails, a comparison may omit the largest growth. */
static void
a_diff_that_is_off_is_found(void **unused)
{
    struct made before, after;
    struct diff d;

    (void)unused;
    valid_make(&before);
    valid_make(&after);
    after.stacks.v[0].counters.allocated_bytes += 5;
    after.stacks.total.allocated_bytes += 5;
    diff_build(&(struct diff_side){before.p, &before.stacks},
               &(struct diff_side){after.p, &after.stacks}, DIFF_BY_SITE, METRIC_ALLOC,
               &before.arena, &d);
    BREAKS_IF(diff_is_valid(&d, METRIC_ALLOC), "r->depth >= 1", d.rows[0].depth, 0);
    BREAKS_IF(diff_is_valid(&d, METRIC_ALLOC), "change <= last", d.rows[1].after.allocated_bytes,
              9999);
    BREAKS_IF(diff_is_valid(&d, METRIC_ALLOC), "counters_are_same(&before", d.before.frees, 9);
    BREAKS_IF(diff_is_valid(&d, METRIC_ALLOC), "counters_are_same(&after", d.after.frees, 9);
    unmake(&before);
    unmake(&after);
}

/* If this fails, a picture over time may show other amounts than the report. */
static void
a_timeline_that_is_off_is_found(void **unused)
{
    struct profile *p = good_profile();
    struct arena arena = {0};
    struct stacks s;
    struct timeline t;

    (void)unused;
    assert_int_equal(stacks_build(p, &(struct stacks_options){0}, &arena, &s, NULL), 0);
    timeline_build(p, &s, &(struct timeline_options){.limit = 1}, &arena, &t);
#define TIMELINE_BREAKS(condition, number, value)                                                  \
    BREAKS_IF(timeline_is_valid(p, &s, &t), condition, number, value)
    TIMELINE_BREAKS("t->point_count >= 2", t.point_count, 1);
    TIMELINE_BREAKS("t->points[t->point_count - 1].snapshots <=", p->snapshot_count, 0);
    TIMELINE_BREAKS("t->points[i - 1].snapshots <", t.points[1].snapshots, 0);
    TIMELINE_BREAKS("t->points[i - 1].elapsed_ns <=", t.points[0].elapsed_ns, 3 * SECOND);
    TIMELINE_BREAKS("t->row_count <= t->stack_count", t.stack_count, 0);
    TIMELINE_BREAKS("t->growing <= t->stack_count", t.growing, 9);
    TIMELINE_BREAKS("t->rows[i].stack != NULL", t.rows[0].stack, NULL);
    TIMELINE_BREAKS("t->rows[i].trend <= TREND_VARIES", t.rows[0].trend, TREND_VARIES + 1);
    TIMELINE_BREAKS("t->by != TIMELINE_LIVE", s.total.freed_bytes, 0);
    TIMELINE_BREAKS("t->rows[i].values[k] <=", t.rows[0].max, 1);
    TIMELINE_BREAKS("sum == t->total.values[k]", t.rest.values[1], 99);
    arena_release(&arena);
    profile_free(p);
}

/* If this fails, an estimate may lie outside its interval. */
static void
a_number_outside_its_interval_is_found(void **unused)
{
    (void)unused;
    assert_true(interval_is_valid((struct interval){1, 3}, 2));
    assert_false(interval_is_valid((struct interval){1, 3}, 4));
    assert_broken("i.low <= value && value <= i.high");
    assert_false(interval_is_valid((struct interval){1, 1 / 0.0}, 2));
    assert_broken("isfinite(i.low)");
}

/* If this fails, a search in a table of names may not end, or find another name. */
static void
a_table_of_names_that_is_off_is_found(void **unused)
{
    struct symbol_frame frames[2] = {{.function = "f"}, {.function = "g"}};
    struct type_index index = {0};
    struct symcache c = {0};
    struct ranges r = {0};
    struct arena arena = {0};

    (void)unused;
    symcache_add(&c, 0x10, frames, 1, 0);
    symcache_add(&c, 0x20, frames, 2, 0);
    BREAKS_IF(symcache_is_valid(&c), "c->detail <= DETAIL_DEBUG", c.detail, DETAIL_DEBUG + 1);
    BREAKS_IF(symcache_is_valid(&c), "c->by_address.count ==", c.entry_count, 1);
    BREAKS_IF(symcache_is_valid(&c), "e->frame_count >= 1", c.entries[0].frame_count, 0);
    BREAKS_IF(symcache_is_valid(&c), "e->frame_count <= c->frame_count", c.entries[0].frame_count,
              4);
    BREAKS_IF(symcache_is_valid(&c), "e->first_frame <=", c.entries[0].first_frame, 3);
    BREAKS_IF(symcache_is_valid(&c), "known != NULL", c.entries[0].address, 0x20);
    ranges_add(&r, &arena, 1, 5, 0);
    ranges_add(&r, &arena, 3, 4, 0);
    ranges_sort(&r, &arena);
    BREAKS_IF(ranges_are_valid(&r), "r->v[i].low < r->v[i].high", r.v[0].low, 5);
    BREAKS_IF(ranges_are_valid(&r), "i == 0 || r->v[i - 1].low", r.v[1].low, 0);
    BREAKS_IF(ranges_are_valid(&r), "r->max_high[i] == max", r.max_high[1], 4);
    type_index_add(&index, "a", 8);
    type_index_add(&index, "b", 8);
    BREAKS_IF(type_index_is_valid(&index), "e->name < index->names.count", index.v[0].name, 9);
    BREAKS_IF(type_index_is_valid(&index), "e->size >= 1", index.v[0].size, 0);
    BREAKS_IF(type_index_is_valid(&index), "e[-1].size <= e->size", index.v[0].size, 9);
    BREAKS_IF(type_index_is_valid(&index), "e[-1].size < e->size ||", index.v[1].name, 0);
    type_index_release(&index);
    symcache_release(&c);
    arena_release(&arena);
}

/* Replace the only key of M, which is KEY, by others until one is in a wrong place; restore it. */
static void
misplace_key(struct map *m, uint64_t key)
{
    uint64_t *word = (uint64_t *)(void *)m->slots;

    while (*word != key)
        word++;
    for (uint64_t other = 2; other < 1000 && map_is_valid(m); other++)
        *word = other;
    assert_false(map_is_valid(m));
    assert_broken("m->slots[i].key == 0 || map_find_slot");
    *word = key;
}

/* If this fails, memory may be written past its end unnoticed. */
static void
containers_that_are_off_are_found(void **unused)
{
    struct map m = {0};
    struct strtab t = {0};
    struct strbuf b = {0};
    struct arena a = {0};

    (void)unused;
    map_put(&m, UINT64_MAX - 5, NULL);
    BREAKS_IF(map_is_valid(&m), "(m->capacity & (m->capacity - 1)) == 0", m.capacity, 63);
    BREAKS_IF(map_is_valid(&m), "(m->count - m->has_zero) * 4 <=", m.count, 60);
    BREAKS_IF(map_is_valid(&m), "used == m->count", m.count, 2);
    misplace_key(&m, UINT64_MAX - 5);
    map_release(&m);
    strtab_id(&t, "a");
    BREAKS_IF(strtab_is_valid(&t), "t->count <= t->capacity", t.capacity, 1);
    BREAKS_IF(strtab_is_valid(&t), "*t->strings[0] ==", t.strings[0], "b");
    BREAKS_IF(strtab_is_valid(&t), "*t->strings[i] !=", t.strings[1], "");
    BREAKS_IF(strtab_is_valid(&t), "t->next[i] < i", t.next[1], 1);
    BREAKS_IF(strtab_is_valid(&t), "t->ids.count < t->count", t.ids.count, 2);
    strtab_release(&t);
    strbuf_str(&b, "abc");
    BREAKS_IF(strbuf_is_valid(&b), "b->text != NULL ||", b.text, NULL);
    BREAKS_IF(strbuf_is_valid(&b), "b->text == NULL || b->length <", b.length, 64);
    BREAKS_IF(strbuf_is_valid(&b), "b->text == NULL || b->text[b->length] ==", b.length, 2);
    strbuf_release(&b);
    arena_alloc(&a, 1);
    BREAKS_IF(arena_is_valid(&a), "c != NULL || a->left_bytes == 0", a.chunks, NULL);
    BREAKS_IF(arena_is_valid(&a), "a->left_bytes % ALIGN_BYTES == 0", a.left_bytes, 8);
    BREAKS_IF(arena_is_valid(&a), "c == NULL || a->left_bytes <=", a.left_bytes, 1 << 20);
    BREAKS_IF(arena_is_valid(&a), "c == NULL || a->next + a->left_bytes ==", a.next, a.next + 16);
    arena_release(&a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_assert_ends_with_exit_code_four),
        cmocka_unit_test(what_is_good_is_valid),
        cmocka_unit_test(a_place_that_leads_nowhere_is_found),
        cmocka_unit_test(a_stack_that_leads_nowhere_is_found),
        cmocka_unit_test(a_missing_name_is_found),
        cmocka_unit_test(what_is_out_of_order_is_found),
        cmocka_unit_test(a_sum_that_does_not_add_up_is_found),
        cmocka_unit_test(a_moment_that_knows_too_much_is_found),
        cmocka_unit_test(a_profile_that_cannot_be_written_is_found),
        cmocka_unit_test(a_sum_that_lost_its_place_is_found),
        cmocka_unit_test(what_only_the_loader_promises_is_found),
        cmocka_unit_test(a_stack_of_other_frames_is_found),
        cmocka_unit_test(a_group_that_is_off_is_found),
        cmocka_unit_test(a_tree_that_is_off_is_found),
        cmocka_unit_test(a_call_graph_that_is_off_is_found),
        cmocka_unit_test(arcs_out_of_order_are_found),
        cmocka_unit_test(paths_and_bins_that_are_off_are_found),
        cmocka_unit_test(a_diff_that_is_off_is_found),
        cmocka_unit_test(a_timeline_that_is_off_is_found),
        cmocka_unit_test(a_number_outside_its_interval_is_found),
        cmocka_unit_test(a_table_of_names_that_is_off_is_found),
        cmocka_unit_test(containers_that_are_off_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
