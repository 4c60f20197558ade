/* test_leaks.c: blocks that are still live, and the suppressions that hide some of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/leaks.h"
#include "build_profile.h"
#include "json/json.h"
#include "profile/time_slice.h"
#include "text/text.h"

static struct arena arena;

static struct suppressions
leaks_parse(const char *text)
{
    struct suppressions s = {0};
    struct err err;

    assert_int_equal(suppress_parse(&s, text, strlen(text), "test.supp", &arena, &err), 0);
    return s;
}

static struct leaks
test_leaks_find(const struct profile *p, struct suppressions *s)
{
    struct stacks_options options = {0};
    struct leaks leaks;
    struct err err;

    assert_int_equal(leaks_find(p, &options, s, &arena, &leaks, &err), 0);
    return leaks;
}

/* If this fails, suppressions written for LeakSanitizer hide other blocks here than with
 * LeakSanitizer. */
static void
patterns_match_as_in_leak_sanitizer(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"foo", "xfoox", true},  {"foo", "fo", false},
        {"^foo", "foox", true},  {"^foo", "xfoo", false},
        {"foo$", "xfoo", true},  {"foo$", "foox", false},
        {"^foo$", "foo", true},  {"^foo$", "foofoo", false},
        {"a*b", "xaxxbx", true}, {"a*b", "ba", false},
        {"^a*b$", "ab", true},   {"^a*b$", "abab", true},
        {"^a*b$", "aba", false}, {"^ab*ba$", "aba", false},
        {"*", "", true},         {"", "anything", true},
        {"^$", "", true},        {"^$", "x", false},
        {"a**b", "ab", true},    {"*.so$", "/lib/x.so", true},
        {"^", "x", true},        {"a$b", "xa$bx", true},
        {"a^b", "a^b", true},    {"a*a*a$", "aa", false},
    };

    (void)state;
    for (size_t i = 0; i < countof(cases); i++)
        if (glob_match(cases[i].pattern, cases[i].text) != cases[i].matches)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].text);
    assert_true(glob_match("", NULL));
    assert_false(glob_match("x", NULL));
}

/* If this fails, comments, blanks or line ends of a suppression file are misread. */
static void
comments_and_blanks_are_passed_over(void **state)
{
    struct suppressions s =
        leaks_parse("# comment\n\n  leak:one  \r\n\t#x\nleak:two words\nleak:three");

    (void)state;
    assert_int_equal(s.count, 3);
    assert_string_equal(s.v[0].pattern, "one");
    assert_string_equal(s.v[0].origin, "test.supp:3");
    assert_string_equal(s.v[1].pattern, "two words");
    assert_string_equal(s.v[2].pattern, "three");
}

/* If this fails, a mistake in a suppression file is ignored or not located. */
static void
a_mistake_is_told_with_its_line(void **state)
{
    static const char *const bad[] = {"leak:a\nrace:b\n", "leak:a\nleak:\n", "leak:a\nfoo"};
    struct err err;

    (void)state;
    for (size_t i = 0; i < countof(bad); i++) {
        struct suppressions s = {0};

        assert_int_equal(suppress_parse(&s, bad[i], strlen(bad[i]), "t.supp", &arena, &err),
                         HEAPTAP_BAD_INPUT);
        assert_non_null(strstr(err.text, "t.supp:2"));
        assert_int_equal(s.count, 1);
    }
}

/* If this fails, a damaged suppression file hides all leaks without a message. */
static void
a_pattern_that_a_nul_ends_at_once_is_empty(void **state)
{
    static const char text[] = "leak:a\nleak:\0b\n";
    struct suppressions s = {0};
    struct err err;

    (void)state;
    assert_int_equal(suppress_parse(&s, text, sizeof text - 1, "t.supp", &arena, &err),
                     HEAPTAP_BAD_INPUT);
    assert_non_null(strstr(err.text, "t.supp:2: the pattern is empty"));
    assert_int_equal(s.count, 1);
}

/* If this fails, freed blocks are listed, live blocks are not listed, or the order is wrong. */
static void
leaks_are_what_is_live(void **state)
{
    struct profile *p = build_profile_new();
    struct suppressions none = {0};
    struct leaks leaks;

    (void)state;
    build_site(p, build_counters(5, 50, 5, 50), "clean@a.c:1", NULL);
    build_site(p, build_counters(2, 20, 1, 10), "small@a.c:2", NULL);
    build_site(p, build_counters(3, 300, 1, 100), "large@a.c:3", NULL);
    build_site(p, build_counters(1, 0, 0, 0), "empty@a.c:4", NULL);
    leaks = test_leaks_find(p, &none);
    assert_int_equal(leaks.count, 3);
    assert_int_equal(counters_live_bytes(&leaks.v[0]->counters), 200);
    assert_int_equal(counters_live_bytes(&leaks.v[1]->counters), 10);
    assert_int_equal(counters_live_blocks(&leaks.v[2]->counters), 1);
    assert_int_equal(counters_live_bytes(&leaks.stacks.total), 210);
    profile_free(p);
}

