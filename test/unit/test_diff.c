/* test_diff.c: differences between two profiles built here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build_profile.h"
#include "json/json.h"
#include "text/text.h"

/* Two profiles and the working state of their comparison. */
struct pair {
    struct arena arena;
    struct profile *before, *after;
    struct stacks stacks[2];
};

static int
make_pair(void **state)
{
    struct pair *t = xmalloc(sizeof *t);

    *t = (struct pair){.before = build_profile_new(), .after = build_profile_new()};
    t->before->path = "old.heaptap";
    t->after->path = "new.heaptap";
    *state = t;
    return 0;
}

static int
release_pair(void **state)
{
    struct pair *t = *state;

    profile_free(t->before);
    profile_free(t->after);
    arena_release(&t->arena);
    free(t);
    return 0;
}

static struct diff
diff_compare(struct pair *t, enum diff_by by, enum metric metric)
{
    struct stacks_options options = {0};
    struct err err = {""};
    struct diff d;

    assert_int_equal(stacks_build(t->before, &options, &t->arena, &t->stacks[0], &err), 0);
    assert_int_equal(stacks_build(t->after, &options, &t->arena, &t->stacks[1], &err), 0);
    diff_build(&(struct diff_side){t->before, &t->stacks[0]},
               &(struct diff_side){t->after, &t->stacks[1]}, by, metric, &t->arena, &d);
    return d;
}

/* Return the row whose innermost function is FUNCTION; fail the test if there is none. */
static const struct diff_row *
diff_row_of(const struct diff *d, const char *function)
{
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->rows[i].frames[0].function, function) == 0)
            return &d->rows[i];
    fail_msg("no row for %s", function);
    return NULL;
}

/* If this fails, an edit that moves lines, or another load address, looks like growth. */
static void
moved_code_is_the_same_site(void **state)
{
    struct pair *t = *state;
    struct diff d;

    // The additional site in front shifts all addresses of the second profile.
    build_site(t->after, build_counters(1, 1, 0, 0), "+early@z.c:1!/lib/z.so",
               "start@z.c:2!/lib/z.so", NULL);
    build_site(t->before, build_counters(2, 200, 0, 0), "+make@src/a.c:3", "work@src/a.c:10",
               "main@m.c:5", NULL);
    build_site(t->after, build_counters(3, 350, 0, 0), "+make@src/a.c:33", "work@src/a.c:44",
               "main@m.c:6", NULL);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    assert_int_equal(d.count, 2);
    assert_string_equal(d.rows[0].frames[0].function, "make");
    assert_int_equal(d.rows[0].depth, 3);
    assert_int_equal(d.rows[0].frames[0].line, 33);
    assert_true(d.rows[0].frames[0].inlined);
    assert_int_equal(counters_live_bytes(&d.rows[0].before), 200);
    assert_int_equal(counters_live_bytes(&d.rows[0].after), 350);
    assert_int_equal(diff_growth(&d.rows[0].before, &d.rows[0].after, METRIC_INUSE), 150);
    assert_int_equal(diff_growth(&d.rows[0].before, &d.rows[0].after, METRIC_COUNT), 1);
    assert_int_equal(counters_live_bytes(&d.before), 200);
    assert_int_equal(counters_live_bytes(&d.after), 351);
}

/* If this fails, a program built in another directory seems to have lost all stacks and gained as
 * many. */
static void
a_build_in_another_directory_is_the_same(void **state)
{
    struct pair *t = *state;
    struct diff d;

    build_site(t->before, build_counters(1, 100, 0, 0), "f@/a/src/x/util.c:3!/a/prog",
               "main@/a/src/main.c:5!/a/prog", NULL);
    build_site(t->before, build_counters(1, 10, 0, 0), "f@/a/src/y/util.c:3!/a/prog",
               "main@/a/src/main.c:6!/a/prog", NULL);
    build_site(t->after, build_counters(1, 110, 0, 0), "f@/build/b/src/x/util.c:4!/build/b/prog",
               "main@/build/b/src/main.c:5!/build/b/prog", NULL);
    build_site(t->after, build_counters(1, 10, 0, 0), "f@/build/b/src/y/util.c:3!/build/b/prog",
               "main@/build/b/src/main.c:6!/build/b/prog", NULL);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    assert_int_equal(d.count, 2);
    assert_string_equal(d.rows[0].frames[0].file, "/build/b/src/x/util.c");
    assert_string_equal(d.rows[0].frames[0].module, "/build/b/prog");
    assert_int_equal(d.rows[0].frames[0].line, 4);
    assert_int_equal(counters_live_bytes(&d.rows[0].before), 100);
    assert_int_equal(counters_live_bytes(&d.rows[0].after), 110);
    assert_false(diff_changed(&d.rows[1]));
    d = diff_compare(t, DIFF_BY_FUNCTION, METRIC_INUSE);
    assert_int_equal(d.count, 3); // util.c has two rows, main has one.
    assert_string_equal(diff_row_of(&d, "main")->frames[0].file, "/build/b/src/main.c");
}

