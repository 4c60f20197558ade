/* test_group.c: test sums of stacks by function, line, file, module, thread and size, and the
 * counters of source lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/group.h"
#include "analyse/source.h"
#include "build_profile.h"
#include "profile/time_slice.h"

static struct arena arena;

static struct stacks
group_build(const struct profile *p, const char *filter)
{
    struct stacks_options options = {.filter = filter};
    struct stacks s;
    struct err err;

    assert_int_equal(stacks_build(p, &options, &arena, &s, &err), 0);
    return s;
}

static struct groups
group(const struct profile *p, enum group_by by, enum metric metric, const char *filter)
{
    struct stacks s = group_build(p, filter);
    struct groups g;

    group_stacks(p, &s, by, NULL, metric, &arena, &g);
    return g;
}

static const struct group_row *
group_row_of(const struct profile *p, const struct groups *g, const char *function)
{
    for (size_t i = 0; i < g->count; i++)
        if (strcmp(profile_string(p, p->frames[g->v[i].frame].function), function) == 0)
            return &g->v[i];
    fail_msg("no row for %s", function);
    return NULL;
}

/* If this fails, static functions of equal name in two files are one row, which names the file of
 * one of them, or a function with code from two files is two rows. */
static void
local_functions_of_two_files_are_two_rows(void **state)
{
    struct profile *p = build_profile_new();
    struct groups g;

    (void)state;
    build_site(p, build_counters(1, 100, 0, 0), "-fill@/src/m1.c:1", "main@main.c:9", NULL);
    build_site(p, build_counters(1, 200, 0, 0), "-fill@/src/m2.c:1", "main@main.c:9", NULL);
    build_site(p, build_counters(1, 20, 0, 0), "-fill@/src/m2.c:5", "main@main.c:9", NULL);
    build_site(p, build_counters(1, 10, 0, 0), "yyparse@y.c:1", "main@main.c:9", NULL);
    build_site(p, build_counters(1, 5, 0, 0), "yyparse@gram.y:1", "main@main.c:9", NULL);
    g = group(p, BY_FUNCTION, METRIC_ALLOC, NULL);
    assert_int_equal(g.count, 4);
    assert_int_equal(g.v[0].self.allocated_bytes, 220);
    assert_string_equal(profile_string(p, p->frames[g.v[0].frame].file), "/src/m2.c");
    assert_int_equal(g.v[1].self.allocated_bytes, 100);
    assert_string_equal(profile_string(p, p->frames[g.v[1].frame].file), "/src/m1.c");
    assert_int_equal(g.v[2].self.allocated_bytes, 15); // yyparse
    profile_free(p);
}

/* If this fails, tables name functions that differ only in their files alike. */
static void
labels_of_functions_differ(void **state)
{
    struct profile *p = build_profile_new();
    const char *stacks[][2] = {{"-fill@/src/a/m.c:1", "fill (a/m.c)"},
                               {"-fill@/src/b/m.c:1", "fill (b/m.c)"},
                               {"-fill@/src/c.c:1", "fill (c.c)"},
                               {"-grow@/src/h.h:1", "grow (h.h, prog)"},
                               {"-grow@/src/h.h:1!/lib/libx.so", "grow (h.h, libx.so)"},
                               {"alone@/src/c.c:1", "alone"},
                               {"same@/src/c.c:2!/lib/liby.so", "same (c.c)"},
                               {"same!/lib/libx.so", "same (libx.so)"}};
    struct functions f;
    struct stacks s;

    (void)state;
    for (size_t i = 0; i < countof(stacks); i++)
        build_site(p, build_counters(1, 1 << i, 0, 0), stacks[i][0], NULL);
    s = group_build(p, NULL);
    functions_init(&f, p, &arena);
    for (size_t i = 0; i < s.count; i++) {
        const uint32_t *ids;

        functions_of_stack(&f, &s.v[i], &ids);
    }
    assert_int_equal(f.count, FUNCTION_FIRST + countof(stacks));
    for (uint32_t i = 0; i < countof(stacks); i++)
        assert_string_equal(functions_label(&f, FUNCTION_FIRST + i), stacks[i][1]);
    functions_release(&f);
    profile_free(p);
}

