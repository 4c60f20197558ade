/* test_timeline.c: moments, intervals and trends of a profile with a history built here. If one
 * fails, a view shows another moment than requested, or mistakes rest or churn for growth. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/timeline.h"
#include "build_profile.h"
#include "load/loader.h"
#include "profile/time_slice.h"
#include "svg/svg.h"
#include "text/text.h"
#include "text/text_view.h"
#include "view/phrases.h"

enum { SNAPSHOTS = 32, SIZE = 10 };

/* Return the number of live blocks at snapshot T, from 0; SNAPSHOTS is the end. */
typedef int64_t shape_fn(int64_t t);

static int64_t
timeline_grows(int64_t t)
{
    return 100 + t + 7 * (t % 3);
}

static int64_t
rests(int64_t t)
{
    return t < 2 ? 0 : 500;
}

static int64_t
freed_at_the_end(int64_t t)
{
    return t == SNAPSHOTS ? 0 : 3 * t;
}

static shape_fn *const shapes[] = {timeline_grows, rests, freed_at_the_end};
static const char *const names[] = {"grows", "rests", "freed_at_the_end"};

static void
timeline_add_change(struct profile *p, uint32_t site, uint32_t interval, int64_t blocks)
{
    struct profile_amounts a = {0};

    a.allocations = blocks > 0 ? blocks : 0;
    a.frees = blocks < 0 ? -blocks : 0;
    a.allocated_bytes = a.allocations * SIZE;
    a.freed_bytes = a.frees * SIZE;
    p->changes[p->change_count++] = (struct profile_change){site, interval, a};
    for (size_t i = interval; i < SNAPSHOTS; i++)
        profile_amounts_add(&p->snapshots[i].amounts, &a);
}

/* Return the sum of a site's changes in the latest intervals, one per interval. */
static struct counters
sum_of_changes(const struct profile *p)
{
    struct profile_amounts sum = {0};

    for (size_t i = p->change_count - SNAPSHOTS - 1; i < p->change_count; i++)
        profile_amounts_add(&sum, &p->changes[i].amounts);
    return build_counters(sum.allocations, sum.allocated_bytes, sum.frees, sum.freed_bytes);
}

/* Return a profile with a snapshot each second, and stacks of the COUNT SHAPES. The second and the
 * fifth snapshot are called "warm"; the tenth and the twentieth begin phases. */
static struct profile *
make_past_of(shape_fn *const *of, size_t count)
{
    struct profile *p = build_profile_new();
    uint32_t thread = build_thread(p, "main");

    p->process.elapsed_ns = UINT64_C(1000000000) * (SNAPSHOTS + 1);
    p->has_history = true;
    p->snapshots = arena_array(&p->arena, SNAPSHOTS, sizeof *p->snapshots);
    p->changes = arena_array(&p->arena, count * (SNAPSHOTS + 1), sizeof *p->changes);
    for (uint32_t t = 0; t < SNAPSHOTS; t++)
        p->snapshots[p->snapshot_count++] =
            (struct profile_snapshot){.elapsed_ns = UINT64_C(1000000000) * (t + 1),
                                      .name = t == 1 || t == 4 ? "warm"
                                              : t == 9         ? "load"
                                              : t == 19        ? "serve"
                                                               : "",
                                      .kind = t == 9 || t == 19 ? SNAPSHOT_PHASE : SNAPSHOT_TIMED};
    for (size_t i = 0; i < count; i++) {
        for (uint32_t t = 0; t <= SNAPSHOTS; t++)
            timeline_add_change(p, (uint32_t)i, t, of[i](t) - (t > 0 ? of[i](t - 1) : 0));
        build_thread_site(
            p, thread, build_site(p, sum_of_changes(p), names[i], "main", NULL), sum_of_changes(p));
    }
    return p;
}

static struct profile *
make_past(void)
{
    return make_past_of(shapes, countof(shapes));
}