/* If this fails, different files are treated as one, and growth in one hides in the other. */
static void
files_match_only_where_that_is_certain(void **state)
{
    struct pair *t = *state;
    struct diff d;

    // same.c exists on both sides; two.c matches two files equally well.
    build_site(t->before, build_counters(1, 1, 0, 0), "f@/a/same.c:1", NULL);
    build_site(t->after, build_counters(1, 1, 0, 0), "f@/a/same.c:1", NULL);
    build_site(t->after, build_counters(1, 2, 0, 0), "f@/b/same.c:1", NULL);
    build_site(t->before, build_counters(1, 3, 0, 0), "g@/a/p/two.c:1", NULL);
    build_site(t->after, build_counters(1, 4, 0, 0), "g@/b/q/two.c:1", NULL);
    build_site(t->after, build_counters(1, 5, 0, 0), "g@/b/r/two.c:1", NULL);
    // These names have only a suffix in common.
    build_site(t->before, build_counters(1, 6, 0, 0), "h@/a/list.c:1", NULL);
    build_site(t->after, build_counters(1, 7, 0, 0), "h@/a/mylist.c:1", NULL);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    assert_int_equal(d.count, 7);
    for (size_t i = 0; i < d.count; i++)
        assert_int_equal(d.rows[i].in_before && d.rows[i].in_after,
                         strcmp(d.rows[i].frames[0].file, "/a/same.c") == 0);
}

/* If this fails, the sum of several lines of a function is attributed to one line. */
static void
a_row_of_several_lines_says_so(void **state)
{
    struct pair *t = *state;
    struct diff d;

    build_site(t->before, build_counters(1, 1, 0, 0), "f@a.c:1", "main@m.c:5", NULL);
    build_site(t->before, build_counters(1, 2, 0, 0), "f@a.c:2", "main@m.c:5", NULL);
    build_site(t->before, build_counters(1, 1, 0, 0), "g@a.c:8", "main@m.c:6", NULL);
    build_site(t->after, build_counters(1, 5, 0, 0), "f@a.c:11", "main@m.c:5", NULL);
    build_site(t->after, build_counters(1, 6, 0, 0), "f@a.c:12", "main@m.c:5", NULL);
    build_site(t->after, build_counters(1, 3, 0, 0), "g@a.c:18", "main@m.c:6", NULL);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    assert_int_equal(d.count, 2);
    assert_int_equal(counters_live_bytes(&diff_row_of(&d, "f")->after), 11);
    assert_int_equal(diff_row_of(&d, "f")->frames[0].line, 11);
    assert_true(diff_row_of(&d, "f")->frames[0].several_lines);
    assert_false(diff_row_of(&d, "f")->frames[1].several_lines);
    assert_false(diff_row_of(&d, "g")->frames[0].several_lines);
}

