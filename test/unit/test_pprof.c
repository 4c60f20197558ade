/* test_pprof.c: exports for pprof: the compressed messages of profile.proto, which a reader in this
 * file decodes, and gperftools' text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "build_profile.h"
#include "exported.h"
#include "pprof/proto_out.h"
#include "profile/time_slice.h"
#include "svg/svg.h"

struct text_row {
    int64_t live_blocks, live_bytes, allocations, allocated_bytes;
    char addresses[512];
};

/* Parse the rows of a legacy heap profile with the consumers' regular expression. */
static size_t
parse_rows(const char *text, struct text_row *ret, size_t max)
{
    regex_t re;
    regmatch_t m[6];
    size_t count = 0;

    assert_int_equal(
        regcomp(&re, "^ *(-?[0-9]+): *(-?[0-9]+) *\\[ *([0-9]+): *([0-9]+) *\\] @([ x0-9a-f]*)$",
                REG_EXTENDED | REG_NEWLINE),
        0);
    while (count < max && regexec(&re, text, 6, m, 0) == 0) {
        struct text_row *r = &ret[count++];

        r->live_blocks = strtoll(text + m[1].rm_so, NULL, 10);
        r->live_bytes = strtoll(text + m[2].rm_so, NULL, 10);
        r->allocations = strtoll(text + m[3].rm_so, NULL, 10);
        r->allocated_bytes = strtoll(text + m[4].rm_so, NULL, 10);
        snprintf(r->addresses, sizeof r->addresses, "%.*s", (int)(m[5].rm_eo - m[5].rm_so),
                 text + m[5].rm_so);
        text += m[0].rm_eo;
    }
    regfree(&re);
    return count;
}

/* If this fails, google-pprof shows totals that differ from the sum of the rows, or wrong
 * addresses. */
static void
rows_of_pprof_text_add_up_to_the_header(void **state)
{
    struct profile *p = build_profile_small();
    struct text_row rows[8], sum = {0}, head;
    struct strbuf out;
    char address[64];
    size_t count;

    (void)state;
    build_site(p, build_counters(2, 20, 3, 30), "torn@a.c:6", NULL);
    out = exported(p, "pprof-text", METRIC_INUSE, NULL);
    assert_int_equal(
        sscanf(out.text,
               "heap profile: %" SCNd64 ": %" SCNd64 " [%" SCNd64 ": %" SCNd64 "] @ heapprofile",
               &head.live_blocks, &head.live_bytes, &head.allocations, &head.allocated_bytes),
        4);
    assert_non_null(strstr(out.text, "] @ heapprofile\n"));
    count = parse_rows(out.text, rows, countof(rows));
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        sum.live_blocks += rows[i].live_blocks;
        sum.live_bytes += rows[i].live_bytes;
        sum.allocations += rows[i].allocations;
        sum.allocated_bytes += rows[i].allocated_bytes;
        assert_true(rows[i].live_blocks != 0 || rows[i].live_bytes == 0);
    }
    assert_int_equal(sum.live_blocks, head.live_blocks);
    assert_int_equal(sum.live_bytes, head.live_bytes);
    assert_int_equal(sum.allocations, head.allocations);
    assert_int_equal(sum.allocated_bytes, head.allocated_bytes);
    assert_int_equal(head.live_bytes, 200 + 50 + 7 + 5);
    assert_int_equal(head.allocated_bytes, 300 + 50 + 63 + 5 + 20);
    // The innermost address is inside its call instruction; its caller's is a return address.
    snprintf(address, sizeof address, " 0x%016" PRIx64 " 0x%016" PRIx64,
             p->locations[2].address - 1, p->locations[1].address);
    assert_string_equal(rows[0].addresses, address);
    assert_string_equal(rows[3].addresses, " 0x00007ffffffff000");
    assert_non_null(strstr(out.text, "\n\nMAPPED_LIBRARIES:\n"));
    snprintf(address, sizeof address, "\n%08" PRIx64 "-%08" PRIx64 " r-xp 00000000 00:00 0 ",
             p->modules[2].start, p->modules[2].end);
    assert_non_null(strstr(out.text, address));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, a filtered export, or its header, still has the numbers of all stacks. */