static void
finds(struct profile *p, const char *when, size_t snapshots)
{
    struct profile_point m = {0};
    struct err err = {""};

    assert_int_equal(time_slice_find(p, when, &m, &err), 0);
    assert_int_equal(m.snapshots, snapshots);
}

static int64_t
steps(int64_t t)
{
    return t < 8 ? 100 : t < 24 ? 200 : 300;
}

static int64_t
stays(int64_t t)
{
    return t >= 0 ? 500 : 0;
}

/* Check that the text of a timeline of the COUNT shapes OF contains WANTED. */
static void
assert_growth(shape_fn *const *of, size_t count, const char *wanted)
{
    struct timeline_options options = {.limit = 10};
    struct stacks_options all = {0};
    struct profile *p = make_past_of(of, count);
    struct arena arena = {0};
    struct strbuf out = {0};
    struct stacks stacks;
    struct timeline t;
    struct err err = {""};
    struct text_view v = {.base = {.p = p, .arena = &arena, .stacks = &stacks},
                          .style = {.width = 80},
                          .out = &out,
                          .depth = TEXT_DEPTH};

    assert_int_equal(stacks_build(p, &all, &arena, &stacks, &err), 0);
    timeline_build(p, &stacks, &options, &arena, &t);
    text_timeline(&v, &t);
    assert_non_null(strstr(strbuf_text(&out), wanted));
    strbuf_release(&out);
    arena_release(&arena);
    profile_free(p);
}

/* If this fails, "none grows steadily" is above a curve that rises in steps, and a reader does not
 * look at it. */
static void
growth_in_steps_is_stated(void **unused)
{
    static shape_fn *const rising[] = {steps, stays}, *const resting[] = {stays};

    (void)unused;
    assert_growth(rising, 2, "none grows steadily; their sum by 2.0 KiB; from ");
    assert_growth(resting, 1, "none grows steadily; from ");
    assert_growth(shapes, 3, "2 of 3 grow steadily; from ");
}

static void
cut_at(struct profile *p, const char *when)
{
    struct profile_point m = {0};
    struct err err = {""};

    assert_int_equal(time_slice_find(p, when, &m, &err), 0);
    profile_cut(p, NULL, &m);
}

/* If this fails, a view of a session counts a process that started after the moment, or the blocks
 * of a process that had ended before. */
static void
a_time_of_a_session_is_a_time_of_each_process(void **unused)
{
    static const struct {
        const char *when;
        enum point_life life;
        uint64_t unreached_ns;
        size_t snapshots;
        bool allocated, live;
    } cases[] = {
        {"5s", POINT_BEFORE_START, 0, 0, false, false},
        {"12s", POINT_OF_LIFE, 0, 2, true, true},
        {"3000s", POINT_AFTER_END, 0, SNAPSHOTS + 1, true, false},
        {"-1s", POINT_AFTER_END, 0, SNAPSHOTS + 1, true, false},
        {"4001s", POINT_AFTER_END, UINT64_C(4001000000000), SNAPSHOTS + 1, true, false},
        {"end", POINT_OF_LIFE, 0, SNAPSHOTS + 1, true, true},
    };

    (void)unused;
    for (size_t i = 0; i < countof(cases); i++) {
        struct profile *p = make_past();
        uint64_t start_ns = UINT64_C(1000) * 1000000000;

        p->process.start_unix_ns = start_ns;
        p->process.ended = true;
        p->clock.start_unix_ns = start_ns - UINT64_C(10) * 1000000000;
        p->clock.end_unix_ns = p->clock.start_unix_ns + UINT64_C(4000) * 1000000000;
        cut_at(p, cases[i].when);
        assert_int_equal(p->to.life, cases[i].life);
        assert_int_equal(p->to.unreached_ns, cases[i].unreached_ns);
        assert_int_equal(p->to.snapshots, cases[i].snapshots);
        assert_int_equal(p->totals.allocations != 0, cases[i].allocated);
        assert_int_equal(counters_live_bytes(&p->totals) != 0, cases[i].live);
        profile_free(p);
    }
}

