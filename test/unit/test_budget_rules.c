/* test_budget_rules.c: the syntax of budgets, and profiles judged by their rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/callgraph.h"
#include "build_profile.h"
#include "option/budget_file.h"

static struct arena arena;
static struct budget budget;
static struct budget_report report;

/* Parse TEXT, which is valid. */
static void
parse_budget(const char *text)
{
    struct strbuf errors = {0};
    int rc = budget_file_parse(text, strlen(text), "b.txt", &arena, &budget, &errors);

    if (rc != 0)
        fail_msg("%s", strbuf_text(&errors));
    strbuf_release(&errors);
}

static void
assert_errors(const char *text, const char *wanted)
{
    struct strbuf errors = {0};

    assert_int_equal(budget_file_parse(text, strlen(text), "b.txt", &arena, &budget, &errors),
                     HEAPTAP_USAGE);
    assert_string_equal(strbuf_text(&errors), wanted);
    strbuf_release(&errors);
}

static bool
baseline_of_test(void *arg, const char *program, const char *test, const char *what,
                 struct budget_values *ret)
{
    (void)test;
    *ret = *(const struct budget_values *)arg;
    return strcmp(program, "prog") == 0 && strcmp(what, "alloc") == 0;
}

/* Judge the rules TEXT for P, and return the results. */
static const struct budget_result *
judge_subject(const char *text, struct budget_subject s)
{
    struct arena scratch = {0};

    parse_budget(text);
    report = (struct budget_report){0};
    s.program = "prog";
    budget_judge(&budget, &s, &scratch, &arena, &report);
    arena_release(&scratch);
    budget_judge_rest(&budget, &arena, &report);
    return report.v;
}

static const struct budget_result *
judge_profile(const char *text, struct profile *p)
{
    return judge_subject(text, (struct budget_subject){.p = p});
}

/* If this fails, a build is judged by another rule than its author wrote. */
static void
rules_are_read_as_written(void **state)
{
    const struct budget_rule *r;

    (void)state;
    parse_budget("# all\n"
                 "  peak <= 64M # a comment\n"
                 "self allocated of std::map<int, Foo>::insert(int const&) == 1 + 2K\r\n"
                 "[program \"cc 1\" test Codec.*]\n"
                 "maybe short-lived of path \"main > f \\\"x\\\" > *\" <= 20%\n"
                 "allow cut-stacks\n"
                 "leaks of operator== <= baseline + 2.5% + 4K");
    assert_int_equal(budget.count, 4);
    r = budget.v;
    assert_string_equal(r[0].text, "peak <= 64M");
    assert_string_equal(r[0].what, "peak");
    assert_int_equal(r[0].amount, 64 << 20);
    assert_int_equal(r[0].line, 2);
    assert_int_equal(r[0].column, 3);
    assert_true(r[0].program == NULL && r[0].test == NULL && !r[0].is_exact);
    assert_string_equal(r[1].what,
                        "self alloc of function \"std::map<int, Foo>::insert(int const&)\"");
    assert_true(r[1].is_exact && r[1].self && !r[1].maybe);
    assert_int_equal(r[1].amount, 2049);
    assert_string_equal(r[2].program, "cc 1");
    assert_string_equal(r[2].test, "Codec.*");
    assert_string_equal(r[2].name, "main > f \"x\" > *");
    assert_true(r[2].maybe && r[2].has_percent && r[2].of == LIMIT_TEMPORARY);
    assert_int_equal(r[2].percent, 20 * (uint64_t)PERCENT_SCALE);
    assert_string_equal(r[3].name, "operator==");
    assert_true(r[3].of_baseline);
    assert_int_equal(r[3].percent, PERCENT_SCALE / 10 * 25);
    assert_int_equal(r[3].amount, 4096);
    assert_int_equal(budget.allows, BUDGET_ALLOW_CUT_STACKS);
}

