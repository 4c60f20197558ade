/* test_report.c: output for people and programs: numbers, widths, tables, the views and their
 * JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/stacks.h"
#include "build_profile.h"
#include "json/json.h"
#include "profile/time_slice.h"
#include "text/text.h"
#include "text/text_view.h"
#include "util/amount.h"
#include "view/phrases.h"

#define LONG_CXX                                                                                   \
    "std::pair<std::_Rb_tree_iterator<std::pair<std::__cxx11::basic_string<char> const, "          \
    "std::vector<std::map<int, std::unordered_map<long, Widget*> > > > >, bool> "                  \
    "app::_Rb_tree<std::__cxx11::basic_string<char>, std::pair<int, int> >::_M_emplace<int>(int&&)"

static struct arena arena;
static const struct style plain = {.width = 80};

static void
assert_lines_fit(const char *text, size_t width)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        char *line = arena_strndup(&arena, text, length);

        if (style_width(line) > width)
            fail_msg("%zu columns: %s", style_width(line), line);
        if (length > 0 && line[length - 1] == ' ')
            fail_msg("blank at the end: '%s'", line);
        text += length + (text[length] == '\n');
    }
}

/* Return a view of P with STYLE that writes to OUT. */
static struct text_view
view(const struct profile *p, struct style style, struct strbuf *out)
{
    static const struct stacks_options options = {0};
    struct stacks *stacks = arena_alloc(&arena, sizeof *stacks);
    struct err err;

    assert_int_equal(stacks_build(p, &options, &arena, stacks, &err), 0);
    stack_numbers(p, stacks);
    return (struct text_view){
        .base = {.p = p, .stacks = stacks, .arena = &arena},
        .style = style,
        .out = out,
        .depth = TEXT_DEPTH,
    };
}

/* Return a profile with every feature that makes lines long. */
static struct profile *
awkward_profile(void)
{
    struct profile *p = build_profile_new();
    struct counters c = build_counters(1234567890, 987654321012345, 1, 1);

    c.temporary = 1000000;
    p->process.command = "/usr/bin/program --with=a-very-long-command-line --that-goes-on-and-on "
                         "--for-more-than-eighty-columns";
    p->losses.guessed_frames = 123456789;
    p->losses.ledger_events = 7;
    p->losses.file_failed = true;
    p->recorder = (struct profile_recorder){1 << 30, 1 << 20, 0, 99999, 1, 1, 10, 12345, 0, 0, 0};
    p->peak_elapsed_ns = 1500000000;
    p->peak_error_bytes = 123456789012;
    build_site(p, c, "+" LONG_CXX "@/usr/include/c++/12/bits/stl_tree_with_a_long_name.h:2431",
               LONG_CXX "@/a/very/long/path/to/some/directory/with/a/source/file/name.cc:12345",
               "main@main.cc:7", NULL);
    build_site(p, build_counters(5, 555555555555, 0, 0),
               "!/usr/lib/a-library-with-a-rather-long-name-that-does-not-fit-anywhere-at-all.so.1",
               "main@main.cc:8", NULL);
    build_site(p, build_counters(5, 50, 0, 0), NULL);
    build_bin(p, 24, 24, c);
    build_bin(p, 65536, 131071, build_counters(3, 300000, 1, 100000));
    build_thread_site(p, build_thread(p, "worker-with-a-name"), 0, c);
    build_heap(p, "an arena with a name so long that it does not fit into any line of a terminal");
    p->heaps[1].resets = 123456789;
    build_labels(p, "a-label-with-a-long-key",
                 "and a value that is too long to fit in beside it "
                 "in a line of eighty columns",
                 NULL);
    p->backings = arena_array(&p->arena, 1, sizeof *p->backings);
    p->backings[p->backing_count++] =
        (struct profile_backing){1, p->sites[0].node, build_counters(9, 999999999999999, 0, 0)};
    build_tags(p,
               build_site(p, build_counters(123456789, 555555555555555, 0, 0), "arena_user@a.c:3",
                          "main@main.cc:7", NULL),
               1, 1);
    return p;
}

/* If this fails, people misread sizes. */
static void
bytes_are_shown_in_binary_units(void **state)
{
    (void)state;
    assert_string_equal(style_bytes(&arena, 0), "0 B");
    assert_string_equal(style_bytes(&arena, 1023), "1023 B");
    assert_string_equal(style_bytes(&arena, 1024), "1.0 KiB");
    assert_string_equal(style_bytes(&arena, 1048575), "1.0 MiB");
    assert_string_equal(style_bytes(&arena, -1536), "-1.5 KiB");
    assert_string_equal(style_bytes(&arena, INT64_MAX), "8.0 EiB");
    assert_string_equal(style_bytes(&arena, INT64_MIN), "-8.0 EiB");
    // Pictures show the same text.
    assert_string_equal(amount_text(&arena, 1023, true), "1023 B");
    assert_string_equal(amount_text(&arena, 1048524, true), "1023.9 KiB");
    assert_string_equal(amount_text(&arena, 1048575, true), "1.0 MiB");
    assert_string_equal(amount_text(&arena, -1048575, true), "-1.0 MiB");
}

