/* test_holders.c: which code is the user's own, and what it holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/holders.h"
#include "analyse/own_code.h"
#include "build_profile.h"

static struct arena arena;

static struct stacks
build(const struct profile *p)
{
    static const struct stacks_options options;
    struct stacks s;
    struct err err;

    assert_int_equal(stacks_build(p, &options, &arena, &s, &err), 0);
    return s;
}

static const char *
holder_name(const struct profile *p, const struct holder *h)
{
    return profile_string(p, p->frames[h->largest->frames[h->own]].function);
}

/* The function that OWN code is found in, in stack I. */
static const char *
own_name(const struct profile *p, const struct stacks *s, size_t i)
{
    struct own_code own;
    uint32_t frame;

    own_code_init(&own, p, &arena);
    frame = own_code_frame(&own, &s->v[i]);
    return profile_string(p, p->frames[s->v[i].frames[frame]].function);
}

static void
build_libraries(struct profile *p)
{
    build_site(p, build_counters(1, 8, 0, 0), "fopen!/lib/x86_64-linux-gnu/libc.so.6",
               "inflate!/usr/lib/x86_64-linux-gnu/libz.so.1", "load@a.c:1!/opt/me/prog",
               "main@a.c:2!/opt/me/prog", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "ext!/usr/lib/python3/dist-packages/e.so",
               "main@a.c:2!/opt/me/prog", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "init!/usr/lib/x86_64-linux-gnu/libz.so.1",
               "call_init!/lib64/ld-linux-x86-64.so.2", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "mine!/opt/me/libmine.so",
               "main@a.c:2!/opt/me/prog", NULL);
}

/* If this fails, rows of the first screen are named after libraries that the user cannot change. */
static void
own_code_begins_where_libraries_end(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    p->process.executable = "/opt/me/prog";
    build_libraries(p);
    s = build(p);
    assert_string_equal(own_name(p, &s, 0), "load");
    assert_string_equal(own_name(p, &s, 1), "ext");
    assert_string_equal(own_name(p, &s, 2), "init");
    assert_string_equal(own_name(p, &s, 3), "mine");
    profile_free(p);
}

/* If this fails, rows of stripped programs are addresses where the caller has a name. */
static void
a_name_that_is_near_stands_for_a_nameless_function(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "!/opt/me/a.so", "!/opt/me/a.so", "f!/opt/me/a.so",
               NULL);
    build_site(p, build_counters(1, 8, 0, 0), "!/opt/me/a.so", "g!/opt/me/b.so", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "!/opt/me/a.so", "!/opt/me/a.so", "!/opt/me/a.so",
               "far!/opt/me/a.so", NULL);
    s = build(p);
    assert_string_equal(own_name(p, &s, 0), "f");
    assert_string_equal(own_name(p, &s, 1), "");
    assert_string_equal(own_name(p, &s, 2), "");
    profile_free(p);
}

/* If this fails, a program of the system that lives in its libraries is one row, main. */
static void
libraries_of_system_programs_count_as_own(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    p->process.executable = "/usr/bin/python3";
    build_libraries(p);
    s = build(p);
    assert_string_equal(own_name(p, &s, 0), "inflate");
    profile_free(p);
}

/* If this fails, the numbers of a row are not those of the lines beneath it, or a stack is lost. */
static void
holders_add_up_with_their_callers(void **state)
{
    struct profile *p = build_profile_new();
    int64_t sum = 0, callers = 0;
    struct holders h;
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 100, 0, 0), "f@a.c:1", "g@a.c:5", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 50, 0, 0), "f@a.c:2", "f@a.c:3", "h@a.c:6", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 30, 0, 0), "f@a.c:1", "g@a.c:6", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 170, 0, 0), "main@a.c:8", NULL);
    build_site(p, build_counters(1, 1, 0, 0), NULL);
    s = build(p);
    holders_build(p, &s, METRIC_INUSE, &arena, &h);
    assert_int_equal(h.count, 3);
    assert_string_equal(holder_name(p, &h.v[0]), "f");
    assert_int_equal(h.v[0].caller_count, 2);
    assert_int_equal(counters_live_bytes(&h.v[0].callers[0].counters), 130);
    assert_int_equal(counters_live_bytes(&h.v[0].callers[0].largest->counters), 100);
    assert_int_equal(counters_live_bytes(&h.v[0].callers[1].counters), 50);
    assert_string_equal(holder_name(p, &h.v[1]), "main");
    assert_int_equal(h.v[2].largest->depth, 0);
    for (size_t i = 0; i < h.count; i++) {
        sum += counters_live_bytes(&h.v[i].counters);
        for (size_t k = 0; k < h.v[i].caller_count; k++)
            callers += counters_live_bytes(&h.v[i].callers[k].counters);
    }
    assert_int_equal(sum, 351);
    assert_int_equal(callers, 351);
    profile_free(p);
}

static int
release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_code_begins_where_libraries_end),
        cmocka_unit_test(a_name_that_is_near_stands_for_a_nameless_function),
        cmocka_unit_test(libraries_of_system_programs_count_as_own),
        cmocka_unit_test(holders_add_up_with_their_callers),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}