/* If this fails, an author repairs a budget one error at a time, or searches for the place. */
static void
all_errors_are_found_with_their_places(void **state)
{
    (void)state;
    assert_errors("peak <= 64X\n"
                  "  peek <= 5\n"
                  "peak 5\n"
                  "inuse <= 5%\n"
                  "[test\n"
                  "allow all\n"
                  "leaks of \"a <= 1\n"
                  "leaks <= 0\n"
                  "leaks == 1\n"
                  "leaks <= baseline\n"
                  "self alloc <= 1\n"
                  "corruption of f <= 0\n"
                  "alloc <= 1 2\n",
                  "b.txt:1:9: '64X' is no limit; write a number, a size such as 64K or 1.5M, a "
                  "percentage or baseline\n"
                  "b.txt:2:3: 'peek' is no amount (did you mean peak?); use peak, leaks, inuse, "
                  "alloc, allocations, temporary or corruption\n"
                  "b.txt:3:6: a comparison is missing; write <= or == and a limit\n"
                  "b.txt:4:10: the percentage has no base; write \"baseline + 5%\", or give a "
                  "size\n"
                  "b.txt:5:6: a section ends with ], and the line with it\n"
                  "b.txt:6:7: only \"losses\" and \"cut-stacks\" can be allowed\n"
                  "b.txt:7:10: the quotation mark is not closed\n"
                  "b.txt:9:1: the rule in line 8 limits the same amount; keep one\n"
                  "b.txt:11:1: self needs a function, a module or a language; write \"of\" and "
                  "its name\n"
                  "b.txt:12:12: corruption is counted for the whole process only\n"
                  "b.txt:13:12: only \"+\" and a further term may follow\n");
    assert_errors("# nothing\n",
                  "b.txt:1:1: the budget has no rule; write one such as \"peak <= 64M\"\n");
}

/* If this fails, a function's limit covers other blocks than the call graph shows. */
static void
functions_have_the_amounts_of_the_call_graph(void **state)
{
    struct profile *p = build_profile_small();
    const struct stacks_options all = {.no_fold = true, .merge_labels = true};
    struct functions functions;
    struct callgraph graph;
    struct stacks stacks;
    struct err err;
    size_t compared = 0;

    (void)state;
    assert_int_equal(stacks_build(p, &all, &arena, &stacks, &err), 0);
    functions_init(&functions, p, &arena);
    callgraph_build(&functions, &stacks, METRIC_ALLOC, &arena, &graph);
    for (uint32_t f = FUNCTION_FIRST; f < graph.function_count; f++) {
        const char *name = functions_name(&functions, f);
        const struct budget_result *r;

        if (amount_sum(&graph.nodes[f].inclusive) == 0)
            continue;
        r = judge_profile(arena_printf(&arena, "allow cut-stacks\nalloc of \"%s\" <= 0\n"
                                               "self alloc of \"%s\" <= 0\n", name, name), p);
        assert_int_equal(r[0].limit.value, amount_sum(&graph.nodes[f].inclusive));
        assert_int_equal(r[1].limit.value, amount_sum(&graph.nodes[f].self));
        assert_int_equal(r[0].outcome, BUDGET_OVER);
        compared++;
    }
    assert_true(compared >= 3);
    functions_release(&functions);
    profile_free(p);
}

/* Return a profile in which main calls load and save, load calls itself and parse, and parse
 * calls make<int>. The functions parse, make<int> and save allocate. */
static struct profile *
recursive(void)
{
    struct profile *p = build_profile_new();

    build_site(p, build_counters(3, 300, 1, 100), "T* make<int>(long)@a.cc:1", "parse@a.cc:2",
               "load@a.cc:3", "load@a.cc:4", "main@a.cc:5", NULL);
    build_site(p, build_counters(2, 20, 0, 0), "parse@a.cc:2", "load@a.cc:3", "main@a.cc:5", NULL);
    build_site(p, build_counters(1, 7, 1, 7), "save@a.cc:9", "main@a.cc:6", NULL);
    return p;
}

/* If this fails, recursion inflates an amount, a template is not found by its name, or a path
 * covers other stacks. */
static void
scopes_select_stacks(void **state)
{
    static const struct {
        const char *of;
        int64_t bytes;
    } cases[] = {
        {"alloc", 327},
        {"alloc of load", 320},
        {"self alloc of load", 0},
        {"self alloc of parse", 20},
        {"alloc of make", 300},
        {"alloc of \"make<int>(long)\"", 300},
        {"alloc of [ls]*", 327},
        {"alloc of path \"main > load > *\"", 320},
        {"alloc of path \"main > load > parse\"", 20},
        {"alloc of path \"* > parse > *\"", 320},
        {"alloc of path \"main > * > make\"", 300},
        {"alloc of path \"load > *\"", 0},
        {"alloc of module prog", 327},
        {"alloc of heap malloc", 327},
    };
    struct profile *p = recursive();

    (void)state;
    for (size_t i = 0; i < countof(cases); i++) {
        const struct budget_result *r =
            judge_profile(arena_printf(&arena, "%s <= %d\n", cases[i].of, (int)cases[i].bytes), p);
        bool is_class = strstr(cases[i].of, "[ls]*") != NULL;

        assert_int_equal(r->outcome, is_class ? BUDGET_ABSENT : BUDGET_WITHIN);
        if (!is_class && r->limit.value != cases[i].bytes)
            fail_msg("%s: %d", cases[i].of, (int)r->limit.value);
    }
    profile_free(p);
}