/* If this fails, a renamed, moved or newly inlined function is treated as the old function. */
static void
a_renamed_function_is_another_site(void **state)
{
    struct pair *t = *state;
    struct diff d;

    build_site(t->before, build_counters(1, 100, 0, 0), "old_name@a.c:3", "main@m.c:5", NULL);
    build_site(t->after, build_counters(1, 100, 0, 0), "new_name@a.c:3", "main@m.c:5", NULL);
    build_site(t->before, build_counters(1, 10, 0, 0), "same@a.c:3", "main@m.c:5", NULL);
    build_site(t->after, build_counters(1, 20, 0, 0), "same@b.c:3", "main@m.c:5", NULL);
    build_site(t->before, build_counters(1, 7, 0, 0), "tiny@a.c:3", "main@m.c:5", NULL);
    build_site(t->after, build_counters(1, 7, 0, 0), "+tiny@a.c:3", "main@m.c:5", NULL);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    assert_int_equal(d.count, 6);
    assert_int_equal(counters_live_bytes(&diff_row_of(&d, "old_name")->after), 0);
    assert_int_equal(counters_live_bytes(&diff_row_of(&d, "old_name")->before), 100);
    assert_int_equal(counters_live_bytes(&diff_row_of(&d, "new_name")->before), 0);
    assert_int_equal(counters_live_bytes(&diff_row_of(&d, "new_name")->after), 100);
    // Sorted by the size of the change, equal ones by name: 100 100 20 10 7 7.
    assert_string_equal(d.rows[0].frames[0].function, "new_name");
    assert_string_equal(d.rows[1].frames[0].function, "old_name");
    assert_int_equal(counters_live_bytes(&d.rows[2].after), 20);
    assert_int_equal(counters_live_bytes(&d.rows[3].before), 10);
    assert_string_equal(d.rows[5].frames[0].function, "tiny");
}

/* If this fails, `diff --metric` sorts by one number and shows another, or lists a stack that did
 * not change. */
static void
rows_are_sorted_by_the_metric(void **state)
{
    struct pair *t = *state;
    struct counters churn = build_counters(100, 1000, 100, 1000);
    struct diff d;

    churn.temporary = 90;
    build_site(t->before, build_counters(1, 50, 0, 0), "kept@a.c:1", "main@m.c:5", NULL);
    build_site(t->after, build_counters(1, 80, 0, 0), "kept@a.c:1", "main@m.c:5", NULL);
    build_site(t->after, churn, "churn@a.c:2", "main@m.c:5", NULL);
    build_site(t->before, build_counters(2, 2, 0, 0), "still@a.c:3", NULL);
    build_site(t->after, build_counters(2, 2, 0, 0), "still@a.c:4", NULL);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    assert_string_equal(d.rows[0].frames[0].function, "kept");
    assert_false(diff_changed(diff_row_of(&d, "still")));
    assert_true(diff_changed(diff_row_of(&d, "churn")));
    d = diff_compare(t, DIFF_BY_SITE, METRIC_ALLOC);
    assert_string_equal(d.rows[0].frames[0].function, "churn");
    assert_int_equal(diff_growth(&d.before, &d.after, METRIC_ALLOC), 1030);
    assert_int_equal(diff_growth(&d.before, &d.after, METRIC_INUSE), 30);
    assert_int_equal(diff_growth(&d.before, &d.after, METRIC_TEMPORARY), 90);
    assert_int_equal(diff_growth(&d.before, &d.after, METRIC_COUNT), 100);
}

/* If this fails, when two lines of a function form one row without their numbers, only one is
 * counted, and the row seems to have grown. */
static void
lines_that_read_the_same_are_added_up(void **state)
{
    struct pair *t = *state;
    struct diff d;

    build_site(t->before, build_counters(1, 100, 0, 0), "f@a.c:3", "main@m.c:5", NULL);
    build_site(t->before, build_counters(1, 11, 0, 0), "f@a.c:4", "main@m.c:6", NULL);
    build_site(t->after, build_counters(1, 111, 0, 0), "f@a.c:9", "main@m.c:7", NULL);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    assert_int_equal(d.count, 1);
    assert_int_equal(diff_growth(&d.rows[0].before, &d.rows[0].after, METRIC_INUSE), 0);
    assert_int_equal(counters_live_blocks(&d.rows[0].before), 2);
}

/* If this fails, `diff --by function` counts a stack once for each level of a recursion, or takes
 * the growth of callees for a function's own. */