/* If this fails, a time after the end of a run silently shows the end. */
static void
a_time_after_the_end_is_stated(void **unused)
{
    struct profile *p = make_past();
    struct arena arena = {0};

    (void)unused;
    cut_at(p, "100h");
    assert_non_null(strstr(sampling_extent(&arena, p), "(end); the run did not reach 100 h"));
    profile_free(p);
    p = make_past();
    cut_at(p, "end");
    assert_null(strstr(sampling_extent(&arena, p), "reach"));
    profile_free(p);
    arena_release(&arena);
}

/* If this fails, --at and --between select another moment than was named, or accept a moment that
 * does not exist. */
static void
moments_are_found_by_name_and_time(void **unused)
{
    struct profile *p = make_past();
    struct profile_point span[2], m;
    struct err err = {""};

    (void)unused;
    finds(p, "warm", 5);
    finds(p, "warm#1", 2);
    finds(p, "load", 10);
    finds(p, "start", 0);
    finds(p, "end", SNAPSHOTS + 1);
    finds(p, "3.9s", 3);
    finds(p, "0.5s", 0);
    finds(p, "-3s", SNAPSHOTS - 2);
    finds(p, "10h", SNAPSHOTS + 1);
    assert_int_equal(time_slice_find(p, "warm#3", &m, &err), HEAPTAP_BAD_INPUT);
    assert_non_null(strstr(err.text, "warm, load, serve"));
    assert_int_equal(time_slice_find_span(p, "load", span, &err), 0);
    assert_int_equal(span[0].snapshots, 10);
    assert_int_equal(span[1].snapshots, 20);
    assert_int_equal(time_slice_find_span(p, "serve", span, &err), 0);
    assert_int_equal(span[1].snapshots, SNAPSHOTS + 1);
    assert_int_equal(time_slice_find_span(p, "warm", span, &err), HEAPTAP_USAGE);
    assert_int_equal(time_slice_find_span(p, "serve..load", span, &err), HEAPTAP_USAGE);
    profile_free(p);
}

/* If this fails, a gate on the end passes because the program has a snapshot called "end". */
static void
names_of_snapshots_do_not_replace_reserved_words(void **unused)
{
    static const char *const reserved[] = {"start", "end", "peak", "3s", "-5m", "start..end"};
    struct profile *p = make_past();
    struct profile_point span[2], m;
    struct err err = {""};

    (void)unused;
    for (size_t i = 0; i < countof(reserved); i++) {
        assert_true(time_slice_is_reserved(reserved[i]));
        p->snapshots[6].name = reserved[i];
        p->snapshots[6].kind = SNAPSHOT_PHASE;
        finds(p, "start", 0);
        finds(p, "end", SNAPSHOTS + 1);
        finds(p, "3s", 3);
        assert_int_equal(time_slice_find(p, "peak", &m, &err), 0);
        assert_true(m.is_peak);
        assert_int_equal(time_slice_find_span(p, "start..end", span, &err), 0);
        assert_int_equal(span[0].snapshots, 0);
        assert_int_equal(span[1].snapshots, SNAPSHOTS + 1);
        finds(p, arena_printf(&p->arena, "%s#1", reserved[i]), 7);
    }
    assert_false(time_slice_is_reserved("ended") || time_slice_is_reserved("warm.5m"));
    profile_free(p);
}

/* If this fails, --at with a time copied from the JSON selects the preceding snapshot. */
static void
a_printed_time_selects_its_own_snapshot(void **unused)
{
    struct profile *p = make_past();
    char when[32];

    (void)unused;
    for (uint64_t n = 1; n <= SNAPSHOTS; n++) {
        p->snapshots[n - 1].elapsed_ns = n * 95999997;
        snprintf(when, sizeof when, "%" PRIu64 ".%06" PRIu64 "ms", n * 95999997 / 1000000,
                 n * 95999997 % 1000000);
        finds(p, when, n);
    }
    profile_free(p);
}

