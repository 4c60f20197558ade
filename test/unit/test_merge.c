/* test_merge.c: sums of profiles made by construction: which modules, places, types and times are
 * merged, which stay separate, and the behaviour at the limits. If it fails, stacks of one program
 * are split, stacks of two are mixed up, or a merged file does not describe the sum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build_profile.h"
#include "load/load.h"
#include "merge/merge.h"
#include "profile/pack.h"

#define SECOND UINT64_C(1000000000)

enum { MODULES_MANY = 40000 };

struct sum {
    struct merge *m;
    struct profile *parts[8]; // Released by merge_end().
    size_t count;
    struct profile *reread;
};

static int
merge_begin(void **state)
{
    struct sum *t = xmalloc(sizeof *t);

    *t = (struct sum){.m = merge_new()};
    *state = t;
    return 0;
}

static int
merge_end(void **state)
{
    struct sum *t = *state;

    merge_free(t->m);
    for (size_t i = 0; i < t->count; i++)
        profile_free(t->parts[i]);
    profile_free(t->reread);
    free(t);
    return 0;
}

/* Add another profile, still empty, and return it. */
static struct profile *
part(struct sum *t)
{
    return t->parts[t->count++] = build_profile_new();
}

/* Charge all counts of the sites to the only thread. */
static void
by_one_thread(struct profile *p)
{
    uint32_t thread = build_thread(p, "main");

    for (uint32_t i = 0; i < p->site_count; i++)
        build_thread_site(p, thread, i, p->sites[i].counters);
}

static const struct profile *
sum_up(struct sum *t)
{
    for (size_t i = 0; i < t->count; i++) {
        by_one_thread(t->parts[i]);
        merge_add(t->m, t->parts[i]);
    }
    return merge_finish(t->m);
}

/* Write P, load it again and return the result. */
static struct profile *
merge_reread(struct sum *t, const struct profile *p)
{
    struct strbuf file = {0};
    struct err err = {""};

    if (write_model(p, &file, &err) != 0 ||
        load_bytes(file.text, file.length, "sum", &t->reread, &err) != 0)
        fail_msg("%s", err.text);
    strbuf_release(&file);
    assert_int_equal(t->reread->note_count, 0);
    return t->reread;
}

static void
move_module(struct profile *p, uint32_t module, uint64_t by)
{
    struct profile_module *m = &p->modules[module];

    m->start += by;
    m->end += by;
    m->bias += by;
    for (size_t i = 1; i < p->location_count; i++)
        if (p->locations[i].module == module)
            p->locations[i].address += by;
}

static void
set_build_id(struct profile *p, uint32_t module, uint8_t first)
{
    p->modules[module].build_id[0] = first;
    p->modules[module].build_id_bytes = 20;
}

static const struct counters ten = {.allocations = 1,
                                    .allocated_bytes = 10,
                                    .peak_blocks = 1,
                                    .peak_bytes = 10,
                                    .size_min = 10,
                                    .size_max = 10};

/* If this fails, the stacks of one program have as many rows as load addresses, and the sum is
 * useless. */
static void
the_same_code_elsewhere_is_one_place(void **state)
{
    struct sum *t = *state;
    struct profile *a = part(t), *b = part(t);
    const struct profile *p;

    for (struct profile **q = t->parts; q < t->parts + 2; q++) {
        build_site(*q, ten, "f@a.c:1", "main@a.c:2", NULL);
        set_build_id(*q, 1, 7);
    }
    move_module(b, 1, 0x123456000);
    a->modules[1].path = "/z/prog";
    p = sum_up(t);
    assert_int_equal(p->module_count, 2);
    assert_int_equal(p->site_count, 1);
    assert_int_equal(p->sites[0].counters.allocations, 2);
    assert_string_equal(p->modules[1].path, "/usr/bin/prog");
    assert_int_equal(p->modules[1].start, a->modules[1].start);
    assert_int_equal(p->locations[1].address - p->modules[1].bias,
                     b->locations[1].address - b->modules[1].bias);
}

/* If this fails, code of an old and a new build is added up as the same, or modules of the sum
 * overlap and addresses belong to two of them. */
