/* test_top_holders.c: the user's own code, and the memory that it holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/top_holders.h"
#include "analyse/unsymbolized.h"
#include "analyse/user_code.h"
#include "build_profile.h"

static struct arena arena;

static struct stacks
test_top_holders_build(const struct profile *p)
{
    static const struct stacks_options options;
    struct stacks s;
    struct err err;

    assert_int_equal(stacks_build(p, &options, &arena, &s, &err), 0);
    return s;
}

static const char *
holder_name(const struct profile *p, const struct top_holder *h)
{
    return profile_string(p, p->frames[h->largest->frames[h->own]].function);
}

/* Return the function of the user code OWN in stack I. */
static const char *
own_name(const struct profile *p, const struct stacks *s, size_t i)
{
    struct user_code own;
    uint32_t frame;

    user_code_init(&own, p, &arena);
    frame = user_code_frame(&own, &s->v[i]);
    return profile_string(p, p->frames[s->v[i].frames[frame]].function);
}

static void
build_libraries(struct profile *p)
{
    build_site(p, build_counters(1, 8, 0, 0), "fopen!/lib/x86_64-linux-gnu/libc.so.6",
               "inflate!/usr/lib/x86_64-linux-gnu/libz.so.1", "load@a.c:1!/opt/me/prog",
               "main@a.c:2!/opt/me/prog", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "ext!/usr/lib/python3/dist-packages/e.so",
               "main@a.c:2!/opt/me/prog", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "init!/usr/lib/x86_64-linux-gnu/libz.so.1",
               "call_init!/lib64/ld-linux-x86-64.so.2", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "mine!/opt/me/libmine.so",
               "main@a.c:2!/opt/me/prog", NULL);
}

/* If this fails, rows of the first screen have the names of libraries that the user cannot
 * change. */
static void
user_code_begins_where_libraries_end(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    p->process.executable = "/opt/me/prog";
    build_libraries(p);
    s = test_top_holders_build(p);
    assert_string_equal(own_name(p, &s, 0), "load");
    assert_string_equal(own_name(p, &s, 1), "ext");
    assert_string_equal(own_name(p, &s, 2), "init");
    assert_string_equal(own_name(p, &s, 3), "mine");
    profile_free(p);
}

/* If this fails, rows of stripped programs are addresses although the caller has a name. */
static void
a_name_that_is_near_stands_for_a_nameless_function(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "!/opt/me/a.so", "!/opt/me/a.so", "f!/opt/me/a.so",
               NULL);
    build_site(p, build_counters(1, 8, 0, 0), "!/opt/me/a.so", "g!/opt/me/b.so", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "!/opt/me/a.so", "!/opt/me/a.so", "!/opt/me/a.so",
               "far!/opt/me/a.so", NULL);
    s = test_top_holders_build(p);
    assert_string_equal(own_name(p, &s, 0), "f");
    assert_string_equal(own_name(p, &s, 1), "");
    assert_string_equal(own_name(p, &s, 2), "");
    profile_free(p);
}

/* If this fails, a program of the system whose code is in its libraries has a single row, main. */
static void
libraries_of_system_programs_count_as_own(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    p->process.executable = "/usr/bin/python3";
    build_libraries(p);
    s = test_top_holders_build(p);
    assert_string_equal(own_name(p, &s, 0), "inflate");
    profile_free(p);
}

/* If this fails, the numbers of a row differ from the sum of the lines beneath it, or a stack is
 * lost. */
static void
holders_add_up_with_their_callers(void **state)
{
    struct profile *p = build_profile_new();
    int64_t sum = 0, callers = 0;
    struct top_holders h;
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 100, 0, 0), "f@a.c:1", "g@a.c:5", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 50, 0, 0), "f@a.c:2", "f@a.c:3", "h@a.c:6", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 30, 0, 0), "f@a.c:1", "g@a.c:6", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 170, 0, 0), "main@a.c:8", NULL);
    build_site(p, build_counters(1, 1, 0, 0), NULL);
    s = test_top_holders_build(p);
    top_holders_build(p, &s, METRIC_INUSE, &arena, &h);
    assert_int_equal(h.count, 3);
    assert_string_equal(holder_name(p, &h.v[0]), "f");
    assert_int_equal(h.v[0].caller_count, 2);
    assert_int_equal(counters_live_bytes(&h.v[0].callers[0].counters), 130);
    assert_int_equal(counters_live_bytes(&h.v[0].callers[0].largest->counters), 100);
    assert_int_equal(counters_live_bytes(&h.v[0].callers[1].counters), 50);
    assert_string_equal(holder_name(p, &h.v[1]), "main");
    assert_int_equal(h.v[2].largest->depth, 0);
    for (size_t i = 0; i < h.count; i++) {
        sum += counters_live_bytes(&h.v[i].counters);
        for (size_t k = 0; k < h.v[i].caller_count; k++)
            callers += counters_live_bytes(&h.v[i].callers[k].counters);
    }
    assert_int_equal(sum, 351);
    assert_int_equal(callers, 351);
    profile_free(p);
}