/* If this fails, people misread counts, shares and durations. */
static void
counts_are_shown_with_separators(void **state)
{
    (void)state;
    assert_string_equal(style_count(&arena, 0), "0");
    assert_string_equal(style_count(&arena, 999), "999");
    assert_string_equal(style_count(&arena, -1234567), "-1,234,567");
    assert_string_equal(style_count(&arena, INT64_MIN), "-9,223,372,036,854,775,808");
    assert_string_equal(style_percent(&arena, 1, 3), "33.3 %");
    assert_string_equal(style_percent(&arena, 1, 0), "0.0 %");
    assert_string_equal(style_plural(&arena, 1, "block"), "1 block");
    assert_string_equal(style_plural(&arena, 0, "block"), "0 blocks");
    assert_string_equal(style_duration(&arena, 72000000000), "1 min 12 s");
}

/* If this fails, UTF-8 names are cut in the middle of a character or misalign columns. */
static void
cutting_counts_characters(void **state)
{
    (void)state;
    assert_int_equal(style_width("\xc3\xa4\xe2\x80\xa6x"), 3);
    assert_string_equal(style_cut_end(&arena, "\xc3\xa4\xc3\xb6\xc3\xbc", 2),
                        "\xc3\xa4\xe2\x80\xa6");
    assert_string_equal(style_cut_start(&arena, "\xc3\xa4\xc3\xb6\xc3\xbc", 2),
                        "\xe2\x80\xa6\xc3\xbc");
    assert_string_equal(style_cut_end(&arena, "abc", 3), "abc");
    assert_string_equal(style_cut_end(&arena, "abc", 0), "");
}

/* If this fails, a profile from someone else can send escape sequences to the terminal. */
static void
names_cannot_drive_the_terminal(void **state)
{
    (void)state;
    assert_string_equal(style_clean(&arena, "a\x1b[2Jb\n"), "a?[2Jb?");
    assert_string_equal(style_clean(&arena, "\xc2\x9b"
                                            "1m"),
                        "?1m");
    assert_string_equal(style_clean(&arena, "a\xe2\x80\xae\xe2\x81\xa6z"), "a??z");
    assert_string_equal(style_clean(&arena, "a\xe2\x80\x8b\xef\xbb\xbfz"), "a??z");
    assert_string_equal(style_clean(&arena, "\xe2\x80\xa8\xed\xa0\x80"), "????");
    assert_string_equal(style_clean(&arena, "\xc3\xa4\xe2\x80\xa6"), "\xc3\xa4\xe2\x80\xa6");
    assert_string_equal(style_clean(&arena, "\xff\xc3"), "??");
    assert_string_equal(style_clean(&arena, "\xc3\xa4"), "\xc3\xa4");
}

/* If this fails, tables are ragged or wider than the terminal. */
static void
a_table_aligns_and_fits(void **state)
{
    static const struct column columns[] = {
        {COLUMN_BYTES, "bytes", "bytes", false, NULL},
        {COLUMN_TEXT, "name", "name", false, NULL},
        {COLUMN_TEXT, NULL, "where", true, NULL},
    };
    struct style narrow = {.width = 40};
    struct strbuf out = {0};
    struct table t;

    (void)state;
    table_begin(&t, &arena, columns, countof(columns));
    table_number(&t, 5);
    table_string(&t, "short");
    table_string(&t, "here");
    table_text(&t, &plain, 10, &out);
    assert_string_equal(out.text, "bytes  name   where\n  5 B  short  here\n");
    table_number(&t, 4096);
    table_string(&t, LONG_CXX);
    table_string(&t, LONG_CXX);
    strbuf_clear(&out);
    table_text(&t, &narrow, 10, &out);
    assert_lines_fit(out.text, 40);
    strbuf_clear(&out);
    table_text(&t, &narrow, 1, &out);
    assert_null(strstr(out.text, "4.0 KiB"));
    strbuf_release(&out);
}

/* If this fails, JSON has rounded numbers, or columns that are meant for people only. */
static void
the_json_of_a_table_is_exact(void **state)
{
    static const struct column columns[] = {
        {COLUMN_BYTES, "bytes", NULL, false, NULL},
        {COLUMN_PERCENT, NULL, "%", false, NULL},
        {COLUMN_TEXT, "name", "name", false, NULL},
    };
    struct strbuf out = {0};
    struct table t;
    struct json j;

    (void)state;
    table_begin(&t, &arena, columns, countof(columns));
    table_number(&t, 123456789);
    table_percent(&t, 1, 2);
    table_string(&t, NULL);
    json_begin(&j, &out, JSON_VERSION_NESTED);
    json_object(&j, NULL);
    table_json(&t, &j, "rows", 10);
    json_end(&j);
    assert_non_null(strstr(out.text, "\"bytes\": 123456789"));
    assert_non_null(strstr(out.text, "\"name\": null"));
    assert_null(strstr(out.text, "%"));
    strbuf_release(&out);
}

/* If this fails, some view wraps in a terminal of 80 columns or more. */
static void
no_view_is_wider_than_allowed(void **state)
{
    static const size_t widths[] = {80, 100, 132};
    struct profile *p = awkward_profile();

    (void)state;
    for (size_t i = 0; i < countof(widths); i++) {
        struct strbuf out = {0};
        struct text_view v = view(p, (struct style){.width = widths[i]}, &out);

        v.base.label = "a-label-with-a-long-key";
        text_overview(&v);
        text_brief(&v);
        v.base.tags.heap = "an arena*";
        text_backings(&v, 1);
        v.base.tags.heap = NULL;
        for (int m = METRIC_INUSE; m <= METRIC_COUNT; m++) {
            text_sites(&v, (enum metric)m);
            for (int by = BY_FUNCTION; by <= BY_LABEL_VALUE; by++)
                text_groups(&v, (enum group_by)by, (enum metric)m);
            text_tree(&v, TREE_TOP_DOWN, (enum metric)m, 0);
            text_tree(&v, TREE_BOTTOM_UP, (enum metric)m, 0);
        }
        assert_lines_fit(out.text, widths[i]);
        strbuf_release(&out);
    }
    profile_free(p);
}