/* If this fails, a report of a moment shows totals, sites or threads of another one, or a peak
 * although it is unknown for that moment. */
static void
a_cut_profile_is_what_it_was(void **unused)
{
    (void)unused;
    for (size_t n = 1; n <= SNAPSHOTS + 1; n++) {
        struct profile *p = make_past();
        struct profile_point from = point_at(p, n / 2), to = point_at(p, n);
        int64_t sum = 0;

        profile_cut(p, &from, &to);
        for (size_t i = 0; i < countof(shapes); i++) {
            int64_t before = n / 2 > 0 ? shapes[i]((int64_t)n / 2 - 1) : 0;
            int64_t blocks = shapes[i]((int64_t)n - 1) - before;

            assert_int_equal(counters_live_blocks(&p->sites[i].counters), blocks);
            assert_int_equal(counters_live_bytes(profile_row_counters(p, i)), blocks * SIZE);
            assert_true(p->sites[i].counters.partial);
            sum += blocks;
        }
        assert_int_equal(counters_live_blocks(&p->totals), sum);
        assert_int_equal(counters_live_blocks(&p->threads[0].counters), sum);
        assert_false(metric_is_known(&p->totals, METRIC_PEAK));
        assert_true(metric_is_known(&p->totals, METRIC_INUSE));
        profile_free(p);
    }
}

/* If this fails, leaks --at peak differs from the live blocks at the peak. */
static void
the_peak_is_a_moment(void **unused)
{
    struct profile *p = build_profile_new();
    struct counters freed = build_counters(10, 1000, 10, 1000);
    struct profile_point peak, span[2];
    struct err err = {""};

    (void)unused;
    freed.peak_blocks = 4;
    freed.peak_bytes = 400;
    build_site(p, freed, "f@a.c:1", NULL);
    build_site(p, build_counters(2, 50, 1, 25), "g@a.c:2", NULL);
    p->peak_elapsed_ns = 77;
    assert_int_equal(time_slice_find(p, "peak", &peak, &err), 0);
    assert_int_equal(peak.elapsed_ns, 77);
    p->has_history = true;
    assert_int_equal(time_slice_find_span(p, "..peak", span, &err), HEAPTAP_USAGE);
    p->has_history = false;
    profile_cut(p, NULL, &peak);
    assert_int_equal(p->extent, EXTENT_PEAK);
    assert_int_equal(counters_live_bytes(&p->sites[0].counters), 400);
    assert_int_equal(counters_live_blocks(&p->sites[0].counters), 4);
    assert_int_equal(counters_live_bytes(&p->sites[1].counters), 25);
    assert_int_equal(counters_live_bytes(&p->totals), 425);
    assert_true(p->totals.partial);
    profile_free(p);
}

/* If this fails, the end of a short run or of a merged profile is refused or differs from its
 * totals, or an unknown moment in between seems to be known. */
static void
without_a_history_the_start_and_the_end_are_known(void **unused)
{
    static const char *const ends[] = {"end", "2s", "10h"};
    static const char *const starts[] = {"start", "0s", "-5s"};
    static const char *const others[] = {"1.9s", "-1s", "warm"};
    struct err err = {""};

    (void)unused;
    for (size_t i = 0; i < 3; i++) {
        struct profile *p = build_profile_new();
        struct counters c = build_counters(7, 700, 3, 300);
        struct profile_point span[2];

        build_thread_site(p, build_thread(p, "main"), build_site(p, c, "f@a.c:1", NULL), c);
        p->process.elapsed_ns = UINT64_C(2000000000);
        finds(p, ends[i], 1);
        finds(p, starts[i], 0);
        assert_int_equal(time_slice_find(p, others[i], &span[0], &err), HEAPTAP_BAD_INPUT);
        assert_non_null(strstr(err.text, "only its start, end and peak are known"));
        assert_int_equal(time_slice_find_span(p, "..", span, &err), 0);
        profile_cut(p, i == 0 ? &span[0] : NULL, &span[i == 2 ? 0 : 1]);
        assert_int_equal(p->totals.allocations, i == 2 ? 0 : 7);
        assert_int_equal(counters_live_bytes(&p->sites[0].counters), i == 2 ? 0 : 400);
        assert_int_equal(counters_live_bytes(&p->threads[0].counters), i == 2 ? 0 : 400);
        assert_int_equal(counters_live_bytes(profile_row_counters(p, 0)), i == 2 ? 0 : 400);
        assert_true(p->totals.partial);
        profile_free(p);
    }
}