static void
another_build_of_a_path_is_another_module(void **state)
{
    struct sum *t = *state;
    const struct profile *p;

    for (uint8_t i = 0; i < 3; i++) {
        build_site(part(t), ten, "f@a.c:1", "main@a.c:2", NULL);
        set_build_id(t->parts[i], 1, i);
    }
    t->parts[2]->modules[1].build_id_bytes = 0;
    p = sum_up(t);
    assert_int_equal(p->module_count, 4);
    assert_int_equal(p->site_count, 3);
    for (size_t i = 1; i < p->module_count; i++)
        for (size_t k = 1; k < i; k++)
            assert_true(p->modules[i].start >= p->modules[k].end ||
                        p->modules[k].start >= p->modules[i].end);
}

/* Remove the module of P's only location and call its function NAME, "" for none. */
static void
make_code(struct profile *p, const char *name, uint64_t address)
{
    p->locations[1].module = 0;
    p->locations[1].address = address;
    p->frames[0] = (struct profile_frame){.function = strtab_id(&p->strings, name)};
}

/* If this fails, methods that a JIT compiler put at different addresses in each process are never
 * added up, or nameless code from different places is added up. */
static void
code_without_a_module_is_its_name_or_its_address(void **state)
{
    static const struct {
        const char *name;
        uint64_t address;
    } code[] = {{"method", 0x1000}, {"method", 0x2000}, {"other", 0x1000},
                {"", 0x5000},       {"", 0x5000},       {"", 0x6000}};
    struct sum *t = *state;
    const struct profile *p;

    for (size_t i = 0; i < countof(code); i++) {
        build_site(part(t), ten, "f@a.c:1", NULL);
        make_code(t->parts[i], code[i].name, code[i].address);
    }
    p = merge_reread(t, sum_up(t));
    assert_int_equal(p->site_count, 4);
    assert_int_equal(p->totals.allocations, 6);
    for (size_t i = 1; i < p->location_count; i++)
        assert_true(p->locations[i].address >> 47 == 1);
}

/* If this fails, a merged profile miscounts the processes of a program, or treats its executable as
 * a library, so that main is not found. */
static void
each_program_is_known_as_one(void **state)
{
    struct sum *t = *state;
    const struct profile *p;
    size_t programs = 0;

    build_site(part(t), ten, "f@a.c:1", "g!/lib/libg.so", NULL);
    build_site(part(t), ten, "f@b.c:1!/usr/bin/other", "g!/lib/libg.so", NULL);
    build_site(part(t), ten, "f@a.c:1", NULL);
    t->parts[1]->process.executable = "/usr/bin/other";
    p = merge_reread(t, sum_up(t));
    assert_int_equal(p->merged_processes, 3);
    assert_int_equal(p->program_count, 2);
    assert_string_equal(p->programs[0].executable, "/usr/bin/prog");
    assert_int_equal(p->programs[0].processes, 2);
    for (uint32_t i = 1; i < p->module_count; i++) {
        assert_int_equal(profile_is_program(p, i), strstr(p->modules[i].path, "/bin/") != NULL);
        programs += profile_is_program(p, i);
    }
    assert_int_equal(programs, 2);
}

/* If this fails, a profile from a machine without symbols splits sites, or removes names that
 * profiles of other machines had. */
static void
what_one_host_knows_the_sum_knows(void **state)
{
    static const char *const frames[] = {"!/usr/bin/prog", "f", "f@a.c:1", "f", "!/usr/bin/prog"};
    struct sum *t = *state;
    const struct profile *p;
    const struct profile_frame *f;

    for (size_t i = 0; i < countof(frames); i++)
        build_site(part(t), ten, frames[i], NULL);
    p = sum_up(t);
    f = &p->frames[p->locations[1].first_frame];
    assert_int_equal(p->site_count, 1);
    assert_string_equal(profile_string(p, f->function), "f");
    assert_string_equal(profile_string(p, f->file), "a.c");
}

/* If this fails, a doubtful stack is added to a certain one, or the sum no longer marks guessed
 * frames. */
static void
what_a_guess_led_to_stays_apart(void **state)
{
    struct sum *t = *state;
    const struct profile *p;

    for (size_t i = 0; i < 2; i++)
        build_site(part(t), ten, "f@a.c:1", "main@a.c:2", NULL);
    t->parts[1]->nodes[1].flags = NODE_GUESSED;
    p = merge_reread(t, sum_up(t));
    assert_int_equal(p->site_count, 2);
    assert_int_equal(p->losses.guessed_frames, 1);
}

/* If this fails, truncated and broken stacks look whole in a merged profile, and its losses are not
 * reported. */
