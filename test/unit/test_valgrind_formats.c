/* test_valgrind_formats.c: profiles in the formats of valgrind's tools, byte by byte.
 * test/run/tools/valgrind_formats.py tests how these tools read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "build_profile.h"
#include "command/exporters.h"

static struct arena arena;

/* Return P in the format NAME, below a frame for its heap if ROOTED. The caller releases it. */
static struct strbuf
exported_as(const struct profile *p, const char *name, enum metric metric, bool rooted)
{
    const struct exporter *e = export_find(name);
    struct stacks_options stacks_options = {.filter = NULL};
    struct export_options options = {.metric = metric,
                                     .roots = {rooted ? ROOT_HEAP : ROOT_NONE, NULL}};
    struct strbuf out = {0};
    struct stacks stacks;
    struct err err = {""};

    assert_non_null(e);
    assert_int_equal(stacks_build(p, &stacks_options, &arena, &stacks, &err), 0);
    assert_int_equal(e->write(p, &stacks, &options, &out, &err), 0);
    return out;
}

/* Return true if P in the format NAME contains TEXT. */
static bool
has(const struct profile *p, const char *name, const char *text)
{
    struct strbuf out = exported_as(p, name, METRIC_INUSE, false);
    bool found = strstr(strbuf_text(&out), text) != NULL;

    if (!found)
        print_error("not in there: %s\n%s\n", text, strbuf_text(&out));
    strbuf_release(&out);
    return found;
}

/* If this fails, kcachegrind shows wrong functions, lines or costs. */
static void
callgrind_has_self_costs_and_calls(void **state)
{
    struct profile *p = build_profile_small();
    struct strbuf out = exported_as(p, "callgrind", METRIC_PEAK, false);
    const char *body = strstr(strbuf_text(&out), "positions:");

    (void)state;
    assert_non_null(body);
    assert_string_equal(
        body, "positions: line\n"
              "events: PeakBytes InuseBytes InuseObjs AllocBytes AllocObjs PeakObjs TemporaryObjs "
              "ShortLivedObjs\n"
              "summary: 262 262 9 418 18 9\n"
              "\nob=(0) ???\nfl=(1) ???\nfn=(1) [all stacks]\n"
              "cob=(1) /usr/bin/prog\ncfi=(2) src/a.c\ncfn=(2) main\ncalls=17 0\n"
              "0 257 257 8 413 17 8\n"
              "cfn=(6) [other stacks]\ncalls=1 0\n0 5 5 1 5 1 1\n"
              "\nob=(1)\nfl=(2)\nfn=(2)\n"
              "cfn=(3) work\ncalls=3 0\n20 200 200 2 300 3 2\n"
              "cfn=(3)\ncalls=5 0\n21 50 50 5 50 5 5\n"
              "cob=(2) /usr/lib/libx.so\ncfi=(3) lib/x.c\ncfn=(5) open_it\ncalls=9 0\n"
              "22 7 7 1 63 9 1\n"
              "\nob=(1)\nfl=(2)\nfn=(3)\n11 50 50 5 50 5 5\n"
              "cfn=(4) make\ncalls=3 0\n10 200 200 2 300 3 2\n"
              "\nob=(1)\nfl=(2)\nfn=(4)\n3 200 200 2 300 3 2\n"
              "\nob=(2)\nfl=(3)\nfn=(5)\n4 7 7 1 63 9 1\n"
              "\nob=(0)\nfl=(1)\nfn=(6)\n0 5 5 1 5 1 1\n"
              "\ntotals: 262 262 9 418 18 9\n");
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, recursion makes a function look larger than the program. */
static void
callgrind_charges_a_call_back_into_the_stack_to_nobody(void **state)
{
    struct profile *p = build_profile_new();

    (void)state;
    build_site(p, build_counters(2, 10, 0, 0), "h@a.c:9", "f@a.c:2", "g@a.c:3", "f@a.c:1",
               "g@a.c:3", "f@a.c:1", "main@a.c:8", NULL);
    assert_true(has(p, "callgrind", "fn=(3)\n" // f
                                    "cfn=(4) g\ncalls=2 0\n1 10 2 10 2 10 2\n"
                                    "cfn=(5) h\ncalls=2 0\n2 10 2 10 2 10 2\n"));
    assert_true(has(p, "callgrind", "fn=(4)\n" // g, which calls f
                                    "cfn=(3)\ncalls=2 0\n3 0\n"));
    assert_true(has(p, "callgrind", "\ntotals: 10 2 10 2 10 2\n"));
    profile_free(p);
}

/* If this fails, a name breaks a line apart, or a function without one is lost. */
static void
awkward_names_stay_on_their_line_for_valgrind(void **state)
{
    struct profile *p = build_profile_new();
    char long_name[2001];

    (void)state;
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    build_site(p, build_counters(1, 10, 0, 0), "(anonymous)::\"f\";\n\x1b[1mx@my file.c:1",
               "gr\xc3\xbc\xc3\x9f\xff@b.c:2", NULL);
    build_site(p, build_counters(1, 20, 0, 0), "!/usr/lib/libq.so", long_name, NULL);
    assert_true(has(p, "callgrind", ") my file.c\ncfn=(3) (anonymous)::\"f\"; ?[1mx\n"));
    assert_true(has(p, "callgrind", ") gr\xc3\xbc\xc3\x9f?\n"));
    assert_true(has(p, "callgrind", ") libq.so+0x103f\n"));
    assert_true(has(p, "callgrind", long_name));
    assert_true(has(p, "massif", ": (anonymous)::\"f\"; ?[1mx (my file.c:1)\n"));
    assert_true(has(p, "massif", ": gr\xc3\xbc\xc3\x9f? (b.c:2)\n"));
    assert_true(has(p, "massif", ": libq.so+0x103f (in /usr/lib/libq.so)\n"));
    assert_true(has(p, "massif", long_name));
    assert_true(has(p, "dhat", ": (anonymous)::\\\"f\\\"; ?[1mx (my file.c:1)\""));
    assert_true(has(p, "dhat", ": gr\xc3\xbc\xc3\x9f? (b.c:2)\""));
    assert_true(has(p, "dhat", long_name));
    profile_free(p);
}

/* If this fails, --root-by does nothing. */
static void
heaps_stand_above_their_stacks(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;
    uint32_t site;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "f@a.c:1", NULL);
    site = build_site(p, build_counters(1, 20, 0, 0), "f@a.c:1", NULL);
    build_tags(p, site, build_heap(p, "pool"), 0);
    out = exported_as(p, "callgrind", METRIC_INUSE, true);
    assert_non_null(strstr(strbuf_text(&out), "cfn=(2) [malloc]\ncalls=1 0\n0 10 "));
    assert_non_null(strstr(strbuf_text(&out), "cfn=(4) [heap pool]\ncalls=1 0\n0 20 "));
    strbuf_release(&out);
    profile_free(p);
}