/* If this fails, a recursive function shows more than the program has allocated. */
static void
recursion_counts_once(void **state)
{
    struct profile *p = build_profile_new();
    struct groups g;

    (void)state;
    build_site(p, build_counters(2, 100, 0, 0), "walk@a.c:1", "walk@a.c:2", "walk@a.c:2",
               "main@a.c:9", NULL);
    build_site(p, build_counters(1, 10, 0, 0), "leaf@a.c:5", "walk@a.c:2", "main@a.c:9", NULL);
    g = group(p, BY_FUNCTION, METRIC_ALLOC, NULL);
    assert_int_equal(g.count, 3);
    assert_int_equal(group_row_of(p, &g, "walk")->inclusive.allocated_bytes, 110);
    assert_int_equal(group_row_of(p, &g, "walk")->self.allocated_bytes, 100);
    assert_int_equal(group_row_of(p, &g, "main")->inclusive.allocations, 3);
    assert_int_equal(group_row_of(p, &g, "main")->self.allocations, 0);
    profile_free(p);
}

/* If this fails, main heads the table by function although it allocates nothing itself. */
static void
rows_are_sorted_by_self(void **state)
{
    struct profile *p = build_profile_new();
    struct groups g;

    (void)state;
    build_site(p, build_counters(9, 90, 9, 90), "busy@a.c:1", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 50, 0, 0), "holder@a.c:2", "main@a.c:9", NULL);
    g = group(p, BY_FUNCTION, METRIC_INUSE, NULL);
    assert_ptr_equal(&g.v[0], group_row_of(p, &g, "holder"));
    g = group(p, BY_FUNCTION, METRIC_COUNT, NULL);
    assert_ptr_equal(&g.v[0], group_row_of(p, &g, "busy"));
    profile_free(p);
}

/* If this fails, the verdict overstates how surely the type of some bytes is known. */
static void
types_are_rows_by_verdict(void **state)
{
    struct profile *p = build_profile_new();
    struct groups g;
    uint32_t site;

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        site = build_site(p, build_counters(1, 8 << i, 0, 0), arena_printf(&arena, "f%zu@a.c:1", i),
                          "main@a.c:9", NULL);
        p->sites[site].verdict = i < 3   ? VERDICT_CERTAIN
                                 : i < 5 ? VERDICT_SAME_SIZE
                                         : VERDICT_UNKNOWN;
        p->sites[site].type = i < 3 ? strtab_id(&p->strings, i < 2 ? "foo" : "bar") : 0;
    }
    p->typed = true;
    g = group(p, BY_TYPE, METRIC_ALLOC, NULL);
    // Blocks of unknown type are split by size.
    assert_int_equal(g.count, 5);
    assert_int_equal(g.v[0].site->verdict, VERDICT_UNKNOWN);
    assert_int_equal(g.v[0].self.allocated_bytes, 256);
    assert_int_equal(g.v[1].self.allocated_bytes, 128);
    assert_int_equal(g.v[2].self.allocated_bytes, 64);
    assert_string_equal(profile_string(p, g.v[3].site->type), "bar");
    assert_string_equal(profile_string(p, g.v[4].site->type), "foo");
    assert_int_equal(g.v[4].self.allocated_bytes, 8 + 16);
    g = group(p, BY_TYPE, METRIC_ALLOC, "f5");
    assert_int_equal(g.count, 1);
    profile_free(p);
}

/* If this fails, --by type with --at joins blocks of different sizes into one row, or has rows of
 * blocks that did not exist at that moment. */