static void
the_ends_of_stacks_stay_apart(void **state)
{
    static const uint32_t ends[] = {0, NODE_TRUNCATED, NODE_BROKEN,
                                    NODE_TRUNCATED | NODE_SHORTENED};
    struct sum *t = *state;
    const struct profile *p;

    for (size_t i = 0; i < countof(ends); i++) {
        build_site(part(t), ten, "f@a.c:1", NULL);
        t->parts[i]->nodes[1].flags = ends[i];
    }
    build_site(part(t), ten, NULL);
    p = merge_reread(t, sum_up(t));
    assert_int_equal(p->site_count, 5);
    assert_int_equal(p->losses.truncated_stacks, 1);
    assert_int_equal(p->losses.shortened_stacks, 1);
    assert_int_equal(p->losses.unwind_failures, 1);
    assert_int_equal(p->losses.other_site_events, 1);
}

/* If this fails, a merged profile has a type that one part contradicts, or lacks a type that was
 * certain. */
static void
of_types_the_surer_stands(void **state)
{
    static const struct {
        const char *type;
        uint32_t verdict;
        const char *then; // The type in the sum after this part is added.
    } said[] = {
        {"guess", VERDICT_SAME_SIZE, "guess"},
        {"other", VERDICT_SAME_SIZE, ""},
        {"", VERDICT_UNKNOWN, ""},
        {"likely", VERDICT_LIKELY, "likely"},
        {"guess", VERDICT_SAME_SIZE, "likely"},
        {"sure", VERDICT_CERTAIN, "sure"},
        {"sure", VERDICT_CERTAIN, "sure"},
        {"surest", VERDICT_CERTAIN, ""},
    };
    struct sum *t = *state;

    for (size_t i = 0; i < countof(said); i++) {
        struct profile *p = part(t);

        build_site(p, ten, "f@a.c:1", NULL);
        p->sites[0].type = strtab_id(&p->strings, said[i].type);
        p->sites[0].verdict = said[i].verdict;
        p->typed = true;
    }
    for (size_t i = 0; i < countof(said); i++) {
        struct merge *m = merge_new();
        const struct profile *p;

        for (size_t k = 0; k <= i; k++)
            merge_add(m, t->parts[k]);
        p = merge_finish(m);
        assert_string_equal(profile_string(p, p->sites[0].type), said[i].then);
        merge_free(m);
    }
}

static void
set_times(struct profile *p, uint64_t start_s, uint64_t elapsed_s, int64_t live_bytes)
{
    p->process.start_unix_ns = start_s * SECOND;
    p->process.elapsed_ns = elapsed_s * SECOND;
    p->timeline = arena_array(&p->arena, 1, sizeof *p->timeline);
    p->timeline[0] = (struct profile_time_point){1, live_bytes, 1};
    p->time_point_count = 1;
}

/* Return the live bytes of the sum P at ELAPSED_S. */
static int64_t
live_at(const struct profile *p, double elapsed_s)
{
    int64_t live = 0;

    for (size_t i = 0; i < p->time_point_count; i++)
        if ((double)p->timeline[i].elapsed_ns <= elapsed_s * 1e9)
            live = p->timeline[i].live_bytes;
    return live;
}

/* If this fails, the sum's curve of live bytes includes processes before their start or after their
 * end. */
static void
the_timeline_adds_up_who_was_there(void **state)
{
    struct sum *t = *state;
    const struct profile *p;

    for (size_t i = 0; i < 3; i++)
        build_site(part(t), ten, "f@a.c:1", NULL);
    set_times(t->parts[0], 1000, 10, 100);
    set_times(t->parts[1], 1005, 10, 200);
    set_times(t->parts[2], 1020, 10, 400); // This part begins after the others have ended.
    p = sum_up(t);
    assert_int_equal(p->process.start_unix_ns, 1000 * SECOND);
    assert_int_equal(p->process.elapsed_ns, 30 * SECOND);
    assert_int_equal(live_at(p, 1), 100);
    assert_int_equal(live_at(p, 6), 300);
    assert_int_equal(live_at(p, 11), 200);
    assert_int_equal(live_at(p, 16), 0);
    assert_int_equal(live_at(p, 21), 400);
    assert_int_equal(live_at(p, 31), 10); // The totals give the remaining live bytes exactly.
}

