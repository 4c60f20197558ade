/* test_page.c: the document of a page, for profiles built here, and the page that embeds it.
 * html.sh tests `heaptap html` with recorded profiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "analyse/stacks.h"
#include "analyse/user_code.h"
#include "build_profile.h"
#include "html/page_writer.h"
#include "json/json.h"

static struct arena arena;

static void
page_add_change(struct profile *p, uint32_t thread_site, uint32_t interval,
                struct profile_amounts a)
{
    p->changes[p->change_count++] = (struct profile_change){thread_site, interval, a};
}

/* Return a profile of two stacks, three sites and two threads. The first stack allocates by
 * operator new, in two size classes and in both threads. */
static struct profile *
page_make(void)
{
    const struct counters small = build_counters(3, 300, 1, 100);
    const struct counters large = build_counters(1, 1000, 0, 0);
    const struct counters gone = build_counters(2, 20, 2, 20);
    struct profile *p = build_profile_new();
    uint32_t first = build_thread(p, "first"), second = build_thread(p, "second");

    for (int i = 0; i < 2; i++)
        build_site(p, i == 0 ? small : large, "operator new!/lib/libstdc++.so.6", "make@a.c:3",
                   "main@a.c:20", "__libc_start_main!/lib/libc.so.6", NULL);
    build_site(p, gone, "parse@b.c:7", "main@a.c:21", "__libc_start_main!/lib/libc.so.6", NULL);
    build_thread_site(p, first, 0, build_counters(2, 200, 1, 100));
    build_thread_site(p, second, 0, build_counters(1, 100, 0, 0));
    build_thread_site(p, first, 1, large);
    build_thread_site(p, first, 2, gone);
    p->has_history = true;
    p->snapshots = arena_array(&p->arena, 2, sizeof *p->snapshots);
    p->changes = arena_array(&p->arena, 8, sizeof *p->changes);
    p->snapshots[0] = (struct profile_snapshot){
        .elapsed_ns = 1000000000, .name = "warm", .kind = SNAPSHOT_ASKED};
    p->snapshots[1] =
        (struct profile_snapshot){.elapsed_ns = 2000000000, .name = "", .kind = SNAPSHOT_TIMED};
    p->snapshot_count = 2;
    // The changes are unordered, and those of the two threads alternate.
    page_add_change(p, 0, 2, (struct profile_amounts){1, 100, 1, 100});
    page_add_change(p, 3, 1, (struct profile_amounts){2, 20, 2, 20});
    page_add_change(p, 1, 0, (struct profile_amounts){1, 100, 0, 0});
    page_add_change(p, 0, 0, (struct profile_amounts){1, 100, 0, 0});
    page_add_change(p, 2, 1, (struct profile_amounts){1, 1000, 0, 0});
    page_add_change(p, 2, 2, (struct profile_amounts){0, 0, 0, 0});
    return p;
}

/* Build the stacks of P like `heaptap html`, but with FILTER. */
static struct view
page_view_of(const struct profile *p, const struct stacks_options *options, struct stacks *stacks)
{
    struct err err;

    assert_int_equal(stacks_build(p, options, &arena, stacks, &err), 0);
    stack_numbers(p, stacks);
    return (struct view){.p = p, .stacks = stacks, .arena = &arena};
}

static struct strbuf
document_with(const struct json_page *page)
{
    struct strbuf out = {0};
    struct json j;

    json_begin(&j, &out, JSON_VERSION_TABLES);
    json_page(&j, page);
    return out;
}

static struct strbuf
page_document(const struct profile *p, const char *filter)
{
    const struct stacks_options options = {.no_fold = true, .filter = filter};
    struct stacks stacks;
    struct view view = page_view_of(p, &options, &stacks);

    return document_with(&(struct json_page){.view = &view, .options = &options});
}

/* Fail unless the document contains PARTS in this order, then WANTED. */
static void
assert_behind(const struct strbuf *out, const char *const *parts, const char *wanted)
{
    const char *text = strbuf_text(out);

    for (; *parts != NULL; parts++) {
        text = strstr(text, *parts);
        assert_non_null(text);
        text += strlen(*parts);
    }
    if (strncmp(text, wanted, strlen(wanted)) != 0)
        fail_msg("not %s but %.200s", wanted, text);
}

#define BEHIND(...) (const char *const[]){__VA_ARGS__, NULL}

/* If this fails, a page sums an interval differently from heaptap, or loses the amounts of a
 * thread. */