static void
types_of_a_moment_are_apart_by_size(void **state)
{
    static const struct profile_point peak = {.name = "peak", .is_peak = true};
    static const char *const functions[] = {"f@a.c:1", "g@a.c:2", "h@a.c:3"};
    struct profile *p = build_profile_new();
    struct groups g;

    (void)state;
    for (int64_t i = 0; i < 3; i++) {
        // h's blocks were freed before the peak.
        int64_t size = 24 * (i + 1), frees = i == 2 ? 4 : 2;
        uint32_t site = build_site(p, build_counters(4, 4 * size, frees, frees * size),
                                   functions[i], "main@a.c:9", NULL);

        p->sites[site].verdict = VERDICT_SAME_SIZE;
    }
    p->typed = true;
    profile_cut(p, NULL, &peak);
    g = group(p, BY_TYPE, METRIC_INUSE, NULL);
    assert_int_equal(g.count, 2);
    assert_int_equal(g.v[0].self.allocated_bytes, 2 * 48);
    assert_int_equal(profile_site_size_min(g.v[0].site), 48);
    assert_int_equal(profile_site_size_max(g.v[1].site), 24);
    profile_free(p);
}

/* If this fails, tables by line, file or module join rows that differ, or split a row. */
static void
lines_files_and_modules_are_rows(void **state)
{
    struct profile *p = build_profile_new();
    struct groups g;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "f@a.c:1", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 20, 0, 0), "f@a.c:2", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 40, 0, 0), "g@b.c:1!/lib/x.so", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 80, 0, 0), "nameless!/lib/x.so", "main@a.c:9", NULL);
    g = group(p, BY_LINE, METRIC_ALLOC, NULL);
    assert_int_equal(g.count, 5);
    assert_int_equal(g.v[4].inclusive.allocated_bytes, 150);
    g = group(p, BY_FILE, METRIC_ALLOC, NULL);
    assert_int_equal(g.count, 3);
    assert_int_equal(g.v[2].self.allocated_bytes, 30);
    assert_int_equal(g.v[2].inclusive.allocated_bytes, 150);
    g = group(p, BY_MODULE, METRIC_ALLOC, NULL);
    assert_int_equal(g.count, 2);
    assert_int_equal(g.v[0].self.allocated_bytes, 120);
    assert_int_equal(g.v[1].inclusive.allocated_bytes, 150);
    profile_free(p);
}

/* If this fails, --by line charges all functions of the C library of Lua to one of them. */
static void
frames_without_a_line_are_rows_by_function(void **state)
{
    struct profile *p = build_profile_new();
    struct groups g;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "wrap@[C]:0", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 40, 0, 0), "rep@[C]:0", "main@a.c:9", NULL);
    g = group(p, BY_LINE, METRIC_ALLOC, NULL);
    assert_int_equal(g.count, 3);
    assert_int_equal(group_row_of(p, &g, "rep")->self.allocated_bytes, 40);
    assert_int_equal(group_row_of(p, &g, "wrap")->self.allocated_bytes, 10);
    profile_free(p);
}

/* If this fails, --by line names a small function on a line beside the bytes of a large one. */
static void
a_line_has_the_name_of_its_largest_function(void **state)
{
    struct profile *p = build_profile_new();
    struct groups g;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "small@a.c:1", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 40, 0, 0), "large@a.c:1", "large@a.c:1", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 45, 0, 0), "g@a.c:7", "outer@a.c:1", "main@a.c:9", NULL);
    g = group(p, BY_LINE, METRIC_ALLOC, NULL);
    assert_int_equal(g.count, 3);
    assert_int_equal(group_row_of(p, &g, "large")->self.allocated_bytes, 50);
    assert_int_equal(group_row_of(p, &g, "large")->inclusive.allocated_bytes, 95);
    assert_int_equal(group_row_of(p, &g, "large")->names, 3);
    assert_int_equal(group_row_of(p, &g, "main")->names, 1);
    profile_free(p);
}