/* Set the history of P's only row: COUNT blocks of 10 bytes are added before the snapshot at 2
 * seconds, and as many before the one at 4 seconds. */
static void
set_history(struct profile *p, int64_t count)
{
    struct profile_amounts once = {count, 10 * count, 0, 0}, twice = {2 * count, 20 * count, 0, 0};

    p->snapshots = arena_array(&p->arena, 2, sizeof *p->snapshots);
    p->snapshots[0] = (struct profile_snapshot){2 * SECOND, "", SNAPSHOT_TIMED, 0, once};
    p->snapshots[1] = (struct profile_snapshot){4 * SECOND, "", SNAPSHOT_TIMED, 0, twice};
    p->snapshot_count = 2;
    p->changes = arena_array(&p->arena, 2, sizeof *p->changes);
    p->changes[0] = (struct profile_change){0, 0, once};
    p->changes[1] = (struct profile_change){0, 1, once};
    p->change_count = 2;
    p->has_history = true;
}

/* Return the live bytes in the last snapshot of the sum P that is not after ELAPSED_S. */
static int64_t
known_at(const struct profile *p, double elapsed_s)
{
    int64_t live = 0;

    for (size_t i = 0; i < p->snapshot_count; i++)
        if ((double)p->snapshots[i].elapsed_ns <= elapsed_s * 1e9)
            live = profile_amounts_live(&p->snapshots[i].amounts);
    return live;
}

/* If this fails, the timeline of a session has stacks at the wrong time. Or it sums the blocks of a
 * hundred compilers that ran one after the other and left their blocks to the system, which looks
 * like a leak. */
static void
histories_come_onto_one_clock_and_end_with_their_process(void **state)
{
    struct sum *t = *state;
    const struct profile *p;

    for (size_t i = 0; i < 3; i++)
        build_site(part(t), build_counters(2, 20, 0, 0), "f@a.c:1", NULL);
    set_times(t->parts[0], 1000, 10, 20); // 10 bytes from 2 s on, 20 from 4 s to 10 s.
    set_times(t->parts[1], 1005, 10, 20); // 10 bytes from 7 s on, 20 from 9 s to 15 s.
    set_times(t->parts[2], 1020, 10, 20); // This part has no history: 20 bytes at its end.
    set_history(t->parts[0], 1);
    set_history(t->parts[1], 1);
    merge_keep_history(t->m, 1000 * SECOND, 1030 * SECOND);
    p = sum_up(t);
    assert_true(p->has_history);
    assert_int_equal(known_at(p, 1.8), 0);
    assert_int_equal(known_at(p, 3), 10);
    assert_int_equal(known_at(p, 6), 20);
    assert_int_equal(known_at(p, 8), 30);
    assert_int_equal(known_at(p, 9.8), 40);
    assert_int_equal(known_at(p, 11), 20);
    assert_int_equal(known_at(p, 29), 0);
    assert_int_equal(counters_live_bytes(&p->totals), 20);
    assert_int_equal(p->totals.allocations, 6);
}

/* If this fails, a merge of many profiles grows without bound, or depends on the order of its
 * inputs. */
static void
the_timeline_is_bounded_whatever_the_order(void **state)
{
    enum { POINTS = 1000, PROCESSES = 5 };
    struct sum *t = *state;
    struct merge *forth = merge_new(), *back = merge_new();
    const struct profile *p, *q;

    for (uint64_t i = 0; i < PROCESSES; i++) {
        struct profile *one = part(t);

        build_site(one, ten, "f@a.c:1", NULL);
        set_times(one, 1000 + 977 * i, 5000, 0);
        one->timeline = arena_array(&one->arena, POINTS, sizeof *one->timeline);
        one->time_point_count = POINTS;
        for (uint64_t k = 0; k < POINTS; k++)
            one->timeline[k] = (struct profile_time_point){k * 4999 * (SECOND / POINTS) + 1,
                                                           (int64_t)(k * k % 991), k};
    }
    for (size_t i = 0; i < PROCESSES; i++) {
        merge_add(forth, t->parts[i]);
        merge_add(back, t->parts[PROCESSES - 1 - i]);
    }
    p = merge_finish(forth);
    q = merge_finish(back);
    assert_in_range(p->time_point_count, 512, 1024);
    assert_int_equal(p->time_point_count, q->time_point_count);
    assert_memory_equal(p->timeline, q->timeline, p->time_point_count * sizeof *p->timeline);
    merge_free(forth);
    merge_free(back);
}