static void
a_filter_reaches_rows_and_header(void **state)
{
    struct profile *p = build_profile_small();
    struct strbuf out = exported(p, "pprof-text", METRIC_INUSE, "open_it");
    struct text_row rows[8];

    (void)state;
    assert_int_equal(parse_rows(out.text, rows, countof(rows)), 1);
    assert_int_equal(strncmp(out.text, "heap profile: 1: 7 [9: 63] @", 28), 0);
    strbuf_release(&out);
    profile_free(p);
}

/* A minimal reader of protocol buffers, to check the output. */
struct reader {
    const unsigned char *next, *end;
};

struct field {
    uint32_t number;
    uint64_t value;       // Value of a varint.
    struct reader nested; // Content of a field of bytes.
};

static uint64_t
read_varint(struct reader *r)
{
    uint64_t value = 0;

    for (int shift = 0;; shift += 7) {
        assert_true(r->next < r->end && shift < 64);
        value |= (uint64_t)(*r->next & 0x7f) << shift;
        if (!(*r->next++ & 0x80))
            return value;
    }
}

static bool
read_field(struct reader *r, struct field *ret)
{
    uint64_t key;

    if (r->next == r->end)
        return false;
    key = read_varint(r);
    *ret = (struct field){.number = (uint32_t)(key >> 3)};
    ret->value = read_varint(r);
    if ((key & 7) == 0)
        return true;
    assert_int_equal(key & 7, 2);
    assert_true(ret->value <= (uint64_t)(r->end - r->next));
    ret->nested = (struct reader){r->next, r->next + ret->value};
    r->next += ret->value;
    return true;
}

/* Return the N-th field NUMBER of the message R; fail the test if there is none. */
static struct field
find_field(struct reader r, uint32_t number, size_t n)
{
    struct field f;

    while (read_field(&r, &f))
        if (f.number == number && n-- == 0)
            return f;
    fail_msg("no field %u", number);
    return f;
}

static size_t
count_fields(struct reader r, uint32_t number)
{
    struct field f;
    size_t count = 0;

    while (read_field(&r, &f))
        count += f.number == number;
    return count;
}

/* Return the message with id ID, which is its field 1, from the repeated field NUMBER. */
static struct reader
by_id(struct reader profile, uint32_t number, uint64_t id)
{
    for (size_t i = 0; i < count_fields(profile, number); i++) {
        struct reader r = find_field(profile, number, i).nested;

        if (find_field(r, 1, 0).value == id)
            return r;
    }
    fail_msg("no message %u with id %" PRIu64, number, id);
    return profile;
}

static const char *
pprof_string(struct reader profile, uint64_t id)
{
    struct reader r = find_field(profile, 6, id).nested;

    return arena_strndup(&arena, (const char *)r.next, (size_t)(r.end - r.next));
}

static struct reader
gunzip(const struct strbuf *in)
{
    enum { MAX = 1 << 20 };
    unsigned char *plain = arena_alloc(&arena, MAX);
    z_stream z = {.next_in = (unsigned char *)in->text,
                  .avail_in = (uInt)in->length,
                  .next_out = plain,
                  .avail_out = MAX};

    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    return (struct reader){plain, plain + z.total_out};
}

/* Return the name of the function of line LINE of location ID; store its line number in
 * *RET_LINE. */
static const char *
location_function(struct reader profile, uint64_t id, size_t line, uint64_t *ret_line)
{
    struct reader l = find_field(by_id(profile, 4, id), 4, line).nested;

    *ret_line = find_field(l, 2, 0).value;
    return pprof_string(profile,
                        find_field(by_id(profile, 5, find_field(l, 1, 0).value), 2, 0).value);
}