static const struct timeline_row *
timeline_row_of(const struct profile *p, const struct timeline *t, const char *function)
{
    for (size_t i = 0; i < t->row_count; i++)
        if (strcmp(profile_string(p, p->frames[t->rows[i].stack->frames[0]].function), function) ==
            0)
            return &t->rows[i];
    fail_msg("no row of %s", function);
    return NULL;
}

/* If this fails, a cache that has filled up is called growing, or a leak is not called growing
 * because all of it was freed at the end. */
static void
what_grows_is_told_from_rest_and_from_the_end(void **unused)
{
    struct timeline_options options = {.limit = 10};
    struct stacks_options all = {0};
    struct profile *p = make_past();
    struct arena arena = {0};
    struct stacks stacks;
    struct timeline t;
    struct err err = {""};

    (void)unused;
    assert_int_equal(stacks_build(p, &all, &arena, &stacks, &err), 0);
    timeline_build(p, &stacks, &options, &arena, &t);
    assert_int_equal(t.point_count, SNAPSHOTS + 2);
    for (size_t i = 0; i < countof(shapes); i++) {
        const struct timeline_row *row = timeline_row_of(p, &t, names[i]);

        assert_int_equal(row->values[0], 0);
        for (size_t k = 0; k <= SNAPSHOTS; k++)
            assert_int_equal(row->values[k + 1], SIZE * shapes[i]((int64_t)k));
    }
    assert_int_equal(timeline_row_of(p, &t, "grows")->trend, TREND_GROWS);
    assert_int_equal(timeline_row_of(p, &t, "rests")->trend, TREND_RESTS);
    assert_int_equal(timeline_row_of(p, &t, "freed_at_the_end")->trend, TREND_GROWS);
    assert_int_equal(timeline_row_of(p, &t, "freed_at_the_end")->max, SIZE * 3 * (SNAPSHOTS - 1));
    assert_true(timeline_last(timeline_row_of(p, &t, "freed_at_the_end")) > 0);
    assert_true(timeline_is_freed(timeline_row_of(p, &t, "freed_at_the_end")));
    assert_false(timeline_is_freed(timeline_row_of(p, &t, "grows")));
    // Growth is news if it matters beside the peak and the run was long enough.
    p->totals.peak_bytes = 1000 * SIZE;
    assert_true(timeline_is_notable(p, timeline_row_of(p, &t, "grows")));
    assert_false(timeline_is_notable(p, timeline_row_of(p, &t, "rests")));
    p->totals.peak_bytes = INT64_C(1000000) * SIZE;
    assert_false(timeline_is_notable(p, timeline_row_of(p, &t, "grows")));
    p->totals.peak_bytes = 1000 * SIZE;
    p->process.elapsed_ns = UINT64_C(9000000000);
    assert_false(timeline_is_notable(p, timeline_row_of(p, &t, "grows")));
    assert_int_equal(t.growing, 2);
    arena_release(&arena);
    profile_free(p);
}

/* If this fails, the height of a chart depends on its number of columns, and no column shows the
 * largest values. */