/* If this fails, a sum of sampled profiles is shown as exact, or with a smaller error than it has.
 */
static void
ways_of_recording_and_errors_add_up(void **state)
{
    static const struct profile_recording_mode phases[] = {
        {MODE_BYTES, 4096, 0, 0},
        {MODE_EXACT, 0, 0, 0},
        {MODE_BYTES, 65536, 7, 0},
        {MODE_BYTES, 4096, 9, 0}};
    struct sum *t = *state;
    const struct profile *p;

    for (size_t i = 0; i < 2; i++) {
        struct profile *one = part(t);
        struct errors *errors;

        build_site(one, ten, "f@a.c:1", NULL);
        errors = profile_change_site_errors(one, 0);
        one->modes = arena_array(&one->arena, 2, sizeof *one->modes);
        memcpy(one->modes, phases + 2 * i, 2 * sizeof *one->modes);
        one->mode_count = 2;
        one->longest_bytes = i ? 65536 : 4096;
        errors->allocated = (struct error_sum){3, 1, 10, 0.5, 2.5};
        one->errors = *errors;
    }
    p = merge_reread(t, sum_up(t));
    assert_int_equal(p->mode_count, 3);
    assert_int_equal(p->longest_bytes, 65536);
    assert_int_equal(profile_site_errors(p, 0)->allocated.samples, 6);
    assert_int_equal(profile_site_errors(p, 0)->allocated.bytes, 20);
    assert_true(profile_site_errors(p, 0)->allocated.blocks_variance == 1.0);
    assert_true(p->errors.allocated.bytes_variance == 5.0);
}

/* Each part has different modules, and their sum exceeds the number of modules that frames of a
 * file can name. If this fails, a fleet of many builds cannot be merged, or gives a file whose
 * frames have the wrong modules. */
static void
too_many_modules_are_code_without_one(void **state)
{
    struct sum *t = *state;
    const struct profile *p;
    struct profile *one;

    // Each part has half of the modules, under different names.
    for (size_t k = 0; k < 2; k++) {
        one = part(t);
        build_site(one, ten, "f@a.c:1", NULL);
        one->modules = arena_array(&one->arena, MODULES_MANY / 2, sizeof *one->modules);
        one->module_count = MODULES_MANY / 2;
        one->modules[0].path = "";
        for (uint64_t i = 1; i < one->module_count; i++)
            one->modules[i] = (struct profile_module){
                .start = i << 20,
                .end = (i << 20) + 4096,
                .path = arena_printf(&one->arena, "/%zu/%zu", k, (size_t)i)};
        one->locations[1].module = (uint32_t)one->module_count - 1;
        one->locations[1].address = one->modules[one->module_count - 1].start + 16;
    }
    p = merge_reread(t, sum_up(t));
    assert_int_equal(p->module_count, 1 << 15);
    assert_int_equal(p->site_count, 2);
    for (size_t i = 1; i < p->location_count; i++)
        assert_string_equal(profile_string(p, p->frames[p->locations[i].first_frame].function),
                            "f");
}

/* If this fails, a made-up profile with tens of thousands of modules that fill the address space
 * keeps a merge busy for hours, because each module that finds no room is moved past all others. */
static void
once_there_is_no_room_nothing_is_moved_any_more(void **state)
{
    enum { LARGE = 8, FIT = 6, COUNT = 2 + LARGE + 2 };
    const uint64_t large = UINT64_C(1) << 44, small = 4096;
    struct sum *t = *state;
    struct profile *one = part(t);
    struct profile_module *modules = arena_array(&one->arena, COUNT, sizeof *modules);
    const struct profile *p;

    build_site(one, ten, "f@a.c:1", NULL);
    memcpy(modules, one->modules, 2 * sizeof *modules);
    for (size_t i = 2; i < 2 + LARGE; i++)
        modules[i] = (struct profile_module){
            .start = large, .end = 2 * large, .path = arena_printf(&one->arena, "/large/%zu", i)};
    modules[2 + LARGE] =
        (struct profile_module){.start = small, .end = 2 * small, .path = "/stays"};
    modules[3 + LARGE] =
        (struct profile_module){.start = small, .end = 2 * small, .path = "/moves"};
    one->modules = modules;
    one->module_count = COUNT;
    p = sum_up(t);
    assert_int_equal(p->module_count, 2 + FIT + 1);
    assert_string_equal(p->modules[2 + FIT].path, "/stays");
    assert_int_equal(p->site_count, 1);
}