/* If this fails, go tool pprof shows wrong values, types or inlined calls. */
static void
pprof_has_values_types_and_inlined_calls(void **state)
{
    static const char *const types[] = {"alloc_objects",    "alloc_space",  "inuse_objects",
                                        "inuse_space",      "peak_objects", "peak_space",
                                        "temporary_objects", "short_lived_objects"};
    static const uint64_t values[] = {3, 300, 2, 200, 2, 200, 0, 0};
    struct profile *p = build_profile_small();
    struct strbuf out = exported(p, "pprof", METRIC_PEAK, NULL);
    struct reader r = gunzip(&out), ids, v;
    uint64_t id, line;

    (void)state;
    for (size_t i = 0; i < countof(types); i++)
        assert_string_equal(pprof_string(r, find_field(find_field(r, 1, i).nested, 1, 0).value),
                            types[i]);
    assert_int_equal(count_fields(r, 1), countof(types));
    assert_int_equal(count_fields(r, 2), 4);
    ids = find_field(find_field(r, 2, 0).nested, 1, 0).nested;
    v = find_field(find_field(r, 2, 0).nested, 2, 0).nested;
    for (size_t i = 0; i < countof(values); i++)
        assert_int_equal(read_varint(&v), values[i]);
    assert_ptr_equal(v.next, v.end);
    id = read_varint(&ids);
    assert_int_equal(count_fields(by_id(r, 4, id), 4), 2);
    assert_string_equal(location_function(r, id, 0, &line), "make");
    assert_int_equal(line, 3);
    assert_string_equal(location_function(r, id, 1, &line), "work");
    assert_int_equal(line, 10);
    assert_int_equal(find_field(by_id(r, 4, id), 3, 0).value, p->locations[2].address - 1);
    assert_string_equal(location_function(r, read_varint(&ids), 0, &line), "main");
    assert_ptr_equal(ids.next, ids.end);
    assert_string_equal(pprof_string(r, 0), "");
    assert_string_equal(pprof_string(r, find_field(r, 14, 0).value), "peak_space");
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, profile servers put a heap at the wrong time, or mistake memory in use for memory
 * allocated in an interval. */
static void
a_moment_has_a_time_and_a_stretch_a_duration(void **state)
{
    static const struct {
        enum profile_extent extent;
        enum metric metric;
        uint64_t after_start_ns, duration_ns;
    } v[] = {
        {EXTENT_WHOLE, METRIC_INUSE, 2500, 0},  {EXTENT_WHOLE, METRIC_PEAK, 2500, 0},
        {EXTENT_WHOLE, METRIC_ALLOC, 0, 2500},  {EXTENT_WHOLE, METRIC_COUNT, 0, 2500},
        {EXTENT_AT, METRIC_INUSE, 1500, 0},     {EXTENT_AT, METRIC_ALLOC, 0, 1500},
        {EXTENT_PEAK, METRIC_INUSE, 1500, 0},   {EXTENT_BETWEEN, METRIC_INUSE, 1000, 500},
        {EXTENT_BETWEEN, METRIC_ALLOC, 1000, 500},
    };
    struct profile *p = build_profile_small();

    (void)state;
    p->process.elapsed_ns = 2500;
    p->from.elapsed_ns = 1000;
    p->to.elapsed_ns = 1500;
    for (size_t i = 0; i < countof(v); i++) {
        struct strbuf out;
        struct reader r;

        p->extent = v[i].extent;
        out = exported(p, "pprof", v[i].metric, NULL);
        r = gunzip(&out);
        assert_int_equal(find_field(r, 9, 0).value, p->process.start_unix_ns + v[i].after_start_ns);
        assert_int_equal(count_fields(r, 10), v[i].duration_ns != 0);
        if (v[i].duration_ns != 0)
            assert_int_equal(find_field(r, 10, 0).value, v[i].duration_ns);
        strbuf_release(&out);
    }
    profile_free(p);
}

/* If this fails, a picture or pprof export of --at peak shows allocated bytes and calls, which are
 * unknown for the peak. */
static void
of_the_peak_only_what_was_live_is_exported(void **state)
{
    static const struct profile_point peak = {.name = "peak", .is_peak = true};
    static const char *const types[] = {"inuse_objects", "inuse_space"};
    static const uint64_t values[] = {2, 200};
    struct profile *p = build_profile_small(), *whole = build_profile_small();
    struct stacks stacks[2];
    struct flame_side before = {.p = whole, .stacks = &stacks[0]},
                      after = {.p = p, .stacks = &stacks[1]};
    struct stacks_options options = {0};
    struct err err = {""};
    struct strbuf out;
    struct reader r, v;

    (void)state;
    profile_cut(p, NULL, &peak);
    out = exported(p, "flamegraph", METRIC_INUSE, NULL);
    assert_non_null(strstr(out.text, "\nmetrics: [[\"In use\",1,\"inuse\"]],\n"));
    assert_non_null(strstr(out.text, ">262 B in use in 9 blocks; pid 4242, 2.5 s; heaptap "));
    strbuf_clear(&out);
    assert_int_equal(stacks_build(whole, &options, &arena, &stacks[0], &err), 0);
    assert_int_equal(stacks_build(p, &options, &arena, &stacks[1], &err), 0);
    flamegraph_diff(&before, &after, METRIC_INUSE, &out);
    assert_non_null(strstr(out.text, "\nmetrics: [[\"In use\",1,\"inuse\"]],\n"));
    strbuf_release(&out);
    out = exported(p, "pprof", METRIC_INUSE, NULL);
    r = gunzip(&out);
    assert_int_equal(count_fields(r, 1), countof(types));
    for (size_t i = 0; i < countof(types); i++)
        assert_string_equal(pprof_string(r, find_field(find_field(r, 1, i).nested, 1, 0).value),
                            types[i]);
    v = find_field(find_field(r, 2, 0).nested, 2, 0).nested;
    for (size_t i = 0; i < countof(values); i++)
        assert_int_equal(read_varint(&v), values[i]);
    assert_ptr_equal(v.next, v.end);
    assert_string_equal(pprof_string(r, find_field(r, 14, 0).value), "inuse_space");
    strbuf_release(&out);
    profile_free(whole);
    profile_free(p);
}

/* If this fails, pprof mistakes a library for the program, or searches for symbols that the export
 * already has. */
static void
pprof_maps_the_program_first(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;
    struct reader r, m;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "f@x.c:1!/usr/lib/libx.so", "!/usr/lib/liby.so",
               "main@a.c:2", NULL);
    memcpy(p->modules[1].build_id, "\x0a\xbc", 2);
    p->modules[1].build_id_bytes = 2;
    out = exported(p, "pprof", METRIC_INUSE, NULL);
    r = gunzip(&out);
    assert_int_equal(count_fields(r, 3), 3);
    m = find_field(r, 3, 0).nested;
    assert_string_equal(pprof_string(r, find_field(m, 5, 0).value), "/usr/bin/prog");
    for (uint32_t id = 1; id < p->module_count; id++) {
        bool has_name = strcmp(p->modules[id].path, "/usr/lib/liby.so") != 0;

        m = by_id(r, 3, id);
        assert_string_equal(pprof_string(r, find_field(m, 5, 0).value), p->modules[id].path);
        assert_int_equal(find_field(m, 2, 0).value, p->modules[id].start);
        assert_int_equal(count_fields(m, 7), has_name);
        assert_int_equal(count_fields(m, 10), has_name);
    }
    assert_string_equal(pprof_string(r, find_field(by_id(r, 3, 1), 6, 0).value), "0abc");
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, folding an inlined wrapper loses its caller's line, or still shows the wrapper. */
static void
folding_leaves_the_line_of_the_caller(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;
    struct reader r, ids;
    uint64_t first, second, line;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "+xmalloc@u.c:5", "work@a.c:3", "main@a.c:9", NULL);
    out = exported(p, "pprof", METRIC_INUSE, NULL);
    r = gunzip(&out);
    ids = find_field(find_field(r, 2, 0).nested, 1, 0).nested;
    first = read_varint(&ids);
    second = read_varint(&ids);
    assert_int_equal(count_fields(by_id(r, 4, first), 4), 1);
    assert_string_equal(location_function(r, first, 0, &line), "work");
    assert_string_equal(location_function(r, second, 0, &line), "main");
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, a program's arguments control the terminal on which the comments are read. */
static void
a_comment_has_no_characters_that_drive_a_display(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;
    struct reader r;

    (void)state;
    p->process.command = "prog \x1b[31m\a\xe2\x80\xae-\n";
    build_site(p, build_counters(1, 10, 0, 0), "main@a.c:9", NULL);
    out = exported(p, "pprof", METRIC_INUSE, NULL);
    r = gunzip(&out);
    assert_non_null(memmem(r.next, (size_t)(r.end - r.next), ": prog ?[31m?" "?-?", 16));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, a function that calls itself from one place collapses into one frame. */
static void
a_recursive_call_stays_a_frame_of_its_own(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;
    struct reader r, ids;
    uint64_t first;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "+in@a.c:1", "walk@a.c:3", "+in@a.c:1", "walk@a.c:3",
               "main@a.c:9", NULL);
    out = exported(p, "pprof", METRIC_INUSE, NULL);
    r = gunzip(&out);
    ids = find_field(find_field(r, 2, 0).nested, 1, 0).nested;
    first = read_varint(&ids);
    assert_int_equal(read_varint(&ids), first);
    assert_int_not_equal(read_varint(&ids), first);
    assert_ptr_equal(ids.next, ids.end);
    assert_int_equal(count_fields(by_id(r, 4, first), 4), 2);
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, pprof misreads numbers from 128 on, negative ones or nested messages. */
static void
numbers_are_encoded_as_protocol_buffers(void **state)
{
    struct strbuf out = {0}, nested = {0};
    struct reader r;

    (void)state;
    proto_uint(&out, 1, 300);
    proto_uint(&out, 2, 0);
    proto_int(&out, 3, -1);
    proto_uint(&nested, 1, UINT64_MAX);
    proto_nested(&out, 20, &nested);
    assert_memory_equal(out.text, "\x08\xac\x02", 3);
    r = (struct reader){(unsigned char *)out.text, (unsigned char *)out.text + out.length};
    assert_int_equal(count_fields(r, 2), 0);
    assert_true(find_field(r, 3, 0).value == UINT64_MAX);
    assert_true(find_field(find_field(r, 20, 0).nested, 1, 0).value == UINT64_MAX);
    assert_int_equal(nested.length, 0);
    strbuf_release(&out);
    strbuf_release(&nested);
}

/* If this fails, a program that never allocated crashes an exporter. */
static void
a_program_without_allocations_is_exported(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;

    (void)state;
    out = exported(p, "collapsed", METRIC_INUSE, NULL);
    assert_int_equal(out.length, 0);
    strbuf_release(&out);
    out = exported(p, "pprof-text", METRIC_INUSE, NULL);
    assert_string_equal(out.text, "heap profile: 0: 0 [0: 0] @ heapprofile\n\nMAPPED_LIBRARIES:\n");
    strbuf_release(&out);
    out = exported(p, "pprof", METRIC_INUSE, NULL);
    assert_int_equal(count_fields(gunzip(&out), 2), 0);
    strbuf_release(&out);
    out = exported(p, "flamegraph", METRIC_INUSE, NULL);
    assert_well_formed(out.text);
    strbuf_release(&out);
    profile_free(p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_pprof_text_add_up_to_the_header),
        cmocka_unit_test(a_filter_reaches_rows_and_header),
        cmocka_unit_test(pprof_has_values_types_and_inlined_calls),
        cmocka_unit_test(a_moment_has_a_time_and_a_stretch_a_duration),
        cmocka_unit_test(of_the_peak_only_what_was_live_is_exported),
        cmocka_unit_test(pprof_maps_the_program_first),
        cmocka_unit_test(folding_leaves_the_line_of_the_caller),
        cmocka_unit_test(a_comment_has_no_characters_that_drive_a_display),
        cmocka_unit_test(a_recursive_call_stays_a_frame_of_its_own),
        cmocka_unit_test(a_program_without_allocations_is_exported),
        cmocka_unit_test(numbers_are_encoded_as_protocol_buffers),
    };

    return cmocka_run_group_tests(tests, NULL, release_exported);
}