static void
the_history_has_one_row_for_a_part_and_a_point(void **state)
{
    struct profile *p = page_make();
    struct strbuf out = page_document(p, NULL);

    (void)state;
    assert_behind(&out, BEHIND("\"history\": {", "\"points\": ["),
                  "\n        {\"elapsed_ns\": 0, \"name\": null, \"kind\": \"start\", "
                  "\"collections\": 0},"
                  "\n        {\"elapsed_ns\": 1000000000, \"name\": \"warm\", \"kind\": \"asked\", "
                  "\"collections\": 0},"
                  "\n        {\"elapsed_ns\": 2000000000, \"name\": null, \"kind\": \"timed\", "
                  "\"collections\": 0},"
                  "\n        {\"elapsed_ns\": 2500000000, \"name\": null, \"kind\": \"end\", "
                  "\"collections\": 0}");
    assert_behind(&out, BEHIND("\"changes\": {", "\"point\": "), "[1,2,2,3]");
    assert_behind(&out, BEHIND("\"changes\": {", "\"part\": "), "[0,1,2,0]");
    assert_behind(&out, BEHIND("\"changes\": {", "\"allocations\": "), "[2,1,2,1]");
    assert_behind(&out, BEHIND("\"changes\": {", "\"allocated_bytes\": "), "[200,1000,20,100]");
    assert_behind(&out, BEHIND("\"changes\": {", "\"frees\": "), "[0,0,2,1]");
    assert_behind(&out, BEHIND("\"changes\": {", "\"freed_bytes\": "), "[0,0,20,100]");
    strbuf_release(&out);
    profile_free(p);
    arena_release(&arena);
}

/* If this fails, tables by size or by type give a stack's bytes to the wrong row. */
static void
parts_are_the_sites_as_they_were_recorded(void **state)
{
    struct profile *p = page_make();
    struct strbuf out;

    (void)state;
    p->typed = true;
    p->sites[1].type = strtab_id(&p->strings, "node");
    p->sites[1].verdict = VERDICT_CERTAIN;
    p->sites[2].verdict = VERDICT_SAME_SIZE;
    out = page_document(p, NULL);
    assert_behind(&out, BEHIND("\"sites\": {", "\"live_bytes\": "), "[1200,0]");
    assert_behind(&out, BEHIND("\"parts\": {", "\"site\": "), "[0,0,1]");
    assert_behind(&out, BEHIND("\"parts\": {", "\"size_class\": "), "[1,2,0]");
    assert_behind(&out, BEHIND("\"parts\": {", "\"live_bytes\": "), "[200,1000,0]");
    assert_behind(&out, BEHIND("\"parts\": {", "\"type\": "), "[null,0,null]");
    assert_behind(&out, BEHIND("\"parts\": {", "\"verdict\": "),
                  "[\"unknown\",\"certain\",\"same size\"]");
    assert_behind(&out, BEHIND("\"tables\": {", "\"types\": ["), "\n        \"node\"\n      ]");
    strbuf_release(&out);
    profile_free(p);
    arena_release(&arena);
}

/* If this fails, the user code of a site is its wrapper, or a link to #2 leads to another stack. */
static void
sites_say_their_number_and_their_own_frame(void **state)
{
    struct profile *p = page_make();
    struct strbuf out = page_document(p, NULL);

    (void)state;
    // Frames are numbered in the order of stacks, callers first: 0 is __libc_start_main, 1 main, 2
    // make, 3 operator new.
    assert_behind(&out, BEHIND("\"sites\": {", "\"number\": "), "[1,2]");
    assert_behind(&out, BEHIND("\"sites\": {", "\"own\": "), "[2,5]");
    assert_behind(&out, BEHIND("\"functions\": {", "\"name\": ["),
                  "\n          \"__libc_start_main\",\n          \"main\",\n          \"make\","
                  "\n          \"operator new\",\n          \"parse\"\n        ]");
    assert_behind(&out, BEHIND("\"functions\": {", "\"role\": "),
                  "[\"startup\",null,null,\"wrapper\",null]");
    assert_behind(&out, BEHIND("\"tables\": {", "libc.so.6\""),
                  ", \"build_id\": null, \"symbols\": null, \"kind\": \"runtime\", "
                  "\"program\": false, \"interpreter\": false}");
    assert_behind(&out, BEHIND("\"tables\": {", "/usr/bin/prog\"", "\"symbols\": null"),
                  ", \"kind\": \"own\", \"program\": true, \"interpreter\": false}");
    strbuf_release(&out);
    profile_free(p);
    arena_release(&arena);
}