#define SNAPSHOT(n, time, bytes, tree)                                                             \
    "#-----------\nsnapshot=" n "\n#-----------\ntime=" time "\nmem_heap_B=" bytes                 \
    "\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=" tree "\n"
#define ALLOCATES " (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"

/* If this fails, ms_print shows wrong trees, or no trees. */
static void
massif_without_a_history_has_the_peak_and_the_end(void **state)
{
    struct profile *p = build_profile_small();
    const char *end = "n4: 262" ALLOCATES " n1: 200 0x1040101F: make (a.c:3)\n"
                      "  n1: 200 0x1040101F: work (a.c:10)\n   n0: 200 0x1040100F: main (a.c:20)\n"
                      " n1: 50 0x1040103F: work (a.c:11)\n  n0: 50 0x1040102F: main (a.c:21)\n"
                      " n1: 7 0x2040105F: open_it (x.c:4)\n  n0: 7 0x1040104F: main (a.c:22)\n"
                      " n0: 5 0x0: [other stacks]\n";
    const char *peak = SNAPSHOT("1", "3000", "262", "peak");

    (void)state;
    p->peak_elapsed_ns = 3000000000;
    p->process.elapsed_ns = 5000000000;
    assert_true(has(p, "massif", "cmd: prog --test\ntime_unit: ms\n"));
    assert_true(has(p, "massif", SNAPSHOT("0", "0", "0", "empty") "#-"));
    assert_true(has(p, "massif", peak));
    assert_true(has(p, "massif", arena_printf(&arena, "%s%s", peak, end)));
    assert_true(has(p, "massif", arena_printf(&arena, "%s%s",
                                              SNAPSHOT("2", "5000", "262", "detailed"), end)));
    profile_free(p);
}

/* If this fails, a tree has lines for invisible nodes, or loses their bytes. */
static void
massif_adds_up_what_is_below_its_threshold(void **state)
{
    struct profile *p = build_profile_new();

    (void)state;
    build_site(p, build_counters(1, 9900, 0, 0), "most@a.c:1", NULL);
    build_site(p, build_counters(1, 99, 0, 0), "little@a.c:2", NULL);
    assert_true(has(p, "massif", "n2: 9999" ALLOCATES " n0: 9900 0x1040100F: most (a.c:1)\n"
                                 " n0: 99 in 1 place, all below massif's threshold (1.00%)\n"));
    build_site(p, build_counters(1, 1, 0, 0), "less@a.c:3", NULL);
    assert_true(has(p, "massif", "n2: 10000" ALLOCATES " n0: 9900 0x1040100F: most (a.c:1)\n"
                                 " n0: 100 in 2 places, all below massif's threshold (1.00%)\n"));
    build_site(p, build_counters(1, 102, 0, 0), "enough@a.c:4", NULL);
    assert_true(has(p, "massif", "n3: 10102" ALLOCATES));
    assert_true(has(p, "massif", " n0: 102 0x1040103F: enough (a.c:4)\n n0: 100 in 2 places"));
    profile_free(p);
}

/* If this fails, ms_print stops because a part is larger than the whole, or a number is
 * negative. */