/* If this fails, a suppression by function, file, module or wrapper has no effect, or is not
 * counted. */
static void
suppressions_match_any_frame(void **state)
{
    struct profile *p = build_profile_new();
    struct suppressions s = leaks_parse("leak:xmalloc\nleak:^b.c$\nleak:libz.so\nleak:unused");
    struct leaks leaks;

    (void)state;
    build_site(p, build_counters(1, 1, 0, 0), "xmalloc@x.c:1", "f@a.c:1", NULL);
    build_site(p, build_counters(1, 2, 0, 0), "g@b.c:1", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 4, 0, 0), "h@c.c:1!/lib/libz.so.1", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "kept@d.c:1", "main@a.c:9", NULL);
    leaks = test_leaks_find(p, &s);
    assert_int_equal(leaks.count, 1);
    assert_int_equal(counters_live_bytes(&leaks.stacks.total), 8);
    assert_int_equal(leaks.suppressed_bytes, 7);
    assert_int_equal(leaks.suppressed_blocks, 3);
    assert_int_equal(s.v[0].counters.allocated_bytes, 1);
    assert_int_equal(s.v[1].counters.allocated_bytes, 2);
    assert_int_equal(s.v[2].counters.allocated_bytes, 4);
    assert_int_equal(s.v[3].counters.allocations, 0);
    profile_free(p);
}

/* If this fails, a function of a stripped program that a report shows cannot be suppressed. */
static void
suppressions_match_nameless_functions_by_what_is_shown(void **state)
{
    struct profile *p = build_profile_new();
    struct suppressions s = leaks_parse(
        "leak:^prog+0x1f0$\nleak:^prog+0x1f00$\nleak:^x.so+0x2f00\xe2\x80\xa6$\nleak:0x5000");
    struct leaks leaks;

    (void)state;
    build_site(p, build_counters(1, 1, 0, 0), "!/bin/prog", "main@a.c:1", NULL);
    build_site(p, build_counters(1, 2, 0, 0), "!/lib/x.so", "main@a.c:1", NULL);
    build_site(p, build_counters(1, 4, 0, 0), "f@a.c:5", "main@a.c:1", NULL);
    for (size_t i = 1; i < p->location_count; i++) {
        struct profile_location *l = &p->locations[i];
        const struct profile_module *m = &p->modules[l->module];

        if (strcmp(m->path, "/bin/prog") == 0)
            l->function_start = m->bias + 0x1f00;
        else if (strcmp(m->path, "/lib/x.so") == 0)
            l->function_start = m->bias + 0x2f00;
        else
            l->address = m->bias + 0x5001;
    }
    leaks = test_leaks_find(p, &s);
    assert_int_equal(leaks.suppressed_bytes, 3);
    assert_int_equal(s.v[0].counters.allocations, 0);
    assert_int_equal(s.v[1].counters.allocated_bytes, 1);
    assert_int_equal(s.v[2].counters.allocated_bytes, 2);
    assert_int_equal(s.v[3].counters.allocations, 0); // The function at that address has a name.
    profile_free(p);
}

/* If this fails, leaks in a program's constructors are hidden, or the run-time's blocks are not. */
static void
builtin_suppressions_look_at_the_innermost(void **state)
{
    struct profile *p = build_profile_new();
    struct suppressions s = {0};
    struct leaks leaks;

    (void)state;
    suppress_add_builtin(&s, &arena);
    build_site(p, build_counters(1, 1, 0, 0), "my_constructor@a.c:1",
               "call_init!/lib64/ld-linux-x86-64.so.2", NULL);
    build_site(p, build_counters(1, 2, 0, 0), "malloc",
               "_dl_new_object!/lib64/ld-linux-x86-64.so.2", "main@a.c:1", NULL);
    build_site(p, build_counters(1, 4096, 0, 0), "_IO_file_doallocate!/lib/libc.so.6", "main@a.c:2",
               NULL);
    build_site(p, build_counters(1, 72704, 0, 0), "!/usr/lib/libstdc++.so.6", NULL);
    build_site(p, build_counters(1, 72, 0, 0), "!/usr/lib/libstdc++.so.6", "main@a.c:3", NULL);
    leaks = test_leaks_find(p, &s);
    assert_int_equal(leaks.count, 2);
    assert_int_equal(counters_live_bytes(&leaks.stacks.total), 73);
    assert_int_equal(leaks.suppressed_bytes, 2 + 4096 + 72704);
    profile_free(p);
}

