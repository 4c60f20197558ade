/* test_serve.c: the parts of `heaptap serve` without connections: requests, the text for
 * Prometheus, fewer stacks, and the processes that the server knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build_profile.h"
#include "profile/time_slice.h"
#include "serve/known.h"
#include "serve/metrics.h"
#include "serve/http_request.h"
#include "serve/sample_cut.h"

static struct serve_request
parse(const char *uri, struct arena *arena)
{
    struct serve_request r;

    request_parse(uri, arena, &r);
    return r;
}

/* If this fails, a scraper gets another profile than the one that it asked for. */
static void
the_parameters_of_a_request_are_read(void **state)
{
    struct arena arena = {0};
    struct serve_request r =
        parse("/debug/pprof/heap?gc=1&seconds=5&seconds=9&profile=a%20b%2Bc+d&x", &arena);

    (void)state;
    assert_int_equal(r.status, 0);
    assert_int_equal(r.what, SERVE_HEAP);
    assert_int_equal(r.seconds, 5);
    assert_string_equal(r.profile, "a b+c d");
    assert_true(r.is_pprof);
    assert_int_equal(parse("/metrics?pid=4711", &arena).pid, 4711);
    assert_true(parse("/debug/pprof/allocs?debug=1", &arena).text);
    assert_false(parse("/debug/pprof/allocs?debug=0", &arena).text);
    arena_release(&arena);
}

/* If this fails, a wrong request is answered with numbers. */
static void
wrong_requests_are_refused(void **state)
{
    static const struct {
        const char *uri;
        unsigned status;
    } wrong[] = {
        {"/debug/pprof/heap?seconds=0", 400},    {"/debug/pprof/heap?seconds=-1", 400},
        {"/debug/pprof/heap?seconds=x", 400},    {"/debug/pprof/heap?seconds=3601", 400},
        {"/debug/pprof/heap?seconds=", 400},     {"/debug/pprof/heap?seconds=99999999999", 400},
        {"/metrics?pid=0", 400},                 {"/metrics?pid=1x", 400},
        {"/metrics?pid=1&profile=a", 400},       {"/metrics?profile=", 400},
        {"/metrics?profile=%0", 400},            {"/metrics?profile=%00", 400},
        {"/debug/pprof/heap?debug=1&seconds=1", 400},
        {"/debug/pprof/goroutine", 404},         {"/metrics/", 404},
        {"/..", 404},                            {"", 404},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < countof(wrong); i++) {
        struct serve_request r = parse(wrong[i].uri, &arena);

        assert_int_equal(r.status, wrong[i].status);
        assert_non_null(r.why);
    }
    arena_release(&arena);
}

/* If this fails, a page of another site can read profiles through its visitor's browser. */
static void
only_names_of_the_loopback_interface_are_ours(void **state)
{
    static const char *const ours[] = {"localhost", "LocalHost:9797", "127.0.0.1", "127.8.0.1:1",
                                       "[::1]", "[::1]:9797"};
    static const char *const others[] = {"evil.com",        "localhost.evil.com", "127.0.0.1.evil",
                                         "127.evil.0.1",    "[::2]",              "[::1",
                                         "localhost:80:80", "",                   "127.0.0",
                                         "localhost:x"};

    (void)state;
    for (size_t i = 0; i < countof(ours); i++)
        assert_true(request_host_is_loopback(ours[i]));
    for (size_t i = 0; i < countof(others); i++)
        assert_false(request_host_is_loopback(others[i]));
    assert_false(request_host_is_loopback(NULL));
}

/* If this fails, a stranger is served, or the owner of the token is not. */
static void
a_token_is_compared_as_a_whole(void **state)
{
    (void)state;
    assert_true(request_has_token("Bearer secret", "secret"));
    assert_true(request_has_token("bearer secret", "secret"));
    assert_false(request_has_token("Bearer secre", "secret"));
    assert_false(request_has_token("Bearer secretsecret", "secret"));
    assert_false(request_has_token("Bearer ", "secret"));
    assert_false(request_has_token("Basic secret", "secret"));
    assert_false(request_has_token("Bearer ", ""));
    assert_false(request_has_token(NULL, "secret"));
}