/* If this fails, all memory that a function holds is attributed to one line. */
static void
a_holder_adds_up_its_lines(void **state)
{
    struct profile *p = build_profile_new();
    const struct top_holder *f;
    struct top_holders h;
    struct stacks s;

    (void)state;
    // Line 1 has the largest stack; line 2 has the most bytes in total.
    build_site(p, build_counters(1, 100, 0, 0), "f@a.c:1", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 80, 0, 0), "f@a.c:2", "g@a.c:5", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 60, 0, 0), "f@a.c:2", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 7, 0, 0), "f@b.h:2", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 9, 1, 9), "f@a.c:4", "main@a.c:9", NULL); // Holds nothing.
    build_site(p, build_counters(1, 5, 0, 0), "lib!/lib/x86_64-linux-gnu/libc.so.6", "m@a.c:7",
               "main@a.c:9", NULL);
    build_site(p, build_counters(1, 4, 0, 0), "m@a.c:7", "main@a.c:9", NULL);
    s = test_top_holders_build(p);
    top_holders_build(p, &s, METRIC_INUSE, &arena, &h);
    f = &h.v[0];
    assert_string_equal(holder_name(p, f), "f");
    assert_int_equal(f->line_count, 3);
    assert_int_equal(p->frames[f->lines[0].largest->frames[f->lines[0].own]].line, 2);
    assert_int_equal(counters_live_bytes(&f->lines[0].largest->counters), 80);
    assert_int_equal(f->lines[0].value, 140);
    assert_int_equal(f->lines[1].value, 100);
    assert_int_equal(f->lines[2].value, 7);
    assert_int_equal(f->callee_value, counters_live_bytes(&f->counters));
    assert_string_equal(holder_name(p, &h.v[1]), "m");
    assert_int_equal(h.v[1].line_count, 1);
    // The callee holds 5 of the 9; the function allocates the rest itself.
    assert_int_equal(h.v[1].callee_value, 5);
    profile_free(p);
}

/* Return a profile of SITES random stacks with all features that affect their innermost frames:
 * wrappers, recursion, inlined and nameless functions, libraries, and start-up code. */
static struct profile *
build_random(unsigned seed, size_t sites)
{
    static const char *const frames[] = {
        "xmalloc@x.c:1!/opt/me/prog", "operator new(unsigned long)!/usr/lib/libstdc++.so.6",
        "!/opt/me/prog",              "!/opt/me/b.so",
        "+in@a.c:3!/opt/me/prog",     "work@a.c:10!/opt/me/prog",
        "f@a.c:1!/opt/me/prog",       "f@a.c:2!/opt/me/prog",
        "g@a.c:5!/opt/me/prog",       "named!/opt/me/b.so",
        "inflate!/usr/lib/libz.so.1", "clone!/lib64/libc.so.6",
        "!/lib64/libc.so.6",          "_start!/opt/me/prog",
    };
    struct profile *p = build_profile_new();

    srand(seed);
    p->process.executable = "/opt/me/prog";
    for (size_t i = 0; i < sites; i++) {
        const char *stack[24];
        // With few different frames, stacks repeat; with many, they do not.
        size_t count = (size_t)rand() % countof(stack), kinds = 2 + (size_t)rand() % 13;
        size_t first = (size_t)rand() % countof(frames);

        for (size_t k = 0; k < count; k++)
            stack[k] = frames[(first + (size_t)rand() % kinds) % countof(frames)];
        // No frame is left that it could be inlined into.
        if (count > 0 && *stack[count - 1] == '+')
            count--;
        build_site_frames(p, build_counters(1, 1 + rand() % 8, rand() % 2, 1), stack, count);
    }
    return p;
}

