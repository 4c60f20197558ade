/* test_tree_split.c: the branches of the call tree, and the length of the first screen that has
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/tree_split.h"
#include "build_profile.h"
#include "text/text.h"
#include "text/text_view.h"
#include "util/path.h"

static struct arena arena;

static struct stacks
test_tree_split_stacks(const struct profile *p)
{
    static const struct stacks_options options = {0};
    struct stacks s;
    struct err err;

    assert_int_equal(stacks_build(p, &options, &arena, &s, &err), 0);
    stack_numbers(p, &s);
    return s;
}

/* Check that the live bytes of P divide as WANTED describes: "parse 700, emit 250". */
static void
assert_split(const struct profile *p, const char *wanted)
{
    struct stacks s = test_tree_split_stacks(p);
    struct strbuf text = {0};
    struct tree_split split;

    tree_split_find(p, &s, METRIC_INUSE, &arena, &split);
    for (size_t i = 0; i < split.count; i++) {
        const struct tree_branch *b = &split.v[i];

        strbuf_fmt(&text, "%s%s %d", i > 0 ? ", " : "",
                   b->constructors
                       ? b->module != 0 ? path_basename(p->modules[b->module].path) : "constructors"
                       : profile_string(p, p->frames[b->stack->frames[b->frame]].function),
                   (int)b->value);
    }
    assert_string_equal(strbuf_text(&text), wanted);
    strbuf_release(&text);
}

/* If this fails, the first screen of a compiler shows functions with 5 % each, and not that its
 * parser has 70 %. */
static void
a_tree_divides_where_its_trunk_ends(void **state)
{
    struct profile *p = build_profile_new();

    (void)state;
    assert_split(p, "");
    build_site(p, build_counters(1, 300, 0, 0), "f1", "parse", "run", "main", NULL);
    // All stacks pass parse, and then end in one function.
    assert_split(p, "");
    build_site(p, build_counters(1, 400, 0, 0), "f2", "parse", "parse", "run", "run", "main", NULL);
    build_site(p, build_counters(1, 250, 0, 0), "f3", "emit", "!/usr/bin/nameless", "run", "main",
               NULL);
    build_site(p, build_counters(1, 50, 0, 0), "f4", "main", NULL);
    assert_split(p, "parse 700, f2 400, f1 300, emit 250");
    // Freed blocks count for nothing, so they are no branch.
    build_site(p, build_counters(1, 5000, 1, 5000), "f5", "other", "run", "main", NULL);
    assert_split(p, "parse 700, f2 400, f1 300, emit 250");
    profile_free(p);
}

/* If this fails, a first screen says that memory is "below _dl_init", or names a library that
 * allocates little of it. */
static void
constructors_are_one_branch(void **state)
{
    struct profile *p = build_profile_new();

    (void)state;
    build_site(p, build_counters(1, 500, 0, 0), "f", "main", NULL);
    build_site(p, build_counters(1, 100, 0, 0), "f", "init_1!/opt/liba.so", "call_init",
               "_dl_init!/lib/ld-linux-x86-64.so.2", NULL);
    build_site(p, build_counters(1, 150, 0, 0), "f", "init_2!/opt/liba.so", "call_init",
               "call_init", "_dl_init!/lib/ld-linux-x86-64.so.2", NULL);
    build_site(p, build_counters(1, 50, 0, 0), "f", "init_3!/opt/libb.so", "call_init", NULL);
    assert_split(p, "main 500, liba.so 300, init_2 150, init_1 100");
    build_site(p, build_counters(1, 200, 0, 0), "f", "init_3!/opt/libb.so", "call_init", NULL);
    assert_split(p, "main 500, constructors 500, init_3 250, init_2 150, init_1 100");
    profile_free(p);

    // If there is little else, the constructors are the trunk.
    p = build_profile_new();
    build_site(p, build_counters(1, 100, 0, 0), "f", "init_1", "call_init", NULL);
    build_site(p, build_counters(1, 150, 0, 0), "f", "init_2", "call_init", NULL);
    assert_split(p, "init_2 150, init_1 100");
    profile_free(p);
}

/* If this fails, a branch of a few percent is shown, or branches are in no order. */
static void
small_branches_are_left_out(void **state)
{
    static const int sizes[] = {90, 400, 110, 300, 100};
    struct profile *p = build_profile_new();
    char name[8];

    (void)state;
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "g%d", i);
        build_site(p, build_counters(1, sizes[i], 0, 0), "f", name, "main", NULL);
    }
    assert_split(p, "g1 400, g3 300, g2 110");
    profile_free(p);
}