/* If this fails, --by thread with --filter includes stacks that the filter excludes. */
static void
threads_follow_the_filter(void **state)
{
    struct profile *p = build_profile_new();
    struct counters a = build_counters(1, 10, 0, 0), b = build_counters(2, 200, 0, 0);
    uint32_t main_thread = build_thread(p, "main"), worker = build_thread(p, "worker");
    uint32_t f = build_site(p, a, "f@a.c:1", NULL), g = build_site(p, b, "g@a.c:2", NULL);
    struct groups groups;

    (void)state;
    build_thread_site(p, main_thread, f, a);
    build_thread_site(p, worker, g, b);
    groups = group(p, BY_THREAD, METRIC_INUSE, NULL);
    assert_int_equal(groups.count, 2);
    assert_string_equal(groups.v[0].thread->name, "worker");
    groups = group(p, BY_THREAD, METRIC_INUSE, "^f$");
    assert_int_equal(groups.count, 1);
    assert_int_equal(groups.v[0].self.allocated_bytes, 10);
    profile_free(p);
}

/* If this fails, memory that the recorder charged to "other" is missing from tables, or crashes
 * them. */
static void
other_stacks_are_a_row(void **state)
{
    struct profile *p = build_profile_new();
    struct groups g;

    (void)state;
    build_site(p, build_counters(3, 30, 0, 0), NULL);
    for (int by = BY_SITE; by <= BY_MODULE; by++) {
        g = group(p, (enum group_by)by, METRIC_ALLOC, NULL);
        assert_int_equal(g.count, 1);
        assert_int_equal(g.v[0].frame, GROUP_NO_FRAME);
        assert_int_equal(g.v[0].self.allocated_bytes, 30);
    }
    profile_free(p);
}

/* If this fails, the overview of sizes loses blocks or puts them into the wrong range. */
static void
size_ranges_hold_everything(void **state)
{
    struct profile *p = build_profile_new();
    struct size_range r[SIZE_RANGE_COUNT];
    size_t n;

    (void)state;
    build_bin(p, 0, 0, build_counters(1, 0, 0, 0));
    build_bin(p, 16, 16, build_counters(2, 32, 0, 0));
    build_bin(p, 17, 17, build_counters(4, 68, 0, 0));
    build_bin(p, (uint64_t)1 << 40, UINT64_MAX, build_counters(8, 80, 0, 0));
    n = group_size_ranges(p, r);
    assert_int_equal(n, 3);
    assert_int_equal(r[0].counters.allocations, 3);
    assert_int_equal(r[1].counters.allocations, 4);
    assert_int_equal(r[2].counters.allocations, 8);
    profile_free(p);
}

/* If this fails, "Sizes" counts blocks of 10 MiB in the row above 16 MiB. */
static void
bins_are_in_the_range_that_holds_them(void **state)
{
    static const struct {
        uint64_t size_min, size_max; // Sizes in a bin.
        uint64_t end;                // End of the range that holds the bin.
    } v[] = {
        {257, 257, 1 * KIB},
        {1 * KIB, 1 * KIB, 1 * KIB},
        {2 * KIB + 1, 4 * KIB, 4 * KIB},
        {32 * KIB + 1, 64 * KIB, 64 * KIB},
        {64 * KIB + 1, 128 * KIB, 1 * MIB},
        {512 * KIB + 1, 1 * MIB, 1 * MIB},
        {1 * MIB + 1, 2 * MIB, 16 * MIB},
        {8 * MIB + 1, 16 * MIB, 16 * MIB},
        {16 * MIB + 1, 32 * MIB, UINT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < countof(v); i++) {
        struct profile *p = build_profile_new();
        struct size_range r[SIZE_RANGE_COUNT];

        build_bin(p, v[i].size_min, v[i].size_max, build_counters(1, (int64_t)v[i].size_min, 0, 0));
        assert_int_equal(group_size_ranges(p, r), 1);
        assert_int_equal(r[0].size_max, v[i].end);
        assert_true(r[0].size_min <= v[i].size_min);
        profile_free(p);
    }
}

/* If this fails, sections start with the wrong site or show empty sites. */
static void
the_largest_site_comes_first(void **state)
{
    struct profile *p = build_profile_new();
    const struct stack **v;
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "a@a.c:1", NULL);
    build_site(p, build_counters(1, 99, 1, 99), "b@a.c:2", NULL);
    build_site(p, build_counters(1, 20, 0, 0), "c@a.c:3", NULL);
    s = group_build(p, NULL);
    v = group_sorted_stacks(&s, METRIC_INUSE, &arena);
    assert_int_equal(counters_live_bytes(&v[0]->counters), 20);
    assert_int_equal(group_positive(&s, v, METRIC_INUSE), 2);
    profile_free(p);
}