static struct metrics_row
row_of(const char *program, int64_t bytes, bool ended, const struct metrics_named *named,
       uint32_t named_count)
{
    struct metrics_row row = {.named = named, .ended = ended};

    metrics_name(row.numbers.program, program);
    row.numbers.allocations = 2;
    row.numbers.allocated_bytes = bytes;
    row.numbers.frees = 1;
    row.numbers.freed_bytes = 10;
    row.numbers.peak_bytes = bytes;
    row.numbers.named_count = named_count;
    return row;
}

/* If this fails, the counters of a program fall when one of its processes ends. */
static void
ended_processes_stay_in_counters_only(void **state)
{
    const struct metrics_row rows[] = {row_of("a", 100, false, NULL, 0),
                                       row_of("a", 1000, true, NULL, 0)};
    struct strbuf out = {0};

    (void)state;
    metrics_text(rows, 2, 3, &out);
    assert_non_null(strstr(out.text, "\nheaptap_processes{program=\"a\"} 1\n"));
    assert_non_null(strstr(out.text, "\nheaptap_live_bytes{program=\"a\"} 90\n"));
    assert_non_null(strstr(out.text, "\nheaptap_peak_bytes{program=\"a\"} 1000\n"));
    assert_non_null(strstr(out.text, "\nheaptap_allocated_bytes_total{program=\"a\"} 1100\n"));
    assert_non_null(strstr(out.text, "\nheaptap_unreadable_profiles 3\n"));
    strbuf_release(&out);
}

/* If this fails, a name can add lines to the text, and with them false numbers. */
static void
names_are_escaped(void **state)
{
    const struct metrics_row row = row_of("a\"\n\\\xff", 100, false, NULL, 0);
    struct strbuf out = {0};

    (void)state;
    metrics_text(&row, 1, 0, &out);
    assert_non_null(
        strstr(out.text, "\nheaptap_processes{program=\"a\\\"\\n\\\\\xef\xbf\xbd\"} 1\n"));
    strbuf_release(&out);
}

static size_t
count_series(const char *text)
{
    size_t count = 0;

    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1)
        count += *line != '#';
    return count;
}

/* If this fails, a machine with many programs floods the database, or loses amounts. */
static void
series_are_bounded_and_sums_are_kept(void **state)
{
    enum { PROGRAMS = 300, NAMED = 60 };
    static struct metrics_named named[NAMED];
    static struct metrics_row rows[PROGRAMS];
    struct strbuf out = {0};
    int64_t sum = 0;
    char name[32];

    (void)state;
    for (uint32_t i = 0; i < NAMED; i++) {
        named[i] = (struct metrics_named){.kind = i % 3, .live_bytes = 1 + i};
        snprintf(named[i].name, sizeof named[i].name, "n%u", i);
    }
    for (size_t i = 0; i < PROGRAMS; i++) {
        snprintf(name, sizeof name, "p%zu", i);
        rows[i] = row_of(name, 1010, false, named, NAMED);
    }
    metrics_text(rows, PROGRAMS, 0, &out);
    assert_true(count_series(out.text) <= METRICS_SERIES_MAX);
    for (const char *at = out.text; (at = strstr(at, "\nheaptap_live_bytes{")) != NULL; at++)
        sum += strtoll(strchr(at, '}') + 2, NULL, 10);
    assert_int_equal(sum, PROGRAMS * 1000);
    // The functions are n0, n3, …, n57: ten of them, and the others in one line.
    assert_non_null(strstr(out.text, "{program=\"p0\",function=\"n57\"} 58\n"));
    assert_non_null(strstr(out.text, "{program=\"p0\",function=\"n30\"} 31\n"));
    assert_null(strstr(out.text, "{program=\"p0\",function=\"n27\"}"));
    assert_non_null(strstr(out.text, "{program=\"p0\",function=\"other\"} 145\n"));
    strbuf_release(&out);
}

