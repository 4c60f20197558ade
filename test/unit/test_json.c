/* test_json.c: the writer of JSON, its columns, and the tables that stacks refer to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "build_profile.h"
#include "json/json_tables.h"

static struct arena arena;

/* Return a JSON document with the ids of P's stacks, folded if FOLD, and the tables that the ids
 * refer to. Free it with strbuf_release. */
static struct strbuf
json_document(const struct profile *p, bool fold)
{
    struct stacks_options options = {.no_fold = !fold};
    struct strbuf out = {0};
    struct json_tables t;
    struct stacks stacks;
    struct json j;
    struct err err;

    assert_int_equal(stacks_build(p, &options, &arena, &stacks, &err), 0);
    json_begin(&j, &out, JSON_VERSION_TABLES);
    json_tables_begin(&t, &j, p, &arena);
    json_object(&j, NULL);
    json_array_filled(&j, "of");
    for (size_t i = 0; i < stacks.count; i++)
        json_uint(&j, NULL, json_tables_stack(&t, &stacks.v[i]));
    json_end(&j);
    json_tables_end(&t);
    json_end(&j);
    return out;
}

static void
json_assert_has(const struct strbuf *out, const char *text)
{
    if (strstr(strbuf_text(out), text) == NULL)
        fail_msg("%s is not in %s", text, strbuf_text(out));
}

/* If this fails, a nested document has no name, or the next value has the name as well. */
static void
a_document_stands_inside_of_another(void **state)
{
    struct strbuf out = {0};
    struct json j;

    (void)state;
    json_begin(&j, &out, JSON_VERSION_TABLES);
    json_object(&j, NULL);
    for (int i = 0; i < 2; i++) {
        json_key(&j, i == 0 ? "first" : "second");
        json_object(&j, NULL);
        json_int(&j, "frees", i);
        json_end(&j);
    }
    json_key(&j, "list");
    json_array_filled(&j, NULL);
    json_int(&j, NULL, 3);
    json_end(&j);
    json_end(&j);
    assert_string_equal(strbuf_text(&out),
                        "{\n  \"first\": {\n    \"frees\": 0\n  },\n  \"second\": {\n"
                        "    \"frees\": 1\n  },\n  \"list\": [3]\n}\n");
    strbuf_release(&out);
}

/* If this fails, sites have the numbers of other sites. */
static void
members_of_rows_become_columns(void **state)
{
    struct strbuf out = {0};
    struct json j;

    (void)state;
    json_begin(&j, &out, JSON_VERSION_TABLES);
    json_object(&j, NULL);
    json_columns(&j, "sites");
    for (int i = 0; i < 3; i++) {
        json_row(&j);
        json_int(&j, "frees", i - 1);
        json_string(&j, "heap", i == 1 ? NULL : "a\"b");
        json_object_line(&j, "by");
        json_bool(&j, "odd", i % 2);
        json_array(&j, "of");
        json_uint(&j, NULL, 7);
        json_end(&j);
        json_end(&j);
        json_end(&j);
    }
    json_columns_end(&j, 3);
    json_int(&j, "after", 1);
    json_end(&j);
    assert_string_equal(strbuf_text(&out),
                        "{\n  \"sites\": {\n    \"frees\": [-1,0,1],\n"
                        "    \"heap\": [\"a\\\"b\",null,\"a\\\"b\"],\n"
                        "    \"by\": [{\"odd\": false, \"of\": [7]},{\"odd\": true, \"of\": [7]},"
                        "{\"odd\": false, \"of\": [7]}]\n  },\n  \"after\": 1\n}\n");
    strbuf_release(&out);
}

/* If this fails, a script that looks for a column finds none when there are no sites. */
static void
an_empty_table_has_its_columns(void **state)
{
    struct strbuf out = {0};
    struct json j;

    (void)state;
    json_begin(&j, &out, JSON_VERSION_TABLES);
    json_object(&j, NULL);
    json_columns(&j, "sites");
    json_row(&j);
    json_int(&j, "frees", 3);
    json_end(&j);
    json_columns_end(&j, 0);
    json_end(&j);
    assert_string_equal(strbuf_text(&out), "{\n  \"sites\": {\n    \"frees\": []\n  }\n}\n");
    strbuf_release(&out);
}

/* If this fails, a column of a million numbers is one line, which few editors can handle, or
 * numbers at the limits of their type are wrong. */