/* If this fails, the view of one stack wraps, or the stack that a user asked for by its number
 * lacks a size or a type. */
static void
one_stack_has_all_its_amounts_in_any_width(void **state)
{
    static const size_t widths[] = {60, 80, 132};
    struct profile *p = build_profile_new();
    struct counters small = build_counters(3, 96, 1, 32), large = build_counters(2, 4096, 0, 0);

    (void)state;
    small.size_min = small.size_max = 32;
    large.size_min = 1024;
    large.size_max = 3072;
    build_site(p, small, "make@/a/very/long/path/to/some/directory/with/a/file/name.cc:12345",
               "main@main.c:7", NULL);
    build_site(p, large, "make@/a/very/long/path/to/some/directory/with/a/file/name.cc:12345",
               "main@main.c:7", NULL);
    build_site(p, build_counters(1, 10, 0, 0), "other@main.c:9", "main@main.c:8", NULL);
    p->sites[1].size_class = 3;
    p->sites[1].type = strtab_id(&p->strings, "widget");
    p->sites[1].verdict = VERDICT_CERTAIN;
    p->typed = true;
    for (size_t i = 0; i < countof(widths); i++) {
        struct strbuf out = {0};
        struct text_view v = view(p, (struct style){.width = widths[i]}, &out);
        struct stack_details d;

        stack_details_build(p, v.base.stacks, 1, &arena, &d);
        assert_int_equal(d.count, 1);
        text_one_stack(&v, &d, 2);
        assert_lines_fit(out.text, widths[i]);
        assert_non_null(strstr(out.text, "Stack #1  of 2\n"));
        assert_non_null(strstr(out.text, "     5  4.1 KiB"));
        assert_non_null(strstr(out.text, "       3     96 B   2.3 %  32 B\n"));
        assert_non_null(strstr(out.text, "       2  4.0 KiB  97.7 %  1 KiB to 3 KiB\n"));
        assert_non_null(strstr(out.text, " 97.7 %  \xe2\x9c\x93widget\n"));
        assert_non_null(strstr(out.text, " 2.3 %  unknown\n"));
        strbuf_release(&out);
    }
    profile_free(p);
}

/* If this fails, a deep tree of a sampled profile wraps in a terminal of 60 columns. */
static void
a_deep_tree_of_estimates_fits_60_columns(void **state)
{
    struct profile *p = build_profile_new();
    struct profile_recording_mode mode = {.mode = MODE_BYTES};
    struct strbuf out = {0};
    struct text_view v;
    const char *f[14];

    (void)state;
    p->modes = &mode;
    p->mode_count = 1;
    for (size_t i = 0; i < countof(f); i++)
        f[i] = arena_printf(&p->arena, "a_function_with_a_long_name_%zu@a.c:1", i);
    build_site(p, build_counters(1, 100, 0, 0), f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7],
               f[8], f[9], f[10], f[11], f[12], NULL);
    for (size_t i = 1; i < 13; i++)
        build_site(p, build_counters(1, 50, 0, 0), "leaf@a.c:1", f[i], i < 12 ? f[i + 1] : NULL,
                   i < 11 ? f[i + 2] : NULL, i < 10 ? f[i + 3] : NULL, i < 9 ? f[i + 4] : NULL,
                   i < 8 ? f[i + 5] : NULL, i < 7 ? f[i + 6] : NULL, i < 6 ? f[i + 7] : NULL,
                   i < 5 ? f[i + 8] : NULL, i < 4 ? f[i + 9] : NULL, i < 3 ? f[i + 10] : NULL,
                   i < 2 ? f[i + 11] : NULL, NULL);
    assert_true(profile_has_errors(p));
    v = view(p, (struct style){.width = 60}, &out);
    text_tree(&v, TREE_TOP_DOWN, METRIC_ALLOC, 0);
    assert_lines_fit(out.text, 60);
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, -n and --depth have no effect on a tree, or a shortened tree looks complete. */
static void
a_tree_counts_the_rows_that_limits_left_out(void **state)
{
    static const struct {
        size_t limit, depth;
        const char *last;
    } cases[] = {
        {0, 0, "  main\n"},
        {9, 9, "  main\n"},
        {2, 0, "  main\n\xe2\x80\xa6 2 more rows; --limit shows more\n"},
        {3, 0, "  g\n\xe2\x80\xa6 1 more row; --limit shows more\n"},
        {0, 1, "  g\n\xe2\x80\xa6 2 more rows; --depth shows more\n"},
        {1, 1, "  f\n\xe2\x80\xa6 3 more rows; --limit and --depth show more\n"},
    };
    struct profile *p = build_profile_new();

    (void)state;
    build_site(p, build_counters(1, 500, 0, 0), "f@a.c:1", "main@a.c:2", NULL);
    build_site(p, build_counters(1, 500, 0, 0), "f@a.c:1", "main@a.c:2", NULL);
    build_site(p, build_counters(1, 300, 0, 0), "g@a.c:1", "main@a.c:3", NULL);
    build_site(p, build_counters(1, 1, 0, 0), "small@a.c:1", "main@a.c:3", NULL);
    for (size_t i = 0; i < countof(cases); i++) {
        struct strbuf out = {0};
        struct text_view v = view(p, (struct style){.width = 80}, &out);
        size_t length = strlen(cases[i].last);

        v.base.limit = cases[i].limit;
        text_tree(&v, TREE_BOTTOM_UP, METRIC_ALLOC, cases[i].depth);
        assert_true(out.length > length);
        assert_string_equal(out.text + out.length - length, cases[i].last);
        strbuf_release(&out);
    }
    profile_free(p);
}