/* If this fails, a server refuses the profile, or totals change with the number of stacks. */
static void
fewer_stacks_have_the_same_sums(void **state)
{
    enum { STACKS = 100, MOST = 10 };
    static struct stack v[STACKS];
    static uint32_t of_site[STACKS], frame;
    struct profile p = {.site_count = STACKS};
    struct stacks s = {.v = v, .count = STACKS, .site_stacks = of_site};
    struct arena arena = {0};
    int64_t bytes = 0, heap_bytes = 0;

    (void)state;
    for (uint32_t i = 0; i < STACKS; i++) {
        v[i] = (struct stack){.frames = &frame, .depth = 1, .heap = i % 2};
        v[i].counters = COUNTERS_ZERO;
        v[i].counters.allocations = 1;
        v[i].counters.allocated_bytes = 1 + i;
        of_site[i] = i + 1;
    }
    sample_cut(&p, &s, MOST, &arena);
    assert_int_equal(s.count, MOST);
    for (size_t i = 0; i < s.count; i++) {
        bytes += s.v[i].counters.allocated_bytes;
        heap_bytes += s.v[i].heap == 1 ? s.v[i].counters.allocated_bytes : 0;
    }
    assert_int_equal(bytes, STACKS * (STACKS + 1) / 2);
    assert_int_equal(heap_bytes, STACKS / 2 * (STACKS / 2 + 1));
    assert_int_equal(s.v[0].counters.allocated_bytes, STACKS);
    assert_int_equal(s.v[s.site_stacks[0] - 1].depth, 0);
    assert_int_equal(s.site_stacks[STACKS - 1], 1);
    sample_cut(&p, &s, 1, &arena);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.v[0].counters.allocations, STACKS);
    arena_release(&arena);
}

/* If this fails, a difference has events of the time before its first reading. */
static void
a_difference_has_the_changes_since_the_earlier_reading(void **state)
{
    struct profile *before = build_profile_small(), *after = build_profile_small();

    (void)state;
    assert_true(after->site_count > 1);
    for (size_t i = 0; i < after->site_count; i++)
        before->sites[i].id = after->sites[i].id = (uint32_t)i + 1;
    after->sites[0].counters.allocations += 3;
    after->sites[0].counters.allocated_bytes += 300;
    after->sites[1].counters.frees += 1;
    after->sites[1].counters.freed_bytes += 50;
    profile_cut_since(after, before);
    assert_int_equal(after->totals.allocations, 3);
    assert_int_equal(counters_live_bytes(&after->totals), 250);
    assert_int_equal(counters_live_bytes(&after->sites[0].counters), 300);
    assert_int_equal(counters_live_bytes(&after->sites[1].counters), -50);
    assert_int_equal(after->extent, EXTENT_BETWEEN);
    profile_free(before);
    profile_free(after);
}

static void
add_record(struct strbuf *out, uint64_t id, uint32_t pid, enum scan_state what, int64_t allocations)
{
    struct scanned s = {.id = id, .pid = pid, .inner_pid = pid, .state = what};
    struct metrics_process m = {.program = "a", .allocations = allocations};

    strbuf_add(out, &s, sizeof s);
    if (what == SCAN_NEW)
        strbuf_add(out, &m, sizeof m);
}

/* If this fails, resets appear in Prometheus, or targets that have ended. */
static void
known_processes_end_and_keep_their_counts(void **state)
{
    struct strbuf scan = {0}, out = {0};
    struct arena arena = {0};
    struct serve_request r = {0};
    struct known k = {0};

    (void)state;
    add_record(&scan, 1, 11, SCAN_NEW, 5);
    add_record(&scan, 2, 12, SCAN_NEW, 7);
    assert_true(known_take(&k, &scan));
    strbuf_clear(&scan);
    add_record(&scan, 2, 12, SCAN_NEW, 6);
    assert_true(known_take(&k, &scan));
    assert_int_equal(known_metrics(&k, &r, &arena, &out), 0);
    assert_non_null(strstr(out.text, "\nheaptap_allocations_total{program=\"a\"} 12\n"));
    assert_non_null(strstr(out.text, "\nheaptap_processes{program=\"a\"} 1\n"));
    strbuf_clear(&out);
    known_targets(&k, "localhost:1", &out);
    assert_null(strstr(out.text, "\"11\""));
    assert_non_null(strstr(out.text, "\"12\""));
    strbuf_cut(&scan, scan.length - 1);
    assert_false(known_take(&k, &scan));
    r.pid = 13;
    assert_int_equal(known_metrics(&k, &r, &arena, &out), 404);
    known_release(&k);
    strbuf_release(&scan);
    strbuf_release(&out);
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parameters_of_a_request_are_read),
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(only_names_of_the_loopback_interface_are_ours),
        cmocka_unit_test(a_token_is_compared_as_a_whole),
        cmocka_unit_test(ended_processes_stay_in_counters_only),
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(series_are_bounded_and_sums_are_kept),
        cmocka_unit_test(fewer_stacks_have_the_same_sums),
        cmocka_unit_test(a_difference_has_the_changes_since_the_earlier_reading),
        cmocka_unit_test(known_processes_end_and_keep_their_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