/* If this fails, a report of a session reads the reason for a changed file from memory that was
 * released with its part. */
static void
what_is_wrong_with_a_file_outlives_who_said_it(void **state)
{
    char build_id[] = "0123abcd";
    struct sum *t = *state;
    const struct profile *p;

    build_site(part(t), ten, "f@a.c:1", NULL);
    t->parts[0]->modules[1].file = FILE_CHANGED;
    t->parts[0]->modules[1].trouble = build_id;
    p = sum_up(t);
    memset(build_id, 'x', sizeof build_id - 1);
    assert_int_equal(p->modules[1].file, FILE_CHANGED);
    assert_string_equal(p->modules[1].trouble, "0123abcd");
}

/* Add a part that began at START_S. A block was found damaged FOUND_S later; it was last seen
 * intact a second before. */
static void
damaged_part(struct sum *t, uint64_t start_s, uint64_t found_s, uint64_t address)
{
    struct profile *p = part(t);

    build_site(p, ten, "f@a.c:1", NULL);
    set_times(p, start_s, 100, 10);
    p->corruptions = arena_array(&p->arena, 1, sizeof *p->corruptions);
    p->corruptions[0] = (struct profile_corruption){.kind = CORRUPTED_PAST_END,
                                                    .found = CORRUPTION_BY_FREE,
                                                    .node = p->sites[0].node,
                                                    .site_node = p->sites[0].node,
                                                    .address = address,
                                                    .found_ns = found_s * SECOND,
                                                    .whole_ns = (found_s - 1) * SECOND};
    p->corruption_count = 1;
}

/* If this fails, the first damage in a merged profile is not the one that was found first, and the
 * times of all but one process are wrong. */
static void
damages_come_onto_one_clock(void **state)
{
    struct sum *t = *state;
    const struct profile *p;

    damaged_part(t, 1005, 9, 0x3000); // The earliest part is added last.
    damaged_part(t, 1020, 2, 0x4000);
    damaged_part(t, 1000, 18, 0x1000);
    p = sum_up(t);
    for (int read = 0; read < 2; read++) {
        assert_int_equal(p->corruption_count, 3);
        assert_int_equal(p->corruptions[0].address, 0x3000);
        assert_int_equal(p->corruptions[0].found_ns, 14 * SECOND);
        assert_int_equal(p->corruptions[0].whole_ns, 13 * SECOND);
        assert_int_equal(p->corruptions[1].address, 0x1000);
        assert_int_equal(p->corruptions[1].found_ns, 18 * SECOND);
        assert_int_equal(p->corruptions[2].address, 0x4000);
        assert_int_equal(p->corruptions[2].found_ns, 22 * SECOND);
        if (read == 0)
            p = merge_reread(t, p);
    }
}

/* If this fails, a merged profile shows another cost of recording than its processes had. */
static void
what_the_recorders_took_adds_up(void **state)
{
    struct sum *t = *state;
    const struct profile *p;

    for (uint64_t i = 0; i < 2; i++) {
        build_site(part(t), ten, "f@a.c:1", NULL);
        t->parts[i]->recorder.file_bytes = 1 << 20;
        t->parts[i]->recorder.memory_bytes = (3 + i) << 20;
    }
    p = merge_reread(t, sum_up(t));
    assert_int_equal(p->recorder.memory_bytes, 7 << 20);
}

/* Return the heap called NAME; fail if there is none. */
static const struct profile_heap *
heap_of(const struct profile *p, const char *name)
{
    for (size_t i = 0; i < p->heap_count; i++)
        if (strcmp(p->heaps[i].name, name) == 0)
            return &p->heaps[i];
    fail_msg("no heap %s", name);
    return NULL;
}

static const struct profile_label_set *
set_of(const struct profile *p, const char *text)
{
    for (size_t i = 0; i < p->label_set_count; i++)
        if (strcmp(p->label_sets[i].text, text) == 0)
            return &p->label_sets[i];
    fail_msg("no labels %s", text);
    return NULL;
}