static void
a_recursive_stack_counts_once(void **state)
{
    struct pair *t = *state;
    const struct diff_row *walk, *leaf, *main_row;
    struct diff d;

    build_site(t->before, build_counters(1, 100, 0, 0), "leaf@a.c:1", "walk@a.c:2", "walk@a.c:2",
               "walk@a.c:3", "main@m.c:5", NULL);
    build_site(t->after, build_counters(1, 160, 0, 0), "leaf@a.c:1", "walk@a.c:2", "walk@a.c:3",
               "main@m.c:5", NULL);
    build_site(t->after, build_counters(1, 9, 0, 0), "walk@a.c:7", "main@m.c:5", NULL);
    d = diff_compare(t, DIFF_BY_FUNCTION, METRIC_INUSE);
    assert_int_equal(d.count, 3);
    walk = diff_row_of(&d, "walk");
    leaf = diff_row_of(&d, "leaf");
    main_row = diff_row_of(&d, "main");
    assert_int_equal(counters_live_bytes(&walk->inclusive_before), 100);
    assert_int_equal(counters_live_bytes(&walk->inclusive_after), 169);
    assert_int_equal(counters_live_bytes(&walk->before), 0);
    assert_int_equal(counters_live_bytes(&walk->after), 9);
    assert_int_equal(diff_growth(&leaf->before, &leaf->after, METRIC_INUSE), 60);
    assert_int_equal(diff_growth(&main_row->before, &main_row->after, METRIC_INUSE), 0);
    assert_int_equal(
        diff_growth(&main_row->inclusive_before, &main_row->inclusive_after, METRIC_INUSE), 69);
    assert_ptr_equal(leaf, &d.rows[0]);
    assert_ptr_equal(walk, &d.rows[1]);
}

/* If this fails, any address in a library without symbols matches any other address, or a library
 * loaded at another address matches nothing. */
static void
frames_without_symbols_match_by_place(void **state)
{
    struct pair *t = *state;
    struct diff d;

    build_site(t->before, build_counters(1, 10, 0, 0), "!/lib/x.so", "main@m.c:5", NULL);
    build_site(t->after, build_counters(1, 30, 0, 0), "!/lib/x.so", "main@m.c:5", NULL);
    build_site(t->after, build_counters(1, 5, 0, 0), "f@a.c:1", "!/lib/y.so", NULL);
    build_site(t->before, build_counters(1, 1, 0, 0), NULL);
    build_site(t->after, build_counters(1, 2, 0, 0), NULL);
    // Another address space layout.
    t->after->modules[2].bias += 0x5000;
    for (size_t i = 1; i < t->after->location_count; i++)
        if (t->after->locations[i].module == 2)
            t->after->locations[i].address += 0x5000;
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    assert_int_equal(d.count, 3);
    assert_int_equal(counters_live_bytes(&d.rows[0].before), 10);
    assert_int_equal(counters_live_bytes(&d.rows[0].after), 30);
    assert_int_equal(counters_live_bytes(&diff_row_of(&d, "[other stacks]")->after), 2);
}

/* If this fails, comparing with a program that allocated nothing ends `heaptap diff`, or shows no
 * growth. */
static void
an_empty_side_is_compared(void **state)
{
    struct pair *t = *state;
    struct diff d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);

    assert_int_equal(d.count, 0);
    build_site(t->after, build_counters(1, 30, 0, 0), "f@a.c:1", NULL);
    d = diff_compare(t, DIFF_BY_FUNCTION, METRIC_INUSE);
    assert_int_equal(d.count, 1);
    assert_int_equal(diff_growth(&d.before, &d.after, METRIC_INUSE), 30);
}

static const struct style plain = {.width = 80};

static struct diff_view
diff_view_of(struct pair *t, const struct diff *d, enum diff_by by)
{
    return (struct diff_view){.before = t->before,
                              .after = t->after,
                              .diff = d,
                              .by = by,
                              .metric = METRIC_INUSE,
                              .arena = &t->arena,
                              .limit = 10};
}

static void
build_two_changes(struct pair *t)
{
    build_site(t->before, build_counters(2, 2048, 0, 0), "cache_insert@src/cache.c:41",
               "main@m.c:5", NULL);
    build_site(t->after, build_counters(5, 5120, 0, 0), "cache_insert@src/cache.c:43", "main@m.c:5",
               NULL);
    build_site(t->before, build_counters(1, 1000, 0, 0), "+gone@/a/very/long/path/x.c:3",
               "main@m.c:7", NULL);
    build_site(t->before, build_counters(1, 8, 0, 0), "still@a.c:1", "main@m.c:8", NULL);
    build_site(t->after, build_counters(1, 8, 0, 0), "still@a.c:1", "main@m.c:8", NULL);
}