static void
columns_show_the_largest_value_of_their_points(void **unused)
{
    struct timeline_options options = {.limit = 10};
    struct stacks_options all = {0};
    struct profile *p = make_past();
    struct arena arena = {0};
    struct stacks stacks;
    struct timeline t;
    struct err err = {""};

    (void)unused;
    assert_int_equal(stacks_build(p, &all, &arena, &stacks, &err), 0);
    timeline_build(p, &stacks, &options, &arena, &t);
    assert_int_equal(t.total.max, SIZE * (500 + 4 * (SNAPSHOTS - 1) + 100 + 7));
    for (size_t columns = 1; columns <= 100; columns++) {
        const struct timeline_row *row = timeline_row_of(p, &t, "freed_at_the_end");
        double total = 0, freed = 0;

        for (size_t i = 0; i < columns; i++) {
            total = fmax(total, timeline_column(&t, &t.total, i, columns));
            freed = fmax(freed, timeline_column(&t, row, i, columns));
        }
        assert_true(total == (double)t.total.max);
        assert_true(freed == (double)row->max);
        assert_true(timeline_end(&t, row, columns) == 0);
    }
    arena_release(&arena);
    profile_free(p);
}

/* If this fails, the pictures of a session are labelled as process 0. */
static void
pictures_say_whose_memory_they_show(void **unused)
{
    struct profile_program program = {.executable = "/usr/bin/prog", .processes = 2};
    struct timeline_options options = {.limit = 10, .by_size = true};
    struct stacks_options all = {0};
    struct profile *p = make_past();
    struct arena arena = {0};
    struct strbuf out = {0};
    struct stacks stacks;
    struct timeline t;
    struct err err = {""};

    (void)unused;
    assert_int_equal(stacks_build(p, &all, &arena, &stacks, &err), 0);
    timeline_build(p, &stacks, &options, &arena, &t);
    timeline_svg(p, &stacks, &t, &arena, &out);
    assert_non_null(strstr(out.text, "<title>prog: live bytes over time</title>"));
    assert_non_null(strstr(out.text, ">prog --test; pid 4242; 2 of 3 stacks grow steadily; "));
    strbuf_clear(&out);
    timeline_flame(p, &stacks, &options, &arena, &out);
    assert_non_null(strstr(out.text, ">prog --test; pid 4242; heaptap "));
    p->merged_processes = 2;
    p->programs = &program;
    p->program_count = 1;
    p->process.pid = 0;
    p->process.command = "";
    strbuf_clear(&out);
    timeline_svg(p, &stacks, &t, &arena, &out);
    timeline_flame(p, &stacks, &options, &arena, &out);
    assert_non_null(strstr(
        out.text, "<title>merged from 2 processes of /usr/bin/prog: live bytes over time</title>"));
    assert_non_null(strstr(
        out.text, "<title>merged from 2 processes of /usr/bin/prog: memory held over time"));
    assert_non_null(strstr(out.text, ">2 of 3 stacks grow steadily; heaptap "));
    assert_null(strstr(out.text, "pid 0"));
    strbuf_release(&out);
    arena_release(&arena);
    profile_free(p);
}

/* Read the text element at *SVG, advance past it, and store its position and extent, assuming
 * PIXELS per character. Return false at the end. */
static bool
next_text(const char **svg, const char *class, double pixels, double *ret_y, double *ret_from,
          double *ret_to)
{
    char tag[256];
    const char *end, *text;
    double x, columns = 0;

    for (;;) {
        *svg = strstr(*svg, "<text ");
        if (*svg == NULL)
            return false;
        end = strchr(*svg, '>');
        assert_non_null(end);
        snprintf(tag, sizeof tag, "%.*s", (int)(end - *svg), *svg);
        *svg = end;
        if (strstr(tag, class) != NULL)
            break;
    }
    assert_int_equal(sscanf(tag, "<text x=\"%lf\" y=\"%lf\"", &x, ret_y), 2);
    for (text = end + 1; *text != '<'; text++) {
        columns += ((unsigned char)*text & 0xc0) != 0x80;
        if (*text == '&')
            text = strchr(text, ';');
    }
    *ret_from = strstr(tag, "end") != NULL ? x - columns * pixels : x;
    *ret_to = *ret_from + columns * pixels;
    return true;
}