/* If this fails, report --json --fold-recursion marks a wrapper as user code. */
static void
own_frames_are_found_in_folded_recursion(void **state)
{
    const struct stacks_options options = {.no_fold = true, .fold_recursion = true};
    struct profile *p = build_profile_new();
    struct stacks stacks;
    struct user_code own;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "xmalloc@x.c:1", "work@a.c:1", "work@a.c:2",
               "work@a.c:2", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 10, 0, 0), "xmalloc@x.c:1", "other@a.c:7", "main@a.c:9", NULL);
    page_view_of(p, &options, &stacks);
    user_code_init(&own, p, &arena);
    assert_int_equal(stacks.count, 2);
    assert_true(stacks.v[0].recursion_folded);
    assert_int_equal(stacks.v[0].depth, 3);
    assert_int_equal(user_code_frame_unfolded(&own, &stacks.v[0]), 1);
    assert_int_equal(user_code_frame_unfolded(&own, &stacks.v[1]), 1);
    profile_free(p);
    arena_release(&arena);
}

/* If this fails, a filtered page mentions what the filter excludes, or its sums include it. */
static void
what_is_filtered_out_is_in_no_table(void **state)
{
    struct profile *p = page_make();
    struct strbuf out = page_document(p, "parse");

    (void)state;
    assert_behind(&out, BEHIND("\"sites\": {", "\"allocations\": "), "[2]");
    assert_behind(&out, BEHIND("\"sites\": {", "\"number\": "), "[2]");
    assert_behind(&out, BEHIND("\"parts\": {", "\"site\": "), "[0]");
    assert_behind(&out, BEHIND("\"changes\": {", "\"point\": "), "[2]");
    assert_behind(&out, BEHIND("\"changes\": {", "\"part\": "), "[0]");
    assert_null(strstr(strbuf_text(&out), "make"));
    strbuf_release(&out);
    out = page_document(p, "nobody");
    assert_behind(&out, BEHIND("\"parts\": {", "\"site\": "), "[]");
    assert_behind(&out, BEHIND("\"changes\": {", "\"point\": "), "[]");
    strbuf_release(&out);
    profile_free(p);
    arena_release(&arena);
}

/* If this fails, a page invents a curve for a profile that has none. */
static void
without_a_history_there_is_none(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "main@a.c:1", NULL);
    build_site(p, build_counters(1, 5, 0, 0), NULL);
    out = page_document(p, NULL);
    assert_behind(&out, BEHIND("\"growing\": "), "[],");
    assert_behind(&out, BEHIND("\"history\": "), "null,");
    assert_behind(&out, BEHIND("\"before\": "), "null,");
    assert_behind(&out, BEHIND("\"sources\": "), "[]\n}");
    // The stack "other" has no frames, so it has no user code.
    assert_behind(&out, BEHIND("\"sites\": {", "\"own\": "), "[0,null]");
    strbuf_release(&out);
    profile_free(p);
    arena_release(&arena);
}

static const char *
no_b(void *arg, const char *file)
{
    ++*(int *)arg;
    return strcmp(file, "b.c") == 0 ? NULL : "int\nmain\t\"x\"";
}

/* If this fails, lines of one file are shown with the bytes of another, or the first of two
 * profiles is mistaken for the second. */
static void
sources_name_their_file_and_before_is_the_first(void **state)
{
    const struct stacks_options options = {.no_fold = true};
    struct profile *p = page_make(), *first = build_profile_new();
    struct stacks stacks, before_stacks;
    struct view view, before;
    struct strbuf out;
    int asked = 0;

    (void)state;
    build_site(first, build_counters(1, 77, 0, 0), "early@c.c:1", NULL);
    view = page_view_of(p, &options, &stacks);
    before = page_view_of(first, &options, &before_stacks);
    out = document_with(&(struct json_page){.view = &view,
                                            .before = &before,
                                            .options = &options,
                                            .source = no_b,
                                            .source_arg = &asked});
    assert_int_equal(asked, 2);
    assert_behind(&out, BEHIND("\"files\": ["), "\n        \"a.c\",\n        \"b.c\"\n      ]");
    assert_behind(&out, BEHIND("\"sources\": "),
                  "[\n    {\n      \"file\": 0,\n      \"text\": "
                  "\"int\\u000amain\\u0009\\\"x\\\"\"\n    }\n  ]\n}");
    assert_behind(&out, BEHIND("\"before\": {", "\"totals\": {", "\"allocated_bytes\": "), "77,");
    assert_behind(&out, BEHIND("\"report\": {", "\"totals\": {", "\"allocated_bytes\": "), "1320,");
    strbuf_release(&out);
    profile_free(first);
    profile_free(p);
    arena_release(&arena);
}

/* Decode the base64 text of LENGTH characters at TEXT, checking the length of its lines; return the
 * number of bytes. */