/* If this fails, the text of `heaptap diff` is wrong, or its columns have moved. */
static void
the_text_shows_totals_and_changes(void **state)
{
    struct pair *t = *state;
    struct strbuf out = {0};
    struct diff_view v;
    struct diff d;

    build_two_changes(t);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    v = diff_view_of(t, &d, DIFF_BY_SITE);
    text_diff(&v, &plain, 12, &out);
    assert_string_equal(strbuf_text(&out),
                        "before  old.heaptap  prog --test\n"
                        "after   new.heaptap  prog --test\n"
                        "\n"
                        "                  before         after        growth\n"
                        "in use           3.0 KiB       5.0 KiB      +2.0 KiB  +67.8 %\n"
                        "peak             3.0 KiB       5.0 KiB      +2.0 KiB  +67.8 %\n"
                        "allocated        3.0 KiB       5.0 KiB      +2.0 KiB  +67.8 %\n"
                        "short-lived            0             0             0\n"
                        "calls                  4             6            +2  +50.0 %\n"
                        "\n"
                        "in use: 2 of 3 stacks changed\n"
                        "\n"
                        "  +3.0 KiB   2.0 KiB -> 5.0 KiB, 2 -> 5 blocks\n"
                        "           cache_insert   src/cache.c:43\n"
                        "           main           m.c:5\n"
                        "\n"
                        "   -1000 B   1000 B -> 0 B, 1 -> 0 blocks\n"
                        "           gone   path/x.c:3 (inlined)\n"
                        "           main   m.c:7\n"
                        "\n");
    strbuf_release(&out);
}

/* If this fails, a fix that saves two thirds of all calls is reported as "nothing changed". */
static void
what_changed_in_another_metric_is_offered(void **state)
{
    struct pair *t = *state;
    struct strbuf out = {0};
    struct diff_view v;
    struct diff d;

    build_site(t->before, build_counters(9, 900, 9, 900), "churn@a.c:1", "main@m.c:5", NULL);
    build_site(t->after, build_counters(3, 300, 3, 300), "churn@a.c:1", "main@m.c:5", NULL);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    v = diff_view_of(t, &d, DIFF_BY_SITE);
    text_diff(&v, &plain, 12, &out);
    assert_non_null(strstr(strbuf_text(&out), "in use: 0 of 1 stack changed\n"
                                              "Others changed: --alloc (1), --count (1)\n"));
    strbuf_release(&out);
}

/* If this fails, each stack of a comparison ends in the C library's start-up code, which reports
 * omit, or claims more frames than are ever shown. */
static void
start_up_code_is_left_out_of_the_text(void **state)
{
    struct pair *t = *state;
    struct strbuf out = {0};
    struct diff_view v;
    struct diff d;

    build_site(t->after, build_counters(1, 8, 0, 0), "f@a.c:1", "main@m.c:2",
               "__libc_start_call_main!/lib/libc.so.6", "__libc_start_main_impl!/lib/libc.so.6",
               "_start", NULL);
    build_site(t->after, build_counters(1, 9, 0, 0), "work@a.c:3",
               "start_thread!/lib/libc.so.6", "__clone3!/lib/libc.so.6", NULL);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    assert_int_equal(d.rows[0].depth, 3); // JSON contains all frames.
    assert_int_equal(d.rows[1].depth, 5);
    v = diff_view_of(t, &d, DIFF_BY_SITE);
    text_diff(&v, &plain, 12, &out);
    assert_non_null(strstr(strbuf_text(&out), "           work   a.c:3\n\n"));
    assert_non_null(strstr(strbuf_text(&out), "           f      a.c:1\n"
                                              "           main   m.c:2\n\n"));
    strbuf_clear(&out);
    text_diff(&v, &plain, 1, &out);
    assert_non_null(strstr(strbuf_text(&out), "           \xe2\x80\xa6 1 more frame\n"));
    strbuf_release(&out);
}

/* If this fails, live bytes that threads had not published yet look like a growth of the peak. */
static void
a_peak_within_its_error_is_noise(void **state)
{
    struct pair *t = *state;
    struct strbuf out = {0};
    struct diff_view v;
    struct diff d;

    build_two_changes(t);
    t->before->peak_error_bytes = 3072;
    t->after->peak_error_bytes = 1032;
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    v = diff_view_of(t, &d, DIFF_BY_SITE);
    text_diff(&v, &plain, 12, &out);
    assert_non_null(strstr(strbuf_text(&out), "peak             3.0 KiB       5.0 KiB      +2.0 KiB"
                                              "  +67.8 %\n"));
    assert_non_null(strstr(strbuf_text(&out), "(within noise: -1000 B to +3.0 KiB)\n"));
    assert_null(strstr(strstr(strbuf_text(&out), "allocated"), "noise"));
    strbuf_release(&out);
}