/* If this fails, a limit is off by one, or the message names another function or stack. */
static void
a_limit_is_exact_to_the_byte(void **state)
{
    struct profile *p = recursive();
    const struct budget_result *r = judge_profile("alloc of load <= 319\nallocations of load == 6\n"
                                                  "alloc of load <= baseline\nalloc of save <= 50%"
                                                  "\ninuse of load <= 10%\n", p);

    (void)state;
    assert_int_equal(r[0].outcome, BUDGET_OVER);
    assert_int_equal(r[0].limit.value, 320);
    assert_int_equal(r[0].limit.allowed, 319);
    assert_string_equal(r[0].frames[0].function, "T* make<int>(long)");
    assert_string_equal(r[0].frames[0].file, "a.cc");
    assert_int_equal(r[0].frames[0].line, 1);
    assert_non_null(r[0].limit.cause.function);
    assert_int_equal(r[1].outcome, BUDGET_UNDER);
    assert_int_equal(r[2].outcome, BUDGET_UNKNOWN);
    assert_non_null(strstr(r[2].reason, "--baseline"));
    assert_int_equal(r[3].outcome, BUDGET_WITHIN);
    assert_int_equal(r[3].limit.allowed, 163);
    assert_int_equal(r[4].outcome, BUDGET_OVER);
    assert_int_equal(budget_exit(&report), 1);
    profile_free(p);
}

static bool
defines_audio(void *arg, const struct profile *p, const char *pattern)
{
    (void)arg;
    (void)p;
    return strcmp(pattern, "audio") == 0;
}

/* If this fails, a misspelt rule holds for ever, or a function that never allocates fails. */
static void
a_name_must_match_something(void **state)
{
    struct profile *p = recursive();
    const struct budget_result *r = judge_subject(
        "allocations of audio == 0\nallocations of adio == 0\nmaybe allocations of x* == 0\n"
        "[program other]\npeak <= 1\n[program oth*]\nmaybe leaks <= 0\n[test T]\npeak <= 1\n",
        (struct budget_subject){.p = p, .defines = defines_audio});

    (void)state;
    assert_int_equal(report.count, 6);
    assert_int_equal(r[0].outcome, BUDGET_WITHIN);
    assert_int_equal(r[1].outcome, BUDGET_ABSENT);
    assert_int_equal(r[2].outcome, BUDGET_LEFT_OUT);
    assert_int_equal(r[3].outcome, BUDGET_UNKNOWN);
    assert_int_equal(r[4].outcome, BUDGET_LEFT_OUT);
    assert_int_equal(r[5].outcome, BUDGET_UNKNOWN);
    profile_free(p);
}

/* If this fails, a rule by test counts other tests' blocks, or a test escapes its rule. */
static void
tests_are_judged_one_by_one(void **state)
{
    struct profile *p = recursive();
    const struct budget_result *r;

    (void)state;
    build_tags(p, 0, 0, build_labels(p, "test", "Codec.A", NULL));
    build_tags(p, 1, 0, build_labels(p, "test", "Codec.B*", NULL));
    build_tags(p, 2, 0, build_labels(p, "test", "Other", NULL));
    r = judge_profile("[test \"Codec.*\"]\nalloc <= 100\nalloc of parse <= 100\n", p);
    assert_int_equal(report.count, 4);
    assert_string_equal(r[0].test, "Codec.A");
    assert_int_equal(r[0].limit.value, 300);
    assert_int_equal(r[1].limit.value, 300);
    assert_string_equal(r[2].test, "Codec.B*");
    assert_int_equal(r[2].limit.value, 20);
    assert_int_equal(r[2].outcome, BUDGET_WITHIN);
    p->losses.label_sets = 1;
    r = judge_profile("[test Codec.B*]\nalloc <= 100\n", p);
    assert_int_equal(r[0].outcome, BUDGET_UNKNOWN);
    profile_free(p);
}