/* If this fails, the picture of a program with long names is unreadable: names of snapshots
 * overlap, or a stack's description overlaps its name. */
static void
long_names_do_not_overlap_in_pictures(void **unused)
{
    static char long_names[SNAPSHOTS][64];
    struct timeline_options options = {.limit = 10, .by_size = true};
    struct stacks_options all = {0};
    struct profile *p = make_past();
    double y, from, to, taken[1000] = {0}, values = 0, entries = 0;
    struct arena arena = {0};
    struct strbuf out = {0};
    struct stacks stacks;
    struct timeline t;
    struct err err = {""};
    const char *svg;
    size_t count = 0;

    (void)unused;
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        snprintf(long_names[i], sizeof long_names[i], "a rather long name, number %zu%.*s", i,
                 (int)(i % 5) * 4, ", and more of it than others");
        p->snapshots[i].name = long_names[i];
    }
    for (size_t i = 0; i < p->frame_count; i++)
        p->frames[i].function = strtab_id(
            &p->strings,
            arena_printf(&arena, "some_namespace::in_which_there_is::a_class<int, %zu>::function()",
                         i));
    assert_int_equal(stacks_build(p, &all, &arena, &stacks, &err), 0);
    timeline_build(p, &stacks, &options, &arena, &t);
    timeline_svg(p, &stacks, &t, &arena, &out);
    for (svg = strbuf_text(&out); next_text(&svg, "halo", 6.8, &y, &from, &to); count++) {
        assert_true(y > 0 && y < 1000 && to <= 1200);
        assert_true(from >= taken[(size_t)y]);
        taken[(size_t)y] = to;
    }
    assert_in_range(count, 6, SNAPSHOTS);
    for (svg = strbuf_text(&out); (svg = strstr(svg, "<svg x=")) != NULL; entries++) {
        double x, width;

        assert_int_equal(sscanf(svg, "<svg x=\"%lf\" y=\"%lf\" width=\"%lf\"", &x, &y, &width), 3);
        assert_true(next_text(&svg, "code", 6.7, &y, &from, &to) && to <= width);
        assert_true(next_text(&svg, "end", 7.2, &y, &from, &to) && from >= x + width);
        values++;
    }
    assert_true(entries >= 3 && entries == values);
    strbuf_release(&out);
    arena_release(&arena);
    profile_free(p);
}

/* Two snapshots of one tick of the clock, and a peak in the same tick. KEPT and PASSED are the
 * bytes of two sites at the peak; the first allocates between the snapshots, the second in
 * INTERVAL, and frees at once. */
static struct profile *
tick_profile(uint32_t interval, int64_t kept)
{
    struct profile *p = build_profile_new();
    struct counters keeper = build_counters(1, 50, 0, 0), passer = build_counters(1, 900, 1, 900);

    keeper.peak_bytes = kept;
    passer.peak_bytes = 900;
    p->has_history = true;
    p->peak_elapsed_ns = 24000000;
    p->snapshots = arena_array(&p->arena, 2, sizeof *p->snapshots);
    p->snapshots[0] = (struct profile_snapshot){.elapsed_ns = 24000001, .name = "first"};
    p->snapshots[1] = (struct profile_snapshot){.elapsed_ns = 24000001, .name = "second"};
    p->snapshot_count = 2;
    build_thread_site(p, build_thread(p, "main"), build_site(p, keeper, "keep", NULL), keeper);
    build_thread_site(p, 0, build_site(p, passer, "pass", NULL), passer);
    p->changes = arena_array(&p->arena, 2, sizeof *p->changes);
    p->changes[0] = (struct profile_change){0, 1, {1, 50, 0, 0}};
    p->changes[1] = (struct profile_change){1, interval, {1, 900, 1, 900}};
    p->change_count = 2;
    return p;
}