/* If this fails, a long name breaks the lines of an 80-column terminal, or a hostile name sends
 * control sequences to the terminal. */
static void
no_line_of_a_diff_is_too_wide(void **state)
{
    struct pair *t = *state;
    struct strbuf out = {0};
    struct diff_view v;
    struct diff d;
    char name[400];

    memset(name, 'n', sizeof name);
    strcpy(name + 300, "@/quite/a/long/path/with_a_file_name_that_goes_on_and_on.cc:12345");
    t->after->process.command =
        "a command\x1b[31m of some length, which fills more than eighty columns of a line";
    build_site(t->after, build_counters(1000000, 987654321012345, 0, 0), name,
               "\x1b[2Jevil@\x07.c:1", NULL);
    for (int by = DIFF_BY_SITE; by <= DIFF_BY_FUNCTION; by++) {
        d = diff_compare(t, (enum diff_by)by, METRIC_INUSE);
        v = diff_view_of(t, &d, (enum diff_by)by);
        strbuf_clear(&out);
        text_diff(&v, &plain, 12, &out);
        assert_null(strpbrk(strbuf_text(&out), "\x1b\x07"));
        for (char *line = strtok(out.text, "\n"); line != NULL; line = strtok(NULL, "\n"))
            assert_true(style_width(line) <= 80);
    }
    strbuf_release(&out);
}

/* If this fails, growth is not red on a terminal, or a pipe gets escape sequences. */
static void
colours_are_for_terminals_only(void **state)
{
    const struct style coloured = {.width = 80, .colour = true};
    struct pair *t = *state;
    struct strbuf out = {0};
    struct diff_view v;
    struct diff d;

    build_two_changes(t);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    v = diff_view_of(t, &d, DIFF_BY_SITE);
    text_diff(&v, &plain, 12, &out);
    assert_null(strchr(out.text, '\x1b'));
    strbuf_clear(&out);
    text_diff(&v, &coloured, 12, &out);
    assert_non_null(strstr(out.text, "\x1b[31m+3.0 KiB\x1b[0m"));
    assert_non_null(strstr(out.text, "\x1b[32m-1000 B\x1b[0m"));
    strbuf_release(&out);
}

/* If this fails, scripts that read `diff --json` break; docs/json.md is the contract. */
static void
the_json_of_a_diff_keeps_its_contract(void **state)
{
    struct pair *t = *state;
    struct strbuf out = {0};
    struct json j;
    struct diff_view v;
    struct diff d;

    build_two_changes(t);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    v = diff_view_of(t, &d, DIFF_BY_SITE);
    json_begin(&j, &out, JSON_VERSION_NESTED);
    json_diff(&j, &v);
    assert_non_null(strstr(
        out.text, "\"format\": \"heaptap-diff\",\n  \"version\": 1,\n  \"metric\": \"inuse\",\n"
                  "  \"by\": \"site\""));
    assert_non_null(strstr(
        out.text, "\"growth\": {\n    \"inuse\": 2072,\n    \"peak\": 2072,\n    \"alloc\": 2072,\n"
                  "    \"temporary\": 0,\n    \"count\": 2,\n    \"died_within_16\": 0\n  }"));
    assert_non_null(strstr(out.text, "\"unchanged_rows\": 1"));
    assert_non_null(strstr(out.text,
                           "\"function\": \"cache_insert\",\n          \"file\": \"src/cache.c\",\n"
                           "          \"line\": 43,\n          \"module\": \"/usr/bin/prog\",\n"
                           "          \"inlined\": false"));
    assert_null(strstr(out.text, "still"));
    strbuf_clear(&out);
    v.limit = 1;
    json_begin(&j, &out, JSON_VERSION_NESTED);
    json_diff(&j, &v);
    assert_null(strstr(out.text, "gone"));
    strbuf_clear(&out);
    d = diff_compare(t, DIFF_BY_FUNCTION, METRIC_INUSE);
    v = diff_view_of(t, &d, DIFF_BY_FUNCTION);
    json_begin(&j, &out, JSON_VERSION_NESTED);
    json_diff(&j, &v);
    assert_non_null(strstr(out.text, "\"by\": \"function\""));
    assert_non_null(strstr(out.text, "\"inclusive_growth\": {\n        \"inuse\": 2072"));
    strbuf_release(&out);
}

/* If this fails, scripts cannot distinguish a session from a process, or processes of two
 * containers. */