static void
massif_counts_what_is_negative_as_nothing(void **state)
{
    struct profile *p = build_profile_new();

    (void)state;
    build_site(p, build_counters(1, 10, 3, 30), "torn@a.c:1", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "whole@a.c:2", NULL);
    assert_true(has(p, "massif", "mem_heap_B=8\nmem_heap_extra_B=0\nmem_stacks_B=0\n"
                                 "heap_tree=detailed\nn1: 8" ALLOCATES
                                 " n0: 8 0x1040101F: whole (a.c:2)\n"));
    profile_free(p);
}

/* If this fails, dh_view shows wrong numbers, or stops at a repeated stack. */
static void
dhat_has_each_stack_once(void **state)
{
    struct profile *p = build_profile_small();
    uint32_t site = build_site(p, build_counters(2, 20, 2, 20), "work@src/a.c:11",
                               "main@src/a.c:21", NULL);
    struct strbuf rooted;

    (void)state;
    build_tags(p, site, build_heap(p, "pool"), 0);
    p->sites[0].counters.peak_bytes = 100;
    p->sites[0].counters.peak_blocks = 1;
    p->peak_elapsed_ns = 3000000;
    p->process.elapsed_ns = 5000000;
    assert_true(has(p, "dhat",
                    "\"cmd\": \"prog --test\",\n  \"pid\": 4242,\n  \"te\": 5000,\n"
                    "  \"tg\": 3000,\n"));
    assert_true(has(p, "dhat",
                    "    {\"tb\": 300, \"tbk\": 3, \"mb\": 200, \"mbk\": 2, \"gb\": 100, "
                    "\"gbk\": 1, \"eb\": 200, \"ebk\": 2, \"fs\": [1, 2, 3]},\n"
                    "    {\"tb\": 70, \"tbk\": 7, \"mb\": 50, \"mbk\": 5, \"gb\": 50, "
                    "\"gbk\": 5, \"eb\": 50, \"ebk\": 5, \"fs\": [4, 5]},\n"));
    assert_true(has(p, "dhat", "\"fs\": [8]}\n  ],\n  \"ftbl\": [\n    \"[root]\",\n"
                               "    \"0x1040101F: make (a.c:3)\",\n"));
    rooted = exported_as(p, "dhat", METRIC_INUSE, true);
    assert_non_null(strstr(strbuf_text(&rooted), "{\"tb\": 20, \"tbk\": 2, "));
    assert_non_null(strstr(strbuf_text(&rooted), "\"[heap pool]\""));
    strbuf_release(&rooted);
    profile_free(p);
}

/* If this fails, the file has values that no reader expects, or 0 for unknown ones. */
static void
callgrind_of_a_moment_has_what_is_known_and_nothing_negative(void **state)
{
    struct profile *p = build_profile_new();
    uint32_t site = build_site(p, build_counters(1, 10, 3, 30), "f@a.c:1", NULL);

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "g@a.c:1", NULL);
    p->extent = EXTENT_BETWEEN;
    p->totals.partial = p->sites[site].counters.partial = true;
    assert_true(has(p, "callgrind",
                    "desc: Some values are negative and count as 0\npositions: line\n"
                    "events: InuseBytes InuseObjs AllocBytes AllocObjs\nsummary: 8 1 18 2\n"));
    p->extent = EXTENT_PEAK;
    assert_true(has(p, "callgrind", "events: InuseBytes InuseObjs\nsummary: 8 1\n"));
    profile_free(p);
}

/* If this fails, the profile of a program without allocations stops its reader. */
static void
a_program_without_allocations_is_exported_to_valgrind(void **state)
{
    struct profile *p = build_profile_new();

    (void)state;
    assert_true(has(p, "callgrind", "summary: 0\n\ntotals: 0\n"));
    assert_true(has(p, "massif", "heap_tree=peak\nn0: 0" ALLOCATES));
    assert_true(has(p, "dhat", "\"pps\": [],\n  \"ftbl\": [\n    \"[root]\"\n  ]\n}"));
    profile_free(p);
}

static int
valgrind_formats_release_arena(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callgrind_has_self_costs_and_calls),
        cmocka_unit_test(callgrind_charges_a_call_back_into_the_stack_to_nobody),
        cmocka_unit_test(awkward_names_stay_on_their_line_for_valgrind),
        cmocka_unit_test(heaps_stand_above_their_stacks),
        cmocka_unit_test(massif_without_a_history_has_the_peak_and_the_end),
        cmocka_unit_test(massif_adds_up_what_is_below_its_threshold),
        cmocka_unit_test(massif_counts_what_is_negative_as_nothing),
        cmocka_unit_test(dhat_has_each_stack_once),
        cmocka_unit_test(callgrind_of_a_moment_has_what_is_known_and_nothing_negative),
        cmocka_unit_test(a_program_without_allocations_is_exported_to_valgrind),
    };

    return cmocka_run_group_tests(tests, NULL, valgrind_formats_release_arena);
}