/* If this fails, two functions that call each other a thousand times make the first screen of a
 * large profile take minutes. */
static void
a_long_trunk_is_left(void **state)
{
    const char *frames[82] = {NULL, [81] = "main"};
    struct profile *p = build_profile_new();

    (void)state;
    for (int i = 1; i < 81; i++)
        frames[i] = i % 2 == 0 ? "even" : "odd";
    for (int leaf = 0; leaf < 2; leaf++) {
        frames[0] = leaf == 0 ? "a" : "b";
        build_site_frames(p, build_counters(1, 10, 0, 0), frames, 82);
    }
    assert_split(p, "");
    profile_free(p);

    // A trunk of 60 functions is followed.
    p = build_profile_new();
    for (int leaf = 0; leaf < 2; leaf++) {
        frames[21] = leaf == 0 ? "a" : "b";
        build_site_frames(p, build_counters(1, 10, 0, 0), frames + 21, 61);
    }
    assert_split(p, "a 10, b 10");
    profile_free(p);
}

/* If this fails, a first screen leaves the terminal at its top, or lacks where the tree divides. */
static void
a_first_screen_has_30_lines(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out = {0};
    struct text_view v = {.base = {.p = p, .arena = &arena},
                          .style = {.width = 80},
                          .out = &out,
                          .depth = TEXT_DEPTH};
    size_t lines = 0;

    (void)state;
    for (int i = 0; i < 400; i++) {
        struct counters c = build_counters(1000, 100000, 600, 60000);
        char function[16], caller[16];

        c.peak_blocks = 400;
        c.peak_bytes = 50000;
        c.ended_16 = 550;
        snprintf(function, sizeof function, "f%d", i < 60 ? 0 : i % 40);
        snprintf(caller, sizeof caller, "c%d", i);
        build_site(p, c, function, caller, i % 4 == 0 ? "emit" : "parse", "main", NULL);
    }
    p->totals.peak_bytes = 400 * 50000;
    struct stacks s = test_tree_split_stacks(p);
    v.base.stacks = &s;
    text_brief(&v);
    for (const char *c = out.text; *c != '\0'; c++)
        lines += *c == '\n';
    assert_in_range(lines, 20, 28); // The command adds up to two hints.
    assert_non_null(strstr(out.text, "\nAt the peak "));
    assert_non_null(strstr(out.text, "\nStill live at end "));
    assert_non_null(strstr(out.text, "\nShort-lived "));
    assert_non_null(strstr(out.text, "   75.0 %    below parse\n"));
    assert_non_null(strstr(out.text, "   25.0 %    below emit\n"));

    // A given number of rows is kept.
    strbuf_clear(&out);
    v.seen_count = 0;
    v.base.limit = 35;
    text_brief(&v);
    assert_non_null(strstr(out.text, "in 5 more functions"));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, the first screen of a compiler has few rows, because a section on churn names
 * functions with 4 % each; or shows branches of a small branch instead of a large one. */
static void
lines_go_to_what_explains_most(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out = {0};
    struct text_view v = {.base = {.p = p, .arena = &arena},
                          .style = {.width = 80},
                          .out = &out,
                          .depth = TEXT_DEPTH};
    const char *large, *inner, *small;

    (void)state;
    for (int i = 0; i < 400; i++) {
        struct counters c = build_counters(1000, 100000, 1000, 100000);
        char function[16];

        c.peak_bytes = 50000;
        c.ended_16 = 900;
        snprintf(function, sizeof function, "f%d", i % 40);
        build_site(p, c, function, i % 2 == 0 ? "lex" : "fold", i % 4 == 0 ? "emit" : "parse",
                   "main", NULL);
    }
    p->totals.peak_bytes = 400 * 50000;
    struct stacks s = test_tree_split_stacks(p);
    v.base.stacks = &s;
    text_brief(&v);
    assert_null(strstr(out.text, "\nShort-lived "));
    large = strstr(out.text, "   75.0 %    below parse\n");
    inner = strstr(out.text, "   50.0 %      below fold\n");
    small = strstr(out.text, "   25.0 %    below emit\n");
    assert_true(large != NULL && large < inner && inner < small);
    strbuf_release(&out);
    profile_free(p);
}

static int
test_tree_split_release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_divides_where_its_trunk_ends),
        cmocka_unit_test(constructors_are_one_branch),
        cmocka_unit_test(small_branches_are_left_out),
        cmocka_unit_test(a_long_trunk_is_left),
        cmocka_unit_test(a_first_screen_has_30_lines),
        cmocka_unit_test(lines_go_to_what_explains_most),
    };

    return cmocka_run_group_tests(tests, NULL, test_tree_split_release);
}