static void
the_json_says_whose_profiles_the_sides_are(void **state)
{
    struct profile_program program = {.executable = "/usr/bin/prog", .processes = 3};
    struct pair *t = *state;
    struct strbuf out = {0};
    struct json j;
    struct diff_view v;
    struct diff d;
    const char *after;

    t->before->process.pid = 7;
    t->before->process.pid_here = 4711;
    t->after->process.pid = 0;
    t->after->merged_processes = 3;
    t->after->merged_left_out = 1;
    t->after->programs = &program;
    t->after->program_count = 1;
    build_two_changes(t);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_INUSE);
    v = diff_view_of(t, &d, DIFF_BY_SITE);
    json_begin(&j, &out, JSON_VERSION_TABLES);
    json_diff(&j, &v);
    assert_int_equal(j.depth, 0);
    assert_non_null(strstr(out.text, "\"pid\": 7,\n    \"pid_here\": 4711,\n"));
    after = strstr(out.text, "\"after\": {");
    assert_non_null(after);
    assert_non_null(strstr(after, "\"pid\": 0,\n    \"merged\": {\n      \"processes\": 3,\n"
                                  "      \"damaged\": 0,\n      \"left_out\": 1,\n"));
    assert_true(strstr(out.text, "\"merged\"") > after);
    assert_null(strstr(after, "pid_here"));
    strbuf_release(&out);
}

enum { PERIOD = 1000 };

/* Add a site with SAMPLES sampled blocks of 10 bytes to P. */
static void
add_sampled(struct profile *p, const char *function, int64_t samples)
{
    struct counters c = build_counters(samples * PERIOD / 10, samples * PERIOD, 0, 0);
    uint32_t site = build_site(p, c, function, "main@m.c:5", NULL);
    double n = (double)samples;
    struct error_sum sum = {.samples = n,
                            .blocks = n * PERIOD / 10,
                            .bytes = n * PERIOD,
                            .blocks_variance = n * PERIOD / 10 * PERIOD / 10,
                            .bytes_variance = n * PERIOD * PERIOD};
    struct errors missed = profile_missed(p, &c);

    profile_change_site_errors(p, site)->allocated = sum;
    errors_add_units(profile_change_site_errors(p, site), &missed);
}

static void
make_sampled(struct profile *p)
{
    p->modes = arena_array(&p->arena, 1, sizeof *p->modes);
    p->modes[0] = (struct profile_recording_mode){.mode = MODE_BYTES, .period = PERIOD};
    p->mode_count = 1;
    p->longest_bytes = PERIOD;
}

/* If this fails, people chase a growth that is sampling noise, or a real one is called noise. */
static void
a_growth_within_the_draw_is_noise(void **state)
{
    struct pair *t = *state;
    struct diff d;

    make_sampled(t->before);
    make_sampled(t->after);
    add_sampled(t->before, "same@a.c:1", 100);
    add_sampled(t->after, "same@a.c:1", 115);
    add_sampled(t->before, "grew@a.c:2", 100);
    add_sampled(t->after, "grew@a.c:2", 160);
    add_sampled(t->before, "shrank@a.c:3", 160);
    add_sampled(t->after, "shrank@a.c:3", 100);
    add_sampled(t->after, "perhaps_new@a.c:4", 2);
    add_sampled(t->after, "surely_new@a.c:5", 20);
    for (int by = DIFF_BY_SITE; by <= DIFF_BY_FUNCTION; by++) {
        d = diff_compare(t, (enum diff_by)by, METRIC_ALLOC);
        assert_true(d.is_estimate);
        for (int inclusive = 0; inclusive < 2; inclusive++)
            for (int m = METRIC_INUSE; m <= METRIC_COUNT; m++) {
                if (m == METRIC_PEAK || m == METRIC_TEMPORARY)
                    continue;
                assert_true(diff_is_noise(diff_row_of(&d, "same"), (enum metric)m, inclusive));
                assert_true(
                    diff_is_noise(diff_row_of(&d, "perhaps_new"), (enum metric)m, inclusive));
                assert_false(diff_is_noise(diff_row_of(&d, "grew"), (enum metric)m, inclusive));
                assert_false(diff_is_noise(diff_row_of(&d, "shrank"), (enum metric)m, inclusive));
                assert_false(
                    diff_is_noise(diff_row_of(&d, "surely_new"), (enum metric)m, inclusive));
            }
        assert_false(diff_is_noise(diff_row_of(&d, "grew"), METRIC_TEMPORARY, false));
    }
}