/* If this fails, exports and pictures show the peak before a snapshot that preceded it. */
static void
the_peak_is_behind_the_snapshots_before_it(void **unused)
{
    (void)unused;
    for (uint32_t interval = 0; interval < 3; interval++) {
        struct profile *p = tick_profile(interval, interval == 2 ? 50 : 0);

        load_peak(p);
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(p->snapshots[i].elapsed_ns < p->peak_elapsed_ns, i < interval);
        assert_true(p->peak_elapsed_ns >= 24000000 && p->peak_elapsed_ns <= 24000002);
        profile_free(p);
    }
}

static void
lacks_history_because(struct profile *p, const char *why)
{
    struct profile_point m;
    struct err err = {""};

    assert_int_equal(time_slice_need_history(p, &err), HEAPTAP_BAD_INPUT);
    assert_string_equal(err.text, arena_printf(&p->arena, "%s: it has no snapshots: %s", p->path,
                                               why));
    assert_int_equal(time_slice_find(p, "1ms", &m, &err), HEAPTAP_BAD_INPUT);
    assert_non_null(strstr(err.text, why));
}

/* If this fails, users record a longer run although another setting would give them a timeline. */
static void
the_reason_for_a_missing_history_is_named(void **unused)
{
    struct profile *p = build_profile_new();
    struct profile_note note = {.kind = NOTE_UNSEEN};

    (void)unused;
    p->process.elapsed_ns = 15999999;
    lacks_history_because(p, "the run was too short");
    p->process.elapsed_ns = 16000000;
    lacks_history_because(p, "the run had too few allocations and frees");
    p->recorder.limit_bytes = 1 << 20;
    p->recorder.memory_bytes = (7 << 17) - 1;
    lacks_history_because(p, "the run had too few allocations and frees");
    p->recorder.memory_bytes = 7 << 17;
    lacks_history_because(p, "the recorder's memory was limited to 1.0 MiB; run with a larger "
                             "--max-memory");
    p->losses.file_failed = true;
    lacks_history_because(p, "its file could not grow");
    p->snapshots = arena_array(&p->arena, 1, sizeof *p->snapshots);
    p->snapshots[p->snapshot_count++] = (struct profile_snapshot){.elapsed_ns = 1, .name = ""};
    lacks_history_because(p, "its recorder is too old");
    p->has_shares = true;
    lacks_history_because(p, "it has too many changes to distribute over callers");
    p->run_notes = &note;
    p->run_note_count = 1;
    lacks_history_because(p, "it has too many changes to distribute over callers");
    note.kind = NOTE_SNAPSHOT;
    lacks_history_because(p, "it has the live blocks of one moment");
    p->merged_processes = 2;
    lacks_history_because(p, "a merge leaves them out, they are of one process");
    profile_free(p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_in_steps_is_stated),
        cmocka_unit_test(a_time_of_a_session_is_a_time_of_each_process),
        cmocka_unit_test(a_time_after_the_end_is_stated),
        cmocka_unit_test(moments_are_found_by_name_and_time),
        cmocka_unit_test(names_of_snapshots_do_not_replace_reserved_words),
        cmocka_unit_test(a_printed_time_selects_its_own_snapshot),
        cmocka_unit_test(the_peak_is_behind_the_snapshots_before_it),
        cmocka_unit_test(a_cut_profile_is_what_it_was),
        cmocka_unit_test(the_peak_is_a_moment),
        cmocka_unit_test(without_a_history_the_start_and_the_end_are_known),
        cmocka_unit_test(the_reason_for_a_missing_history_is_named),
        cmocka_unit_test(what_grows_is_told_from_rest_and_from_the_end),
        cmocka_unit_test(columns_show_the_largest_value_of_their_points),
        cmocka_unit_test(pictures_say_whose_memory_they_show),
        cmocka_unit_test(long_names_do_not_overlap_in_pictures),
    };

    return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