/* If this fails, a build with missing numbers passes, or one over its limit is called unknown. */
static void
missing_numbers_are_never_green(void **state)
{
    struct profile *p = recursive();
    struct budget_subject s = {.p = p, .gap = "lacks 3 events"};
    const struct budget_result *r;

    (void)state;
    r = judge_subject("alloc <= 1M\nalloc of load <= 1\n", s);
    assert_int_equal(r[0].outcome, BUDGET_UNKNOWN);
    assert_string_equal(r[0].reason, "its profile lacks 3 events");
    assert_int_equal(r[1].outcome, BUDGET_OVER);
    assert_int_equal(budget_exit(&report), 1);
    r = judge_subject("allow losses\nalloc <= 1M\n", s);
    assert_int_equal(r[0].outcome, BUDGET_WITHIN);
    s.untrue = "is damaged";
    r = judge_subject("allow losses\nalloc <= 1\n", s);
    assert_int_equal(r[0].outcome, BUDGET_UNKNOWN);
    assert_int_equal(budget_exit(&report), 3);
    r = judge_profile("corruption <= 0\n", p);
    assert_int_equal(r[0].outcome, BUDGET_UNKNOWN);

    // Stacks without callers may contain any function.
    build_site(p, build_counters(1, 40, 0, 0), NULL);
    r = judge_profile("alloc of load <= 359\nalloc of save <= 47\nself alloc of parse <= 59\n"
                      "alloc of path \"main > save\" <= 46\nalloc <= 1M\n", p);
    assert_int_equal(r[0].outcome, BUDGET_UNKNOWN);
    assert_int_equal(r[1].outcome, BUDGET_WITHIN);
    assert_int_equal(r[2].outcome, BUDGET_UNKNOWN);
    assert_int_equal(r[3].outcome, BUDGET_UNKNOWN);
    assert_int_equal(r[4].outcome, BUDGET_WITHIN);
    r = judge_profile("allow cut-stacks\nalloc of load <= 359\n", p);
    assert_int_equal(r[0].outcome, BUDGET_WITHIN);
    profile_free(p);
}

/* If this fails, noise of a baseline's runs fails a build, or a growth beyond them does not. */
static void
growth_counts_from_the_largest_run(void **state)
{
    struct profile *p = recursive();
    struct budget_values values = {300, 310, 320, 320, 5};
    struct budget_subject s = {.p = p, .baseline = baseline_of_test, .arg = &values};
    const struct budget_result *r;

    (void)state;
    r = judge_subject("alloc <= baseline + 7\nalloc of load <= baseline\n", s);
    assert_int_equal(r[0].outcome, BUDGET_WITHIN);
    assert_int_equal(r[0].limit.before, 320);
    assert_int_equal(r[0].values.smallest, 300);
    assert_int_equal(r[1].outcome, BUDGET_UNKNOWN);
    r = judge_subject("alloc <= baseline + 6\n", s);
    assert_int_equal(r[0].outcome, BUDGET_OVER);
    r = judge_subject("alloc <= baseline + 1% + 4\n", s);
    assert_int_equal(r[0].limit.allowed, 7);
    assert_int_equal(r[0].outcome, BUDGET_WITHIN);
    values.most = 321;
    r = judge_subject("alloc <= baseline + 6\n", s);
    assert_int_equal(r[0].outcome, BUDGET_WITHIN);
    values = (struct budget_values){327, 330, 340, 340, 5};
    r = judge_subject("alloc == baseline\n", s);
    assert_int_equal(r[0].outcome, BUDGET_WITHIN);
    values.smallest = 328;
    r = judge_subject("alloc == baseline\n", s);
    assert_int_equal(r[0].outcome, BUDGET_UNDER);
    profile_free(p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_read_as_written),
        cmocka_unit_test(all_errors_are_found_with_their_places),
        cmocka_unit_test(functions_have_the_amounts_of_the_call_graph),
        cmocka_unit_test(scopes_select_stacks),
        cmocka_unit_test(a_limit_is_exact_to_the_byte),
        cmocka_unit_test(a_name_must_match_something),
        cmocka_unit_test(tests_are_judged_one_by_one),
        cmocka_unit_test(missing_numbers_are_never_green),
        cmocka_unit_test(growth_counts_from_the_largest_run),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    arena_release(&arena);
    return failed;
}