/* If this fails, --wide does not show whole names and paths. */
static void
wide_cuts_nothing(void **state)
{
    struct profile *p = awkward_profile();
    struct strbuf out = {0};
    struct text_view v = view(p, (struct style){.width = STYLE_NO_LIMIT}, &out);

    (void)state;
    text_sites(&v, METRIC_INUSE);
    assert_non_null(strstr(out.text, LONG_CXX));
    assert_non_null(
        strstr(out.text, "/a/very/long/path/to/some/directory/with/a/source/file/name.cc"));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, the report of a single loss is not English: "1 frees". */
static void
a_single_loss_is_in_the_singular(void **state)
{
    static const char *const wanted[] = {
        "  1 block that was written out of: see", "  1 free of a block that was not live",
        "  1 of them freed twice", "  1 free of a block from before the fork",
        "  1 call that returned no block", "  1 allocation charged to \"other\"",
        "  1 C library whose own malloc", "  1 value at a snapshot, or snapshot, that found"};
    struct profile *p = build_profile_new();
    struct strbuf out = {0};
    struct text_view v;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "f@a.c:1", NULL);
    for (size_t i = 0; i < loss_field_count; i++)
        memcpy((char *)&p->losses + loss_fields[i].offset, &(uint64_t){1}, sizeof(uint64_t));
    v = view(p, plain, &out);
    text_overview(&v);
    for (size_t i = 0; i < countof(wanted); i++)
        assert_non_null(strstr(out.text, wanted[i]));
    assert_null(strstr(out.text, " 1 allocations "));
    assert_null(strstr(out.text, " 1 blocks "));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, the overview hides losses, or does not say that there were none. */
static void
the_overview_says_what_was_lost(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out = {0};
    struct text_view v;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "f@a.c:1", NULL);
    v = view(p, plain, &out);
    text_overview(&v);
    assert_non_null(strstr(out.text, "0 events lost"));
    assert_non_null(strstr(out.text, "Still live at end"));
    assert_null(strstr(out.text, "Short-lived  "
                                 "0,"));
    assert_null(strstr(out.text, "guessed"));
    strbuf_clear(&out);
    p->losses.guessed_frames = 17;
    p->process.ended = false;
    text_overview(&v);
    assert_non_null(strstr(out.text, "17 allocations with a guessed frame"));
    assert_non_null(strstr(out.text, "Live now"));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, amounts from a damaged file overflow: the holder of a quarter is hidden, and
 * recording has taken negative time. */
static void
amounts_of_any_size_are_shown(void **state)
{
    const int64_t most = INT64_C(3000000000000000000), more = INT64_C(1200000000000000000);
    struct profile *p = build_profile_new();
    struct strbuf out = {0};
    struct text_view v;

    (void)state;
    build_site(p, build_counters(most, most, most, 0), "f@a.c:1", "one@a.c:2", "main@a.c:3", NULL);
    build_site(p, build_counters(most, more, most, 0), "f@a.c:1", "two@a.c:4", "main@a.c:3", NULL);
    p->recorder.events_timed = p->recorder.timed_ns = 1;
    p->process.elapsed_ns = (uint64_t)most;
    v = view(p, plain, &out);
    text_brief(&v);
    assert_non_null(strstr(out.text, "from two"));
    text_overview(&v);
    assert_non_null(strstr(out.text, "~400.0 % of the time"));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, the first screen is too long, hides losses, or leads with irrelevant rows. */
static void
the_first_screen_says_what_matters(void **state)
{
    struct profile *p = build_profile_new();
    struct counters freed = build_counters(9, 900, 9, 900);
    struct strbuf out = {0};
    struct text_view v;
    size_t lines = 0;

    (void)state;
    freed.peak_blocks = 9;
    freed.peak_bytes = 900;
    build_site(p, freed, "f@a.c:1", "caller@a.c:2", "main@a.c:3", NULL);
    p->losses.guessed_frames = 17;
    v = view(p, plain, &out);
    text_brief(&v);
    assert_non_null(strstr(out.text, "At the peak  900 B in 9 blocks"));
    assert_non_null(strstr(out.text, "900 B  100.0 %  f  a.c:1\n"));
    assert_non_null(strstr(out.text, "#1    from caller \xe2\x86\x90 main\n"));
    assert_non_null(strstr(out.text, "17 allocations with a guessed frame"));
    assert_null(strstr(out.text, "Still live at end  "
                                 "0 B in"));
    strbuf_clear(&out);
    profile_free(p);

    p = build_profile_new();
    for (int i = 0; i < 40; i++) {
        char frame[32];

        snprintf(frame, sizeof frame, "f%d@a.c:1", i);
        build_site(p, build_counters(1, 100 + i, 0, 0), frame, "caller@a.c:2", "main@a.c:3", NULL);
    }
    build_site(p, build_counters(1, 300, 0, 0),
               "Log::note(std::__cxx11::basic_string<char> const&, int) const@l.cc:7", NULL);
    build_site(p, build_counters(1, 290, 0, 0), "main::{lambda(int)#1}::operator()@l.cc:8", NULL);
    build_site(p, build_counters(1, 280, 0, 0), "main::{lambda(int)#2}@l.cc:9", NULL);
    v = view(p, plain, &out);
    text_brief(&v);
    assert_non_null(strstr(out.text, " Log::note  l.cc:7\n"));
    assert_non_null(strstr(out.text, " main::{lambda(int)#1}::operator()  l.cc:8\n"));
    assert_non_null(strstr(out.text, " main::{lambda(int)#2}  l.cc:9\n"));
    assert_null(strstr(out.text, "At the peak"));
    assert_non_null(strstr(out.text, "Still live at end  5.5 KiB in 43 blocks"));
    assert_non_null(strstr(out.text, "in 38 more functions"));
    for (const char *s = out.text; *s; s++)
        lines += *s == '\n';
    assert_in_range(lines, 10, 30);
    strbuf_clear(&out);
    profile_free(p);

    p = build_profile_new();
    build_site(p, build_counters(3, 300, 1, 100), "grown@a.c:1", "main@a.c:3", NULL);
    build_site(p, build_counters(1, 100, 6, 600), "shrunk@a.c:2", "main@a.c:3", NULL);
    p->extent = EXTENT_BETWEEN;
    p->from.name = p->to.name = "";
    v = view(p, plain, &out);
    text_brief(&v);
    assert_non_null(strstr(out.text, "200 B           grown  a.c:1\n"));
    assert_non_null(strstr(out.text, "-500 B           in 1 function that shrank\n"));
    // Few bytes are live and there is no history, so the report offers only types.
    assert_non_null(strstr(out.text, "--by function|type\n"));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, the callers of a row are functions of the C++ library, or the container that
 * allocates is not named. */
static void
the_first_screen_names_containers(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out = {0};
    struct text_view v;

    (void)state;
    build_site(p, build_counters(1, 900, 0, 0),
               "std::_Vector_base<int, std::allocator<int> >::_M_allocate(unsigned long)@v.h:1",
               "std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(int&&)@v.h:2",
               "std::vector<int, std::allocator<int> >::push_back(int const&)@v.h:3",
               "Index::add(int)@i.cc:4", "main@i.cc:5", NULL);
    // The program's allocator is called by a container.
    build_site(p, build_counters(1, 800, 0, 0), "Pool<int>::allocate(unsigned long)@p.cc:1",
               "std::allocator_traits<Pool<int> >::allocate(Pool<int>&, unsigned long)@a.h:2",
               "void std::unordered_multimap<int, int>::emplace<int>(int&&)@m.h:3",
               "Index::find(int)@i.cc:6", "main@i.cc:7", NULL);
    // Algorithms and threads are no containers.
    build_site(p, build_counters(1, 700, 0, 0), "visit(int)@i.cc:8",
               "void std::for_each<int*, void (*)(int)>(int*, int*, void (*)(int))@f.h:1",
               "walk()@i.cc:9", "void std::__invoke_impl<void, void (*)()>(void (*&&)())@f.h:2",
               "start()@i.cc:10", NULL);
    build_site(p, build_counters(1, 600, 0, 0), "work()@i.cc:11",
               "std::thread::_Invoker<std::tuple<void (*)()> >::_M_invoke()@f.h:3", NULL);
    build_site(p, build_counters(1, 500, 0, 0),
               "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
               "::_M_create(unsigned long&, unsigned long)@s.h:1",
               "main@i.cc:12", NULL);
    v = view(p, (struct style){.width = 100}, &out);
    text_brief(&v);
    assert_non_null(strstr(out.text, "  Index::add  i.cc:4\n"));
    assert_non_null(strstr(out.text, "    via vector::push_back, from main\n"));
    assert_non_null(strstr(out.text, "  Pool<int>::allocate  p.cc:1\n"));
    assert_non_null(strstr(out.text, "    via unordered_multimap::emplace, from Index::find "
                                     "\xe2\x86\x90 main\n"));
    assert_non_null(strstr(out.text, "    from walk \xe2\x86\x90 start\n"));
    assert_non_null(strstr(out.text, "    from std::thread::_Invoker::_M_invoke\n"));
    assert_non_null(strstr(out.text, "    via string::_M_create\n"));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, the first screen of a program whose blocks die at once does not name their
 * allocator, because a few KiB are still live. */
static void
the_first_screen_names_who_churns(void **state)
{
    struct counters churn = build_counters(200000, 4000000, 200000, 4000000);
    struct profile *p = build_profile_new();
    struct strbuf out = {0};
    struct text_view v;

    (void)state;
    churn.temporary = 50000;
    churn.ended_16 = 60000;
    build_site(p, churn, "copy@a.c:1", "check@a.c:2", "main@a.c:3", NULL);
    build_site(p, build_counters(2, 4000, 1, 3000), "buffer@a.c:4", "main@a.c:5", NULL);
    p->totals.peak_blocks = 2;
    p->totals.peak_bytes = 4000;
    v = view(p, plain, &out);
    text_brief(&v);
    assert_non_null(strstr(out.text, "Still live at end  "));
    assert_non_null(strstr(out.text, "\nShort-lived  110,000 died within 16 allocations\n"));
    assert_non_null(strstr(out.text, "     110,000  100.0 %  copy  a.c:1\n"));
    assert_non_null(strstr(out.text, "from check \xe2\x86\x90 main\n"));

    // A profile without lives of blocks shows the calls instead.
    strbuf_clear(&out);
    profile_clear_lifetimes(p);
    v = view(p, plain, &out);
    text_brief(&v);
    assert_null(strstr(out.text, "\nShort-lived  "));
    assert_non_null(strstr(out.text, "\nCalls  200,002, 3.8 MiB in all\n"));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, a long line is truncated: the line of a process in a container loses the recording
 * mode, or the line with other views loses the last view. */
static void
lines_of_the_first_screen_break_rather_than_end_early(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out = {0};
    struct text_view v;
    uint32_t site = build_site(p, build_counters(1, 100, 0, 0), "f@a.c:1", "main@a.c:3", NULL);

    (void)state;
    build_tags(p, site, build_heap(p, "pool"), build_labels(p, "tenant", "acme", NULL));
    p->heaps[1].made = 1;
    p->process.pid = 4;
    p->process.pid_here = 123456;
    p->process.ended = false;
    p->process.elapsed_ns = 3000000000;
    p->has_history = true;
    v = view(p, (struct style){.width = 70}, &out);
    text_brief(&v);
    assert_non_null(strstr(out.text, "pid 123456 (4 in its namespace) \xc2\xb7 "));
    assert_non_null(strstr(out.text, "\nrunning for 3.00 s \xc2\xb7 exact\n"));
    assert_non_null(strstr(out.text, "--by function|type|heap|label; leaks;\n    timeline\n"));
    strbuf_clear(&out);
    v = view(p, (struct style){.width = 100}, &out);
    text_brief(&v);
    assert_non_null(strstr(out.text, " \xc2\xb7 running for 3.00 s \xc2\xb7 exact\n"));
    assert_non_null(strstr(out.text, "--by function|type|heap|label; leaks; timeline\n"));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, a table by thread has the same name in every row. */
static void
threads_of_one_name_are_told_apart(void **state)
{
    struct profile *p = build_profile_new();
    struct counters c = build_counters(1, 10, 0, 0);
    struct strbuf out = {0};
    struct text_view v;
    uint32_t site = build_site(p, build_counters(3, 30, 0, 0), "f@a.c:1", NULL);

    (void)state;
    p->process.pid = 400;
    for (int i = 0; i < 3; i++)
        build_thread_site(p, build_thread(p, i < 2 ? "server" : "writer"), site, c);
    v = view(p, plain, &out);
    text_groups(&v, BY_THREAD, METRIC_INUSE);
    assert_non_null(strstr(out.text, "server (400)"));
    assert_non_null(strstr(out.text, "server (401)"));
    assert_null(strstr(out.text, "writer ("));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, a peak of several threads is shown without its error, or an exact peak is shown
 * with an error. */
static void
a_peak_says_what_it_may_be_off_by(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out = {0};
    struct text_view v;

    (void)state;
    build_site(p, build_counters(2, 96256, 0, 0), "f@a.c:1", NULL);
    p->peak_elapsed_ns = 1500000000;
    v = view(p, plain, &out);
    text_overview(&v);
    assert_non_null(strstr(out.text, " 94.0 KiB  after 1.50 s\n"));
    strbuf_clear(&out);
    p->peak_error_bytes = 1229;
    text_overview(&v);
    assert_non_null(strstr(out.text, " 94.0 KiB  after 1.50 s, or up to 1.2 KiB more\n"));
    strbuf_clear(&out);
    p->peak_elapsed_ns = 0;
    text_overview(&v);
    assert_non_null(strstr(out.text, " 94.0 KiB  or up to 1.2 KiB more\n"));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, a report does not show that nearly all blocks are short-lived, or shows this for a
 * profile without lifetimes. */
static void
short_lived_blocks_are_told_as_far_as_known(void **state)
{
    struct profile *p = build_profile_new();
    struct counters c = build_counters(200, 8000, 198, 7920);
    struct strbuf out = {0};
    struct text_view v;

    (void)state;
    c.temporary = 54;
    c.ended_16 = 142;
    c.ended_256 = 1;
    build_site(p, c, "f@a.c:1", NULL);
    v = view(p, (struct style){.width = STYLE_NO_LIMIT}, &out);
    text_overview(&v);
    assert_non_null(strstr(out.text, "  Short-lived            196      98.0 %  "
                                     "died within 16 allocations (27.0 % before the next)\n"));
    strbuf_clear(&out);
    v = view(p, plain, &out);
    text_overview(&v);
    assert_non_null(strstr(out.text, "  98.0 %  died within 16 allocations\n"));
    assert_non_null(
        strstr(out.text, "\nShort-lived  196 died within 16 allocations, 1 site\n"));
    assert_non_null(strstr(out.text, "98.0 % of its 200 calls, 40 B on average\n"));
    strbuf_clear(&out);
    profile_clear_lifetimes(p);
    v = view(p, plain, &out);
    text_overview(&v);
    assert_non_null(strstr(out.text, "  Temporary               54      27.0 %  "
                                     "died before the next allocation\n"));
    assert_null(strstr(out.text, "hort-lived"));
    assert_null(strstr(out.text, "within 16"));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, the rows of "Sizes" are labelled with the wrong bounds. */
static void
sizes_say_where_their_ranges_end(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out = {0};
    struct text_view v;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "f@a.c:1", NULL);
    build_bin(p, 1000, 1000, build_counters(11, 11000, 0, 0));
    build_bin(p, 512 * KIB + 1, 1 * MIB, build_counters(12, 12 * 600 * KIB, 0, 0));
    build_bin(p, 8 * MIB + 1, 16 * MIB, build_counters(13, 13 * 10 * MIB, 0, 0));
    build_bin(p, 16 * MIB + 1, 32 * MIB, build_counters(14, 14 * 20 * MIB, 0, 0));
    v = view(p, plain, &out);
    text_overview(&v);
    assert_non_null(strstr(out.text, "    up to 1 KiB      11 "));
    assert_non_null(strstr(out.text, "    up to 1 MiB      12 "));
    assert_non_null(strstr(out.text, "    up to 16 MiB     13 "));
    assert_non_null(strstr(out.text, "    above 16 MiB     14 "));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, `report --by type --at` names types for a size without blocks. */
static void
types_at_a_moment_have_the_sizes_of_the_run(void **state)
{
    static const struct profile_point peak = {.name = "peak", .is_peak = true};
    struct profile *p = build_profile_new();
    struct strbuf out = {0};
    struct text_view v;
    struct json j;
    const char *rows;

    (void)state;
    build_site(p, build_counters(3, 3 * 48, 1, 48), "f@a.c:1", NULL);
    p->sites[0].verdict = VERDICT_SAME_SIZE;
    p->types = arena_array(&p->arena, 2, sizeof *p->types);
    p->types[p->type_count++] =
        (struct profile_type){.size = 48, .name = strtab_id(&p->strings, "node")};
    p->types[p->type_count++] =
        (struct profile_type){.size = 48, .name = strtab_id(&p->strings, "leaf")};
    p->typed = true;
    profile_cut(p, NULL, &peak);
    v = view(p, plain, &out);
    text_groups(&v, BY_TYPE, METRIC_INUSE);
    assert_non_null(strstr(out.text, "one of 2 of 48 B: node, leaf"));
    strbuf_clear(&out);
    json_begin(&j, &out, JSON_VERSION_TABLES);
    json_groups(&j, &v.base, BY_TYPE, METRIC_INUSE, 1);
    rows = strstr(out.text, "\"rows\": [");
    assert_non_null(rows);
    assert_non_null(strstr(rows, "\"verdict\": \"same size\""));
    assert_non_null(strstr(rows, "\"size_min\": null"));
    assert_non_null(strstr(rows, "\"size_max\": null"));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, deep recursion fills the screen. */
static void
recursion_is_one_line(void **state)
{
    const char *frames[42];
    struct profile *p = build_profile_new();
    struct strbuf out = {0};
    struct text_view v;

    (void)state;
    frames[0] = "leaf@a.c:1";
    for (size_t i = 1; i < 41; i++)
        frames[i] = i % 2 ? "even@a.c:2" : "odd@a.c:3";
    frames[41] = "main@a.c:9";
    build_site_frames(p, build_counters(1, 8, 0, 0), frames, 42);
    v = view(p, plain, &out);
    text_sites(&v, METRIC_INUSE);
    assert_non_null(strstr(out.text, "the 2 frames above, 19 times more"));
    assert_non_null(strstr(out.text, "main  a.c:9"));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, the overview repeats the same stack in each section. */
static void
known_stacks_are_referred_to(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out = {0};
    struct text_view v;
    const char *once;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "f@a.c:1", "outer@a.c:2", "main@a.c:3", NULL);
    v = view(p, plain, &out);
    text_overview(&v);
    once = strstr(out.text, "outer");
    assert_non_null(once);
    assert_null(strstr(once + 1, "outer"));
    assert_non_null(strstr(out.text, "2 more frames, see #1 above"));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, colours leak into a pipe, or text differs with them. */
static void
colour_changes_no_text(void **state)
{
    struct profile *p = awkward_profile();
    struct strbuf out = {0}, coloured = {0}, stripped = {0};
    struct text_view v = view(p, plain, &out);

    (void)state;
    text_overview(&v);
    assert_null(strchr(out.text, '\x1b'));
    v = view(p, (struct style){.width = 80, .colour = true}, &coloured);
    text_overview(&v);
    for (const char *s = coloured.text; *s != '\0'; s++) {
        if (*s == '\x1b')
            s = strchr(s, 'm');
        else
            strbuf_char(&stripped, *s);
    }
    assert_true(coloured.length > out.length);
    assert_string_equal(stripped.text, out.text);
    strbuf_release(&out);
    strbuf_release(&coloured);
    strbuf_release(&stripped);
    profile_free(p);
}

/* If this fails, programs that read `report --json` break: docs/json.md is a contract. */
static void
the_json_of_a_report_keeps_its_contract(void **state)
{
    static const char *const members[] = {
        "\"format\": \"heaptap-report\"",
        "\"version\": 1",
        "\"process\": {",
        "\"command\": \"prog --test\"",
        "\"pid\": 4242",
        "\"parent_pid\": 4200",
        "\"ended\": true",
        "\"totals\": {",
        "\"peak_error_bytes\": 0",
        "\"peak_elapsed_ns\": 0",
        "\"losses\": {",
        "\"events\": 0",
        "\"shortened_stacks\": 0",
        "\"truncated_stacks\": 0",
        "\"file_failed\": false",
        "\"recorder\": {",
        "\"runtime_left_out\": false",
        "\"modules\": [",
        "\"symbols\": null",
        "\"threads\": []",
        "\"sizes\": []",
        "\"timeline\": []",
        "\"sites\": [",
        "\"allocations\": 3",
        "\"allocated_bytes\": 96",
        "\"live_bytes\": 64",
        "\"live_blocks\": 2",
        "\"size_min\": 32",
        "\"function\": \"f\"",
        "\"file\": \"a.c\"",
        "\"line\": 7",
        "\"line\": null",
        "\"file\": null",
        "\"inlined\": true",
        "\"address\": \"0x",
        "\"offset\": \"0x",
        "\"module\": \"/usr/bin/prog\"",
    };
    struct profile *p = build_profile_new();
    struct strbuf out = {0};
    struct text_view v;
    struct json j;

    (void)state;
    build_site(p, build_counters(3, 96, 1, 32), "+f@a.c:7", "bare", NULL);
    v = view(p, plain, &out);
    json_begin(&j, &out, JSON_VERSION_NESTED);
    json_report(&j, &v.base, METRIC_INUSE, SIZE_MAX);
    assert_int_equal(j.depth, 0);
    for (size_t i = 0; i < countof(members); i++)
        if (strstr(out.text, members[i]) == NULL)
            fail_msg("%s is not in %s", members[i], out.text);
    strbuf_release(&out);
    profile_free(p);
}

/* Write documents in the layout VERSION and check that they are well formed. */
static void
try_other_documents(uint32_t version)
{
    struct profile *p = awkward_profile();
    struct suppressions none = {0};
    struct stacks_options options = {0};
    struct strbuf out = {0};
    struct text_view v = view(p, plain, &out);
    struct view_set set = {.v = &p, .count = 1};
    struct leaks leaks;
    struct json j;
    struct err err;

    json_begin(&j, &out, version);
    json_session_begin(&j, &set, &arena);
    for (int by = BY_SITE; by <= BY_SIZE; by++)
        json_groups(&j, &v.base, (enum group_by)by, METRIC_INUSE, 1);
    json_tree(&j, &v.base, TREE_TOP_DOWN, METRIC_ALLOC, 0);
    json_tree(&j, &v.base, TREE_BOTTOM_UP, METRIC_ALLOC, 0);
    assert_int_equal(leaks_find(p, &options, &none, &arena, &leaks, &err), 0);
    json_leaks(&j, &v.base, &leaks, &none, 1);
    json_session_end(&j);
    assert_int_equal(j.depth, 0);
    assert_non_null(strstr(out.text, "\"heaptap-leaks\""));
    assert_non_null(strstr(out.text, "\"direction\": \"bottom-up\""));
    assert_int_equal(strstr(out.text, "\"tables\": {") != NULL, version == JSON_VERSION_TABLES);
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, a document of another view is not well formed. */
static void
other_json_documents_close(void **state)
{
    (void)state;
    try_other_documents(JSON_VERSION_NESTED);
    try_other_documents(JSON_VERSION_TABLES);
}

static int
report_release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_shown_in_binary_units),
        cmocka_unit_test(counts_are_shown_with_separators),
        cmocka_unit_test(cutting_counts_characters),
        cmocka_unit_test(names_cannot_drive_the_terminal),
        cmocka_unit_test(a_table_aligns_and_fits),
        cmocka_unit_test(the_json_of_a_table_is_exact),
        cmocka_unit_test(no_view_is_wider_than_allowed),
        cmocka_unit_test(one_stack_has_all_its_amounts_in_any_width),
        cmocka_unit_test(a_deep_tree_of_estimates_fits_60_columns),
        cmocka_unit_test(a_tree_counts_the_rows_that_limits_left_out),
        cmocka_unit_test(wide_cuts_nothing),
        cmocka_unit_test(a_single_loss_is_in_the_singular),
        cmocka_unit_test(the_overview_says_what_was_lost),
        cmocka_unit_test(amounts_of_any_size_are_shown),
        cmocka_unit_test(the_first_screen_says_what_matters),
        cmocka_unit_test(the_first_screen_names_containers),
        cmocka_unit_test(the_first_screen_names_who_churns),
        cmocka_unit_test(threads_of_one_name_are_told_apart),
        cmocka_unit_test(lines_of_the_first_screen_break_rather_than_end_early),
        cmocka_unit_test(a_peak_says_what_it_may_be_off_by),
        cmocka_unit_test(short_lived_blocks_are_told_as_far_as_known),
        cmocka_unit_test(sizes_say_where_their_ranges_end),
        cmocka_unit_test(types_at_a_moment_have_the_sizes_of_the_run),
        cmocka_unit_test(recursion_is_one_line),
        cmocka_unit_test(known_stacks_are_referred_to),
        cmocka_unit_test(colour_changes_no_text),
        cmocka_unit_test(the_json_of_a_report_keeps_its_contract),
        cmocka_unit_test(other_json_documents_close),
    };

    return cmocka_run_group_tests(tests, NULL, report_release);
}