/* Add a part with three blocks: in malloc, in the heap NAME, and in that heap with a label. */
static void
heap_part(struct sum *t, const char *name, const char *tenant)
{
    struct profile *p = part(t);
    uint32_t heap, set;

    build_heap(p, "unused"); // This heap makes the ids of the parts differ.
    p->heaps[1].made = 0;
    heap = build_heap(p, name);
    set = build_labels(p, "kind", "get", "tenant", tenant, NULL);
    p->heaps[heap].created_ns = 5;
    build_site(p, ten, "f@a.c:1", "main@a.c:2", NULL);
    build_tags(p, build_site(p, ten, "f@a.c:1", "main@a.c:2", NULL), heap, 0);
    build_tags(p, build_site(p, ten, "f@a.c:1", "main@a.c:2", NULL), heap, set);
    p->backings = arena_array(&p->arena, 1, sizeof *p->backings);
    p->backings[0] =
        (struct profile_backing){.heap = heap, .node = p->sites[0].node, .counters = ten};
    p->backing_count = 1;
    profile_sum_heaps(p);
}

/* If this fails, the arenas of two processes are two rows, or a heap called malloc is taken for
 * malloc itself. */
static void
heaps_and_labels_are_one_by_name(void **state)
{
    struct sum *t = *state;
    const struct profile *p;

    heap_part(t, "arena", "acme");
    heap_part(t, "arena", "zork");
    heap_part(t, "malloc", "acme"); // This is a heap of the program in spite of its name.
    p = sum_up(t);
    assert_false(p->heaps[0].own);
    assert_true(heap_of(p, "arena")->own);
    p = merge_reread(t, p);
    assert_int_equal(p->totals.allocations, 9);
    assert_int_equal(p->site_count, 6);
    assert_int_equal(p->heaps[0].counters.allocations, 3);
    assert_int_equal(heap_of(p, "arena")->counters.allocations, 4);
    assert_int_equal(heap_of(p, "arena")->made, 2);
    assert_int_equal(heap_of(p, "arena")->created_ns, 5);
    assert_int_equal(heap_of(p, "arena")->backing.allocations, 2);
    assert_int_equal(p->backing_count, 2);
    assert_int_equal(set_of(p, "")->counters.allocations, 6);
    assert_int_equal(set_of(p, "kind=get, tenant=acme")->counters.allocations, 2);
    assert_int_equal(set_of(p, "kind=get, tenant=zork")->counters.allocations, 1);
}

/* If this fails, a merge with more heaps or labels than a file can hold loses their bytes, or is
 * refused. */
static void
too_many_heaps_and_labels_are_others(void **state)
{
    enum { HEAPS = 2000, SETS = 5000 };
    struct sum *t = *state;
    struct profile *one = part(t);
    const struct profile *p;

    for (uint32_t i = 0; i < SETS; i++) {
        uint32_t heap = i < HEAPS ? build_heap(one, arena_printf(&one->arena, "h%u", i)) : 0;
        uint32_t set = build_labels(one, "n", arena_printf(&one->arena, "%u", i), NULL);

        build_tags(one, build_site(one, ten, "f@a.c:1", NULL), heap, set);
        one->label_sets[set].counters = ten;
    }
    p = merge_reread(t, sum_up(t));
    assert_int_equal(p->totals.allocations, SETS);
    assert_int_equal(p->heaps[0].counters.allocations, SETS - HEAPS);
    // At most 1024 heaps, including malloc and "other heaps", and 4096 label sets, including the
    // empty one and "(other labels)".
    assert_int_equal(heap_of(p, "other heaps")->counters.allocations, HEAPS - 1022);
    assert_int_equal(set_of(p, "(other labels)")->counters.allocations, SETS - 4094);
    assert_int_equal(p->losses.label_sets, SETS - 4094);
}

/* If this fails, the sum of an old profile and a new one shows the short-lived blocks of one part
 * as those of both, or depends on their order. */
static void
lives_are_known_if_all_know_them(void **state)
{
    struct sum *t = *state;
    struct counters c = ten;
    const struct profile *p;

    c.frees = c.ended_16 = 1;
    build_site(part(t), c, "f@a.c:1", NULL);
    build_site(part(t), c, "f@a.c:1", NULL);
    p = merge_reread(t, sum_up(t));
    assert_false(p->totals.lifetimes_unknown);
    assert_int_equal(p->totals.ended_16, 2);
    assert_int_equal(p->sites[0].counters.ended_16, 2);
}

/* If this fails, a row of the sum has short-lived blocks although the total says that their number
 * is unknown. */
