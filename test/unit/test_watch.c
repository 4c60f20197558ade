/* test_watch.c: profiles that are read again and again by a thread. If a test fails, the screen and
 * the server show old numbers, read too often, or lose a process that has ended. */
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "build_profile.h"
#include "live/watch.h"
#include "merge/merge.h"
#include "profile/pack.h"

enum { WAIT_MS = 20000 };
#define MS UINT64_C(1000000)

static char directory[] = "/tmp/heaptap_watch_XXXXXX";

/* Write a profile with BLOCKS live blocks of ten bytes as the file NAME of the directory. */
static void
write_file(const char *name, int64_t blocks)
{
    struct profile *p = build_profile_new();
    struct merge *sum = merge_new(); // Only its result can be written.
    struct strbuf file = {0};
    struct arena arena = {0};
    struct err err = {""};
    uint32_t thread = build_thread(p, "main");
    uint32_t site =
        build_site(p, build_counters(blocks, 10 * blocks, 0, 0), "make@a.c:3", "main@a.c:9", NULL);
    const char *path = arena_printf(&arena, "%s/%s", directory, name);
    const char *fresh = arena_printf(&arena, "%s.new", path);
    FILE *f;

    build_thread_site(p, thread, site, p->sites[site].counters);
    merge_add(sum, p);
    assert_int_equal(write_model(merge_finish(sum), &file, &err), 0);
    f = fopen(fresh, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(file.text, 1, file.length, f), file.length);
    fclose(f);
    assert_int_equal(rename(fresh, path), 0);
    strbuf_release(&file);
    arena_release(&arena);
    merge_free(sum);
    profile_free(p);
}

static void *
live_blocks(void *arg, struct profile *p, const struct reading *reading, const void *previous)
{
    int64_t *ret = xmalloc(2 * sizeof *ret);

    (void)arg;
    (void)reading;
    ret[0] = counters_live_blocks(&p->totals);
    ret[1] = previous != NULL ? ((const int64_t *)previous)[0] : -1;
    return ret;
}

/* Return the only process of W once it has reading NUMBER, or a TROUBLE. */
static struct watched
wait_for(struct watch *w, struct arena *arena, uint64_t number, bool trouble)
{
    struct pollfd ready = {watch_descriptor(w), POLLIN, 0};

    for (;;) {
        size_t count;
        struct watched *v = watch_processes(w, arena, &count);

        assert_int_equal(count, 1);
        if (trouble ? v->trouble != NULL : v->latest != NULL && v->latest->number >= number)
            return *v;
        reading_release(v->latest);
        assert_int_equal(poll(&ready, 1, WAIT_MS), 1);
    }
}

static const struct view_options view;

static struct watch *
watch_directory(struct err *err)
{
    return watch_new(&(struct watch_options){.what = directory,
                                             .interval_ns = 10 * MS,
                                             .view = &view,
                                             .digest = live_blocks,
                                             .release = free},
                     err);
}

/* If this fails, a screen shows the numbers of the past, or a change of the wrong sign. */
static void
a_file_that_changed_is_read_again_and_compared(void **state)
{
    struct arena arena = {0};
    struct err err = {""};
    struct watched a, b;
    struct moment_change c;
    struct watch *w;

    (void)state;
    write_file("one.heaptap", 7);
    w = watch_directory(&err);
    assert_non_null(w);
    a = wait_for(w, &arena, 1, false);
    assert_true(a.ended);
    assert_int_equal(((int64_t *)a.latest->digest)[0], 7);
    assert_int_equal(((int64_t *)a.latest->digest)[1], -1);
    assert_int_equal(moment_difference(&a.latest->before, &a.latest->now).seconds > 0, 0);
    write_file("one.heaptap", 4);
    b = wait_for(w, &arena, 2, false);
    assert_int_equal(((int64_t *)b.latest->digest)[0], 4);
    assert_int_equal(((int64_t *)b.latest->digest)[1], 7);
    c = moment_difference(&b.latest->before, &b.latest->now);
    assert_true(c.seconds > 0);
    assert_int_equal(c.live_bytes, -30);
    assert_int_equal(c.amounts.allocations, -3);
    // The first reading is whole as long as somebody has it.
    assert_int_equal(counters_live_bytes(&a.latest->p->totals), 70);
    reading_release(a.latest);
    reading_release(b.latest);
    watch_free(w);
    arena_release(&arena);
}

/* If this fails, the screen goes blank when somebody deletes the profile. */
static void
a_deleted_profile_keeps_its_last_reading(void **state)
{
    struct arena arena = {0};
    struct err err = {""};
    struct watched a;
    struct watch *w;
    char path[128];

    (void)state;
    write_file("one.heaptap", 7);
    w = watch_directory(&err);
    assert_non_null(w);
    a = wait_for(w, &arena, 1, false);
    reading_release(a.latest);
    snprintf(path, sizeof path, "%s/one.heaptap", directory);
    assert_int_equal(unlink(path), 0);
    a = wait_for(w, &arena, 0, true);
    assert_non_null(strstr(a.trouble, "No such file"));
    assert_int_equal(((int64_t *)a.latest->digest)[0], 7);
    reading_release(a.latest);
    watch_free(w);
    arena_release(&arena);
}