/* If this fails, `heaptap source` shows wrong numbers in front of a line. */
static void
source_lines_have_their_own_sums(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;
    struct source src;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "f@dir/a.c:3", "f@dir/a.c:7", "f@dir/a.c:7", NULL);
    build_site(p, build_counters(1, 5, 0, 0), "g@dir/a.c:7", "main@b.c:1", NULL);
    s = group_build(p, NULL);
    assert_int_equal(source_find(p, &s, "a.c", &arena, &src), 0);
    assert_int_equal(src.file_count, 1);
    assert_int_equal(src.files[0].line_count, 2);
    assert_int_equal(src.files[0].lines[0].self.allocated_bytes, 10);
    assert_int_equal(src.files[0].lines[1].line, 7);
    assert_int_equal(src.files[0].lines[1].inclusive.allocated_bytes, 15);
    assert_int_equal(src.files[0].lines[1].self.allocated_bytes, 5);
    profile_free(p);
}

/* If this fails, `heaptap source` does not find a function by part of the name, or shows lines of
 * other functions. */
static void
a_function_is_found_by_part_of_its_name(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;
    struct source src;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "Parser::next(int)@a.c:3", "main@a.c:7",
               "run_main@b.c:9", NULL);
    build_site(p, build_counters(1, 10, 0, 0), "bare!/lib/x.so", "My::Parser::next(int)@a.c:4",
               NULL);
    s = group_build(p, NULL);
    assert_int_equal(source_find(p, &s, "er::next", &arena, &src), 0);
    assert_int_equal(src.function_count, 2);
    assert_int_equal(src.files[0].line_count, 2);
    assert_int_equal(source_find(p, &s, "bare", &arena, &src), 0);
    assert_false(src.has_lines);
    assert_int_equal(source_find(p, &s, "ain", &arena, &src), 0);
    assert_int_equal(src.function_count, 2);
    // A whole name is preferred, with or without parameters.
    assert_int_equal(source_find(p, &s, "main", &arena, &src), 0);
    assert_int_equal(src.function_count, 1);
    assert_int_equal(src.files[0].lines[0].line, 7);
    assert_int_equal(source_find(p, &s, "Parser::next", &arena, &src), 0);
    assert_int_equal(src.function_count, 1);
    assert_int_equal(source_find(p, &s, "Parser::next(int)", &arena, &src), 0);
    assert_int_equal(src.function_count, 1);
    assert_int_equal(source_find(p, &s, ".c", &arena, &src), HEAPTAP_NOT_FOUND);
    assert_int_equal(source_find(p, &s, "nobody", &arena, &src), HEAPTAP_NOT_FOUND);
    profile_free(p);
}

static int
group_release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_functions_of_two_files_are_two_rows),
        cmocka_unit_test(labels_of_functions_differ),
        cmocka_unit_test(recursion_counts_once),
        cmocka_unit_test(rows_are_sorted_by_self),
        cmocka_unit_test(types_are_rows_by_verdict),
        cmocka_unit_test(types_of_a_moment_are_apart_by_size),
        cmocka_unit_test(lines_files_and_modules_are_rows),
        cmocka_unit_test(frames_without_a_line_are_rows_by_function),
        cmocka_unit_test(a_line_has_the_name_of_its_largest_function),
        cmocka_unit_test(threads_follow_the_filter),
        cmocka_unit_test(other_stacks_are_a_row),
        cmocka_unit_test(size_ranges_hold_everything),
        cmocka_unit_test(bins_are_in_the_range_that_holds_them),
        cmocka_unit_test(the_largest_site_comes_first),
        cmocka_unit_test(source_lines_have_their_own_sums),
        cmocka_unit_test(a_function_is_found_by_part_of_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, group_release);
}