/* If this fails, a program's function hides its leaks because a library's function has the same
 * name, or a library's memory counts as a leak of the program. */
static void
builtin_suppressions_are_bound_to_their_libraries(void **state)
{
    struct profile *p = build_profile_new();
    struct suppressions s = {0};
    struct leaks leaks;

    (void)state;
    suppress_add_builtin(&s, &arena);
    // The program's own functions, with and without debug information.
    build_site(p, build_counters(1, 1, 0, 0), "btree_allocate_node@tree.c:3", "main@a.c:1", NULL);
    build_site(p, build_counters(1, 2, 0, 0), "btree_allocate_node", "main@a.c:2", NULL);
    build_site(p, build_counters(1, 4, 0, 0), "tzset_internal", "main@a.c:3", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "(anonymous namespace)::pool::pool()@pool.cc:2",
               "_GLOBAL__sub_I_eh_alloc.cc", NULL);
    build_site(p, build_counters(1, 16, 0, 0), "localtime@a.c:9", "main@a.c:4", NULL);
    build_site(p, build_counters(1, 72704, 0, 0), "", "main@a.c:5", NULL);
    // libc returns these to the program.
    build_site(p, build_counters(1, 32, 0, 0), "__GI___gconv_open!/lib/libc.so.6",
               "iconv_open!/lib/libc.so.6", "main@a.c:6", NULL);
    build_site(p, build_counters(1, 64, 0, 0), "__fopen_internal!/lib/libc.so.6", "main@a.c:7",
               NULL);
    // Below the program's callback nothing is libc's.
    build_site(p, build_counters(1, 128, 0, 0), "plug_in@b.c:1", "dlopen!/lib/libc.so.6",
               "main@a.c:8", NULL);
    // Kept by libc, and by the parts of the runtime that are linked into the program.
    build_site(p, build_counters(1, 256, 0, 0), "new_composite_name!/lib/libc.so.6",
               "__GI_setlocale!/lib/libc.so.6", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 512, 0, 0), "__GI___tsearch!/lib/libc.so.6",
               "__gconv_find_shlib!/lib/libc.so.6", "iconv_open!/lib/libc.so.6", "main@a.c:6",
               NULL);
    build_site(p, build_counters(1, 1024, 0, 0), "btree_allocate_node",
               "__register_frame_info", "frame_dummy", NULL);
    build_site(p, build_counters(1, 72704, 0, 0), "_GLOBAL__sub_I_eh_alloc.cc",
               "call_init!/lib/libc.so.6", NULL);
    build_site(p, build_counters(1, 73728, 0, 0), "", "call_init!/lib/libc.so.6", NULL);
    leaks = test_leaks_find(p, &s);
    assert_int_equal(leaks.count, 9);
    assert_int_equal(counters_live_bytes(&leaks.stacks.total), 255 + 72704);
    assert_int_equal(leaks.suppressed_bytes, 1024 + 512 + 256 + 72704 + 73728);
    profile_free(p);
}

/* If this fails, a static program's list of loaded objects counts as its leak. */
static void
builtin_suppressions_match_a_static_libc(void **state)
{
    struct profile *p = build_profile_new();
    struct suppressions s = {0};
    struct leaks leaks;

    (void)state;
    suppress_add_builtin(&s, &arena);
    build_site(p, build_counters(1, 1, 0, 0), "_dl_new_object", "_dl_non_dynamic_init", NULL);
    build_site(p, build_counters(1, 2, 0, 0), "_dl_new_object@mine.c:3", "main@a.c:1", NULL);
    leaks = test_leaks_find(p, &s);
    assert_int_equal(counters_live_bytes(&leaks.stacks.total), 2);
    assert_int_equal(leaks.suppressed_bytes, 1);
    profile_free(p);
}

/* If this fails, `leaks --at` lists libstdc++'s pool for exceptions, and `diff --fail-over leaks=0`
 * between a moment and the end counts it on one side only. */