static void
long_columns_are_broken_into_lines(void **state)
{
    struct strbuf out = {0};
    size_t longest = 0, length = 0;
    struct json j;

    (void)state;
    json_begin(&j, &out, JSON_VERSION_TABLES);
    json_array_filled(&j, NULL);
    json_int(&j, NULL, INT64_MIN);
    json_int(&j, NULL, INT64_MAX);
    json_uint(&j, NULL, UINT64_MAX);
    for (int i = 0; i < 1000; i++)
        json_int(&j, NULL, i);
    json_end(&j);
    for (const char *c = strbuf_text(&out); *c != '\0'; c++) {
        length = *c == '\n' ? 0 : length + 1;
        longest = length > longest ? length : longest;
    }
    assert_in_range(longest, 80, 128);
    json_assert_has(&out, "[-9223372036854775808,9223372036854775807,18446744073709551615,0,1,2,");
    strbuf_release(&out);
}

/* If this fails, documents are as large as if each stack were written in full. */
static void
shared_callers_are_written_once(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "a@x.c:1", "run@x.c:9", "main@x.c:20", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "b@x.c:2", "run@x.c:9", "main@x.c:20", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "run@x.c:9", "main@x.c:20", NULL);
    build_site(p, build_counters(1, 8, 0, 0), NULL);
    out = json_document(p, false);
    json_assert_has(&out, "\"of\": [3,4,2,0]");
    json_assert_has(&out, "\"parent\": [null,0,1,2,2]");
    json_assert_has(&out, "\"frame\": [null,0,1,2,3]");
    json_assert_has(&out, "\"files\": [\n      \"x.c\"\n    ]");
    json_assert_has(&out, "\"line\": [20,9,1,2]");
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, stacks without their wrappers begin at another stack's frame, or unrequested
 * wrappers appear in the tables. */
static void
a_folded_stack_begins_at_its_first_frame(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "xmalloc@x.c:1", "+make@x.c:5", "run@x.c:9", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "+xmalloc@x.c:1", "grow@x.c:7", "run@x.c:9", NULL);
    out = json_document(p, true);
    assert_null(strstr(strbuf_text(&out), "xmalloc"));
    json_assert_has(&out, "\"of\": [2,4]");
    json_assert_has(&out, "\"parent\": [null,0,1,0,3]");
    json_assert_has(&out, "\"line\": [9,5,9,7]");
    json_assert_has(&out, "\"inlined\": [false,true,false,false]");
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, functions of two libraries are taken for one, or unknown functions get a name. */
static void
what_is_unknown_is_null(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "make!liba.so", "make!libb.so", "!libb.so", NULL);
    out = json_document(p, false);
    json_assert_has(&out, "\"name\": [\n        \"make\",\n        \"make\"\n      ]");
    json_assert_has(&out, "\"module\": [0,1]");
    json_assert_has(&out, "\"function\": [null,0,1]");
    json_assert_has(&out, "\"file\": [null,null,null]");
    json_assert_has(&out, "\"module\": [0,0,1]");
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, a comparison shows stacks other than those that grew. */
static void
frames_without_a_profile_are_told_by_their_texts(void **state)
{
    const struct json_frame_texts frames[] = {
        {"main", "a.c", "prog", 3, false},
        {"make", "a.c", "prog", 4, false},
        {"make", "a.c", "prog", 4, true},
        {"make", "a.c", "prog", 5, false},
        {"make", "b.c", "prog", 4, false},
        {"make", "a.c", "", 4, false},
    };
    struct strbuf out = {0};
    struct json_tables t;
    struct json j;
    uint32_t outer;

    (void)state;
    json_begin(&j, &out, JSON_VERSION_TABLES);
    json_tables_begin(&t, &j, NULL, &arena);
    outer = json_tables_of_texts(&t, 0, &frames[0]);
    assert_int_equal(outer, 1);
    for (uint32_t turn = 0; turn < 2; turn++)
        for (uint32_t i = 1; i < countof(frames); i++)
            assert_int_equal(json_tables_of_texts(&t, outer, &frames[i]), i + 1);
    json_object(&j, NULL);
    json_tables_end(&t);
    json_end(&j);
    json_assert_has(&out, "\"function\": [0,1,1,1,2,3]");
    json_assert_has(&out, "\"file\": [0,0,0,0,1,0]");
    json_assert_has(&out, "\"module\": [0,0,0,0,0,null]");
    assert_null(strstr(strbuf_text(&out), "address"));
    strbuf_release(&out);
}

static int
json_release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_stands_inside_of_another),
        cmocka_unit_test(members_of_rows_become_columns),
        cmocka_unit_test(an_empty_table_has_its_columns),
        cmocka_unit_test(long_columns_are_broken_into_lines),
        cmocka_unit_test(shared_callers_are_written_once),
        cmocka_unit_test(a_folded_stack_begins_at_its_first_frame),
        cmocka_unit_test(what_is_unknown_is_null),
        cmocka_unit_test(frames_without_a_profile_are_told_by_their_texts),
    };

    return cmocka_run_group_tests(tests, NULL, json_release);
}