static size_t
page_decode(const char *text, size_t length, unsigned char *ret)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char value_of[256] = {0}; // The digit's value plus 1; 0 = no digit.
    size_t count = 0, line = 0;
    uint32_t bits = 0, held = 0;

    for (unsigned char i = 0; digits[i] != '\0'; i++)
        value_of[(unsigned char)digits[i]] = i + 1;
    for (size_t i = 0; i < length && text[i] != '='; i++) {
        unsigned char value = value_of[(unsigned char)text[i]];

        line = text[i] == '\n' ? 0 : line + 1;
        if (text[i] == '\n')
            continue;
        if (line > 1024 || value == 0)
            fail_msg("character %zu of a line is %c", line, text[i]);
        bits = bits << 6 | (uint32_t)(value - 1);
        held += 6;
        if (held >= 8)
            ret[count++] = (unsigned char)(bits >> (held -= 8));
    }
    return count;
}

/* Embed COUNT bytes of DATA in a page, STEP bytes at a time, extract them again, and compare. */
static void
there_and_back(const unsigned char *data, size_t count, size_t step)
{
    static const char template[] = "<head>\n" PAGE_MARKER "\n</tail>";
    struct strbuf out = {0};
    struct page_writer w;
    unsigned char *packed, *got = xmalloc(count + 1);
    z_stream z = {0};
    size_t length;

    page_begin(&w, template, &out);
    for (size_t i = 0; i < count; i += step) {
        strbuf_add(&w.data, data + i, count - i < step ? count - i : step);
        strbuf_pause(&w.data);
    }
    page_end(&w);
    assert_memory_equal(out.text, "<head>\n", 7);
    assert_string_equal(out.text + out.length - 8, "\n</tail>");
    packed = xmalloc(out.length);
    length = page_decode(out.text + 7, out.length - 15, packed);
    z.next_in = packed;
    z.avail_in = (uInt)length;
    z.next_out = got;
    z.avail_out = (uInt)count + 1;
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    assert_int_equal(z.total_out, count);
    assert_memory_equal(got, data, count);
    inflateEnd(&z);
    free(packed);
    free(got);
    strbuf_release(&out);
}

/* If this fails, a browser cannot read the page of some profile, because of an unlucky size or a
 * large one. */
static void
what_is_put_into_a_page_comes_out_of_it(void **state)
{
    enum { LARGE = 5 << 19 };
    unsigned char *data = xmalloc(LARGE);
    uint32_t random = 1;

    (void)state;
    for (size_t i = 0; i < LARGE; i++) {
        random = random * 1664525 + 1013904223;
        data[i] = (unsigned char)(i % 3 == 0 ? random >> 24 : 'a');
    }
    for (size_t count = 0; count < 40; count++)
        there_and_back(data, count, 7);
    there_and_back(data, LARGE, LARGE);
    there_and_back(data, LARGE, 100000);
    free(data);
}

/* If this fails, heaptap html refuses to replace its own page, or replaces a foreign file. */
static void
only_a_page_of_ours_is_one(void **state)
{
    static const char other[] = "<!doctype html>\n<title>mine</title>",
                      page[] = "<!doctype html>\n<meta name=\"generator\" " PAGE_GENERATOR ">";
    const char *template = page_template();

    (void)state;
    assert_true(page_is_ours(page, sizeof page - 1));
    assert_false(page_is_ours(page + 1, sizeof page - 2));
    assert_false(page_is_ours(page, sizeof page - 8));
    assert_false(page_is_ours(other, sizeof other - 1));
    assert_false(page_is_ours("", 0));
    if (template == NULL)
        return; // The build had no node, so there is no page.
    assert_true(strlen(template) > PAGE_HEAD_BYTES);
    assert_true(page_is_ours(template, PAGE_HEAD_BYTES));
    assert_non_null(strstr(template, "\n" PAGE_MARKER "\n"));
    assert_ptr_equal(strstr(strstr(template, PAGE_MARKER) + 1, PAGE_MARKER), NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_history_has_one_row_for_a_part_and_a_point),
        cmocka_unit_test(parts_are_the_sites_as_they_were_recorded),
        cmocka_unit_test(sites_say_their_number_and_their_own_frame),
        cmocka_unit_test(own_frames_are_found_in_folded_recursion),
        cmocka_unit_test(what_is_filtered_out_is_in_no_table),
        cmocka_unit_test(without_a_history_there_is_none),
        cmocka_unit_test(sources_name_their_file_and_before_is_the_first),
        cmocka_unit_test(what_is_put_into_a_page_comes_out_of_it),
        cmocka_unit_test(only_a_page_of_ours_is_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