static void
builtin_sizes_match_at_a_moment_too(void **state)
{
    static const struct profile_point peak = {.name = "peak", .is_peak = true};
    struct profile *p = build_profile_new();
    struct counters two_sizes = build_counters(2, 2 * 73728, 0, 0);
    struct suppressions s = {0};
    struct leaks leaks;

    (void)state;
    suppress_add_builtin(&s, &arena);
    two_sizes.size_min -= 8;
    two_sizes.size_max += 8;
    build_site(p, build_counters(1, 73728, 0, 0), "!/usr/lib/libstdc++.so.6", NULL);
    build_site(p, two_sizes, "!/usr/lib/libstdc++.so.6", "main@a.c:3", NULL);
    profile_cut(p, NULL, &peak);
    leaks = test_leaks_find(p, &s);
    assert_int_equal(leaks.count, 1);
    assert_int_equal(counters_live_bytes(&leaks.stacks.total), 2 * 73728);
    assert_int_equal(leaks.suppressed_bytes, 73728);
    profile_free(p);
}

/* If this fails, the rows of `leaks --between` contradict the growth above them. */
static void
rows_and_shrunk_stacks_add_up_to_the_growth(void **state)
{
    struct profile *p = build_profile_new();
    struct suppressions none = {0};
    struct strbuf out = {0};
    struct leaks leaks;
    struct paths paths;
    struct functions functions;
    struct leak_paths l = {&leaks, &none, &paths, &functions, false};
    struct text_view v = {
        .base = {.p = p, .stacks = &leaks.stacks, .arena = &arena}, .style = {.width = 80},
        .out = &out};
    struct json j;

    (void)state;
    p->extent = EXTENT_BETWEEN;
    p->from.name = p->to.name = "";
    build_site(p, build_counters(3, 300, 1, 100), "grown@a.c:1", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 100, 6, 600), "shrunk@a.c:2", "main@a.c:9", NULL);
    build_site(p, build_counters(0, 0, 2, 20), "freed@a.c:3", "main@a.c:9", NULL);
    build_site(p, build_counters(2, 50, 2, 50), "rested@a.c:4", "main@a.c:9", NULL);
    leaks = test_leaks_find(p, &none);
    assert_int_equal(leaks.count, 1);
    assert_int_equal(leaks.shrunk_stacks, 2);
    assert_int_equal(leaks.shrunk_blocks, -7);
    assert_int_equal(leaks.shrunk_bytes, -520);
    assert_int_equal(counters_live_bytes(&leaks.stacks.total), 200 - 520);

    text_leaks(&v, &leaks, &none);
    assert_non_null(strstr(strbuf_text(&out), "        -520 B  in 2 sites that shrank\n"));
    strbuf_clear(&out);
    functions_init(&functions, p, &arena);
    paths_build(&functions, leaks.v, leaks.count, &(struct paths_options){0}, &arena, &paths);
    text_paths(&v, &l);
    assert_non_null(strstr(strbuf_text(&out), "     2  200 B  || > main > grown\n"));
    assert_non_null(strstr(strbuf_text(&out), "        -520 B  in 2 sites that shrank\n"));
    strbuf_clear(&out);
    json_begin(&j, &out, JSON_VERSION_TABLES);
    json_paths(&j, &v.base, &l, SIZE_MAX);
    json_leaks(&j, &v.base, &leaks, &none, SIZE_MAX);
    assert_non_null(strstr(strbuf_text(&out), "\"shrunk\": {\n"));
    assert_non_null(strstr(strstr(strbuf_text(&out), "\"leaks\""), "\"live_bytes\": -520,\n"));
    functions_release(&functions);
    strbuf_release(&out);
    profile_free(p);
}

static int
leaks_release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_in_leak_sanitizer),
        cmocka_unit_test(comments_and_blanks_are_passed_over),
        cmocka_unit_test(a_mistake_is_told_with_its_line),
        cmocka_unit_test(a_pattern_that_a_nul_ends_at_once_is_empty),
        cmocka_unit_test(leaks_are_what_is_live),
        cmocka_unit_test(suppressions_match_any_frame),
        cmocka_unit_test(suppressions_match_nameless_functions_by_what_is_shown),
        cmocka_unit_test(builtin_suppressions_look_at_the_innermost),
        cmocka_unit_test(builtin_suppressions_are_bound_to_their_libraries),
        cmocka_unit_test(builtin_suppressions_match_a_static_libc),
        cmocka_unit_test(builtin_sizes_match_at_a_moment_too),
        cmocka_unit_test(rows_and_shrunk_stacks_add_up_to_the_growth),
    };

    return cmocka_run_group_tests(tests, NULL, leaks_release);
}