/* If this fails, another grouping of the screen needs another reading of the profile. */
static void
a_digest_is_repeated_without_a_reading(void **state)
{
    struct arena arena = {0};
    struct err err = {""};
    struct watched a, b;
    struct watch *w;

    (void)state;
    write_file("one.heaptap", 7);
    w = watch_directory(&err);
    assert_non_null(w);
    a = wait_for(w, &arena, 1, false);
    watch_repeat(w, a.id);
    b = wait_for(w, &arena, 2, false);
    assert_ptr_equal(a.latest->p, b.latest->p);
    assert_ptr_not_equal(a.latest->digest, b.latest->digest);
    reading_release(a.latest);
    watch_repeat(w, b.id);
    a = wait_for(w, &arena, 3, false);
    reading_release(b.latest);
    reading_release(a.latest);
    watch_free(w);
    arena_release(&arena);
}

struct gate {
    sem_t begun, may_end;
};

/* As live_blocks, for a test that acts during each reading. */
static void *
live_blocks_in_time(void *arg, struct profile *p, const struct reading *reading,
                    const void *previous)
{
    struct gate *gate = arg;

    sem_post(&gate->begun);
    sem_wait(&gate->may_end);
    return live_blocks(NULL, p, reading, previous);
}

/* If this fails, `top` waits forever for the rows of a profile that no longer changes. */
static void
a_wish_during_a_reading_is_met_after_it(void **state)
{
    void (*wish[])(struct watch *w, uint32_t id) = {watch_repeat, watch_renew};

    (void)state;
    write_file("one.heaptap", 7);
    for (size_t i = 0; i < sizeof wish / sizeof *wish; i++) {
        struct arena arena = {0};
        struct err err = {""};
        struct gate gate;
        struct watched a;
        struct watch *w;

        sem_init(&gate.begun, 0, 0);
        sem_init(&gate.may_end, 0, 0);
        w = watch_new(&(struct watch_options){.what = directory,
                                              .interval_ns = 3600 * 1000 * MS,
                                              .view = &view,
                                              .arg = &gate,
                                              .digest = live_blocks_in_time,
                                              .release = free},
                      &err);
        assert_non_null(w);
        sem_wait(&gate.begun);
        wish[i](w, 1);
        sem_post(&gate.may_end);
        sem_post(&gate.may_end);
        a = wait_for(w, &arena, 2, false);
        assert_true(a.ended);
        assert_int_equal(((int64_t *)a.latest->digest)[1], 7);
        reading_release(a.latest);
        watch_free(w);
        arena_release(&arena);
        sem_destroy(&gate.begun);
        sem_destroy(&gate.may_end);
    }
}

/* If this fails, a screen of a large profile, or of many, uses a whole processor. */
static void
readings_take_at_most_a_twentieth_of_the_time(void **state)
{
    (void)state;
    assert_int_equal(watch_rest_ns(1000 * MS, 10 * MS, 1), 1000 * MS);
    assert_int_equal(watch_rest_ns(1000 * MS, 100 * MS, 1), 2000 * MS);
    assert_int_equal(watch_rest_ns(1000 * MS, 10 * MS, 50), 10000 * MS);
    assert_int_equal(watch_rest_ns(0, 0, 0), 0);
    assert_true(watch_rest_ns(0, UINT64_MAX, 1000) > UINT64_MAX / 4);
}

/* If this fails, a server does not start before the first program does. */
static void
an_empty_directory_has_no_processes_and_a_missing_one_is_an_error(void **state)
{
    struct arena arena = {0};
    struct err err = {""};
    struct watch *w = watch_directory(&err);
    size_t count = 1;

    (void)state;
    assert_non_null(w);
    watch_processes(w, &arena, &count);
    assert_int_equal(count, 0);
    watch_free(w);
    assert_null(watch_new(&(struct watch_options){.what = "4194304", .view = &view}, &err));
    assert_non_null(strstr(err.text, "no process 4194304"));
    arena_release(&arena);
}

static int
make_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/heaptap_watch_XXXXXX");
    return mkdtemp(directory) == NULL;
}

static int
remove_directory(void **state)
{
    char path[128];

    (void)state;
    snprintf(path, sizeof path, "%s/one.heaptap", directory);
    unlink(path);
    return rmdir(directory);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(a_file_that_changed_is_read_again_and_compared),
        TEST(a_deleted_profile_keeps_its_last_reading),
        TEST(a_digest_is_repeated_without_a_reading),
        TEST(a_wish_during_a_reading_is_met_after_it),
        TEST(readings_take_at_most_a_twentieth_of_the_time),
        TEST(an_empty_directory_has_no_processes_and_a_missing_one_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