/* If this fails, the summary of `run` differs from `report`. */
static void
the_first_holder_is_found_without_building_all_stacks(void **state)
{
    static const struct stacks_options options = {.merge_labels = true, .fold_recursion = true};

    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        struct profile *p = build_random(seed, 1 + seed % 50);
        struct top_holders all, first;
        struct stacks s;
        struct err err;

        assert_int_equal(stacks_build(p, &options, &arena, &s, &err), 0);
        top_holders_build(p, &s, METRIC_PEAK, &arena, &all);
        top_holders_first(p, METRIC_PEAK, &arena, &first);
        if (all.v[0].counters.peak_bytes == 0) {
            assert_int_equal(first.count, 0);
        } else {
            assert_true(first.count > 0);
            assert_int_equal(first.v[0].counters.peak_bytes, all.v[0].counters.peak_bytes);
            // Among holders of equal value, the order depends on the other metrics.
            if (all.count == 1 ||
                all.v[1].counters.peak_bytes < all.v[0].counters.peak_bytes) {
                assert_int_equal(first.v[0].largest->depth, all.v[0].largest->depth);
                assert_int_equal(first.v[0].own, all.v[0].own);
                for (uint32_t i = 0; i < first.v[0].largest->depth; i++)
                    assert_int_equal(first.v[0].largest->frames[i], all.v[0].largest->frames[i]);
            }
        }
        profile_free(p);
    }
}

/* If this fails, hints and the summary of `run` are based on frames that views do not show. */
static void
an_inner_end_is_that_of_the_whole_stack(void **state)
{
    size_t parts = 0;

    (void)state;
    for (unsigned seed = 1; seed <= 400; seed++) {
        const struct stacks_options options = {.fold_recursion = seed % 2};
        struct profile *p = build_random(seed, 10);
        struct stack_ends *ends = stack_ends_new(p, options.fold_recursion, &arena);
        struct stacks s;
        struct err err;

        assert_int_equal(stacks_build(p, &options, &arena, &s, &err), 0);
        for (size_t i = 0; i < p->site_count; i++) {
            const struct stack *stack = &s.v[s.site_stacks[i] - 1];
            uint32_t count = 1 + seed % 6;
            bool whole;
            struct stack end = stack_ends_read(ends, p->sites[i].node, count, &whole);

            parts += !whole;
            assert_int_equal(end.depth, whole ? stack->depth : count);
            for (uint32_t k = 0; k < end.depth; k++) {
                assert_int_equal(end.frames[k], stack->frames[k]);
                assert_int_equal(end.locations[k], stack->locations[k]);
            }
            if (!whole)
                assert_true(stack_useful_depth(p, stack) >= count);
        }
        profile_free(p);
    }
    assert_true(parts > 500); // Fewer would test nothing.
}

/* If this fails, `run` and `pack` list other files without names than views do. */
static void
what_lacks_names_is_the_same_without_building_stacks(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        const struct stacks_options options = {.merge_labels = true, .fold_recursion = seed % 2};
        struct profile *p = build_random(seed, 20);
        struct unsymbolized_module *wanted, *v;
        struct unsymbolized_bytes total;
        struct stacks s;
        struct err err;

        assert_int_equal(stacks_build(p, &options, &arena, &s, &err), 0);
        wanted = unsymbolized_modules(p, &s, &arena);
        v = unsymbolized_modules_of_all(p, options.fold_recursion, &total, &arena);
        assert_memory_equal(v, wanted, p->module_count * sizeof *v);
        assert_int_equal(total.by_metric[2], s.total.allocated_bytes);
        profile_free(p);
    }
}

static int
top_holders_release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(user_code_begins_where_libraries_end),
        cmocka_unit_test(a_name_that_is_near_stands_for_a_nameless_function),
        cmocka_unit_test(libraries_of_system_programs_count_as_own),
        cmocka_unit_test(holders_add_up_with_their_callers),
        cmocka_unit_test(a_holder_adds_up_its_lines),
        cmocka_unit_test(the_first_holder_is_found_without_building_all_stacks),
        cmocka_unit_test(an_inner_end_is_that_of_the_whole_stack),
        cmocka_unit_test(what_lacks_names_is_the_same_without_building_stacks),
    };

    return cmocka_run_group_tests(tests, NULL, top_holders_release);
}