static void
lives_are_unknown_if_one_does_not_know_them(void **state)
{
    struct sum *t = *state;
    struct counters c = ten;
    const struct profile *p;

    c.frees = c.ended_16 = 1;
    build_site(part(t), c, "f@a.c:1", NULL);
    build_site(part(t), c, "g@a.c:2", NULL);
    profile_clear_lifetimes(t->parts[0]);
    p = sum_up(t);
    for (uint32_t i = 0; i < p->site_count; i++)
        assert_int_equal(p->sites[i].counters.ended_16, 0);
    assert_int_equal(p->totals.ended_16, 0);
    assert_true(merge_reread(t, p)->totals.lifetimes_unknown);
}

/* If this fails, an empty sum cannot be written, or the file cannot be read. */
static void
a_sum_of_nothing_is_a_profile(void **state)
{
    struct sum *t = *state;
    const struct profile *p = merge_reread(t, sum_up(t));

    assert_int_equal(p->totals.allocations, 0);
    assert_int_equal(p->site_count, 0);
}

/* If this fails, a damaged file with absurd counters ends the merge of all others (the sanitizers
 * show it as undefined behaviour). */
static void
numbers_that_wrap_end_nothing(void **state)
{
    struct counters most = ten;
    struct sum *t = *state;
    const struct profile *p;

    most.allocations = most.frees = INT64_MIN;
    most.peak_bytes = most.allocated_bytes = INT64_MAX;
    for (size_t i = 0; i < 2; i++) {
        build_site(part(t), most, "f@a.c:1", NULL);
        set_times(t->parts[i], UINT64_MAX / SECOND, UINT64_MAX / SECOND, INT64_MIN);
        t->parts[i]->errors.allocated.bytes = 1e30;
        profile_change_site_errors(t->parts[i], 0)->allocated =
            (struct error_sum){.samples = 1, .bytes = 1e30};
    }
    t->parts[0]->merged_processes = t->parts[0]->merged_left_out = UINT32_MAX;
    t->parts[1]->merged_left_out = 1;
    p = merge_reread(t, sum_up(t));
    assert_int_equal(p->merged_processes, UINT32_MAX);
    assert_int_equal(p->merged_left_out, UINT32_MAX);
    assert_int_equal(p->totals.allocations, 0);
    assert_int_equal(p->totals.allocated_bytes, -2);
}

/* If this fails, the peak of a sum looks more exact than its inputs' peaks. */
static void
errors_of_peaks_add_up(void **state)
{
    struct sum *t = *state;
    const struct profile *p;

    for (int64_t i = 3; i < 5; i++) {
        struct profile *from = part(t);

        build_site(from, ten, "f@a.c:1", "main@a.c:2", NULL);
        from->peak_error_bytes = i;
    }
    p = merge_reread(t, sum_up(t));
    assert_int_equal(p->totals.peak_bytes, 20);
    assert_int_equal(p->peak_error_bytes, 7);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, merge_begin, merge_end)
    const struct CMUnitTest tests[] = {
        TEST(the_same_code_elsewhere_is_one_place),
        TEST(another_build_of_a_path_is_another_module),
        TEST(code_without_a_module_is_its_name_or_its_address),
        TEST(each_program_is_known_as_one),
        TEST(what_one_host_knows_the_sum_knows),
        TEST(what_a_guess_led_to_stays_apart),
        TEST(the_ends_of_stacks_stay_apart),
        TEST(of_types_the_surer_stands),
        TEST(the_timeline_adds_up_who_was_there),
        TEST(histories_come_onto_one_clock_and_end_with_their_process),
        TEST(the_timeline_is_bounded_whatever_the_order),
        TEST(ways_of_recording_and_errors_add_up),
        TEST(too_many_modules_are_code_without_one),
        TEST(once_there_is_no_room_nothing_is_moved_any_more),
        TEST(what_is_wrong_with_a_file_outlives_who_said_it),
        TEST(damages_come_onto_one_clock),
        TEST(what_the_recorders_took_adds_up),
        TEST(heaps_and_labels_are_one_by_name),
        TEST(too_many_heaps_and_labels_are_others),
        TEST(lives_are_known_if_all_know_them),
        TEST(lives_are_unknown_if_one_does_not_know_them),
        TEST(a_sum_of_nothing_is_a_profile),
        TEST(numbers_that_wrap_end_nothing),
        TEST(errors_of_peaks_add_up),
    };

    return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