/* Add a site to both profiles, with 10 temporary blocks and 60 that died within 16 allocations. */
static void
add_short_lived(struct pair *t)
{
    struct counters c = build_counters(100, 100, 100, 100);

    c.temporary = 10;
    c.ended_16 = 60;
    build_site(t->before, c, "churn@a.c:1", NULL);
    build_site(t->after, c, "churn@a.c:1", NULL);
}

/* If this fails, a program seems to have got worse because only the later recorder counts lives. */
static void
lives_are_compared_as_far_as_both_know(void **state)
{
    struct pair *t = *state;
    struct diff d;

    add_short_lived(t);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_TEMPORARY);
    assert_int_equal(metric_value(&d.before, METRIC_TEMPORARY), 70);
    profile_clear_lifetimes(t->before);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_TEMPORARY);
    assert_int_equal(metric_value(&d.after, METRIC_TEMPORARY), 10);
    assert_int_equal(diff_growth(&d.before, &d.after, METRIC_TEMPORARY), 0);
    assert_int_equal(diff_growth(&d.rows[0].before, &d.rows[0].after, METRIC_TEMPORARY), 0);
}

/* If this fails, an exact profile and a sampled one are compared as if both were exact, or two
 * exact profiles as if they were estimates. */
static void
an_exact_side_has_no_noise(void **state)
{
    struct pair *t = *state;
    struct diff_row *row;
    struct interval i;
    struct diff d;

    build_site(t->before, build_counters(10000, 100000, 0, 0), "same@a.c:1", "main@m.c:5", NULL);
    build_site(t->after, build_counters(10000, 100001, 0, 0), "same@a.c:1", "main@m.c:5", NULL);
    d = diff_compare(t, DIFF_BY_SITE, METRIC_ALLOC);
    row = &d.rows[0];
    i = diff_interval(&row->before, row->before_errors, &row->after, row->after_errors,
                      METRIC_ALLOC);
    assert_false(d.is_estimate);
    assert_true(i.low == 1 && i.high == 1);
    assert_false(diff_is_noise(row, METRIC_ALLOC, false));

    make_sampled(t->after);
    add_sampled(t->after, "same@a.c:1", 15); // These are in addition to the exact blocks.
    d = diff_compare(t, DIFF_BY_SITE, METRIC_ALLOC);
    row = &d.rows[0];
    assert_true(d.is_estimate);
    assert_false(diff_is_noise(row, METRIC_ALLOC, false));
    i = diff_interval(&row->before, row->before_errors, &row->after, row->after_errors,
                      METRIC_ALLOC);
    assert_true(i.low > 5000 && i.low < 15001 && i.high > 15001 && i.high < 30000);
}

#define PAIR_TEST(f) cmocka_unit_test_setup_teardown(f, make_pair, release_pair)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        PAIR_TEST(start_up_code_is_left_out_of_the_text),
        PAIR_TEST(moved_code_is_the_same_site),
        PAIR_TEST(a_renamed_function_is_another_site),
        PAIR_TEST(a_build_in_another_directory_is_the_same),
        PAIR_TEST(files_match_only_where_that_is_certain),
        PAIR_TEST(a_row_of_several_lines_says_so),
        PAIR_TEST(rows_are_sorted_by_the_metric),
        PAIR_TEST(lines_that_read_the_same_are_added_up),
        PAIR_TEST(a_recursive_stack_counts_once),
        PAIR_TEST(frames_without_symbols_match_by_place),
        PAIR_TEST(an_empty_side_is_compared),
        PAIR_TEST(the_text_shows_totals_and_changes),
        PAIR_TEST(what_changed_in_another_metric_is_offered),
        PAIR_TEST(no_line_of_a_diff_is_too_wide),
        PAIR_TEST(colours_are_for_terminals_only),
        PAIR_TEST(the_json_of_a_diff_keeps_its_contract),
        PAIR_TEST(the_json_says_whose_profiles_the_sides_are),
        PAIR_TEST(a_growth_within_the_draw_is_noise),
        PAIR_TEST(lives_are_compared_as_far_as_both_know),
        PAIR_TEST(an_exact_side_has_no_noise),
        PAIR_TEST(a_peak_within_its_error_is_noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
