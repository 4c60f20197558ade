/* test_unsymbolized.c: reports on missing names: the modules whose memory is shown without names,
 * and the packages that files belong to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyse/unsymbolized.h"
#include "build_profile.h"
#include "symbol/package.h"

static char directory[] = "/tmp/heaptap-nameless-XXXXXX";

static void
write_list(const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* If this fails, a hint names the wrong debug package, or no package. */
static void
a_file_is_found_in_the_list_of_its_package(void **state)
{
    const char *paths[] = {"/usr/bin/jq", "/usr/lib/x/libjq.so.1", "/usr/bin/j", "", "/opt/a b"};
    const char *names[countof(paths)] = {NULL};
    struct arena arena = {0};

    (void)state;
    write_list("jq.list", "/.\n/usr\n/usr/bin\n/usr/bin/jq\n");
    write_list("libjq1:amd64.list", "/lib/x/libjq.so.1\n/opt/a b");
    write_list("other.md5sums", "/usr/bin/j\n");
    write_list(".list", "/usr/bin/j\n");
    package_find(directory, false, paths, countof(paths), names, &arena);
    assert_string_equal(names[0], "jq");
    assert_string_equal(names[1], "libjq1");
    assert_null(names[2]);
    assert_null(names[3]);
    assert_string_equal(names[4], "libjq1");
    package_find("/dev/null/directory", true, paths, countof(paths), names, &arena);
    arena_release(&arena);
}

static const char *
package_of(const char *lists, const char *path, struct arena *arena)
{
    const char *name = NULL;

    package_find(lists, true, &path, 1, &name, arena);
    return name != NULL ? name : "";
}

/* If this fails, each run of a short program reads thousands of package lists; or, after a file was
 * replaced, a hint names the package of the former file. */
static void
an_answer_holds_until_the_lists_change(void **state)
{
    const struct timespec past[] = {{1000000000, 5}, {1000000000, 5}};
    struct arena arena = {0};
    const char *lists = arena_printf(&arena, "%s/lists", directory);

    (void)state;
    setenv("XDG_CACHE_HOME", directory, 1);
    assert_int_equal(mkdir(lists, 0700), 0);
    write_list("lists/one.list", "/usr/bin/one\n");
    // The clock of files may be too coarse for the next change.
    assert_string_equal(package_of(lists, "/usr/bin/one", &arena), "one");
    write_list("lists/one.list", "/usr/bin/two\n");
    assert_string_equal(package_of(lists, "/usr/bin/one", &arena), "");
    assert_int_equal(utimensat(AT_FDCWD, lists, past, 0), 0);
    assert_string_equal(package_of(lists, "/usr/bin/one", &arena), "");
    assert_string_equal(package_of(lists, "/usr/bin/two", &arena), "one");
    // dpkg never does this: the list is replaced, but the directory looks unchanged.
    write_list("lists/one.list", "/usr/bin/one\n");
    assert_string_equal(package_of(lists, "/usr/bin/one", &arena), "");
    assert_string_equal(package_of(lists, "/usr/bin/two", &arena), "one");
    write_list("lists/three.list", "/usr/bin/two\n");
    assert_string_equal(package_of(lists, "/usr/bin/one", &arena), "one");
    assert_string_equal(package_of(lists, "/usr/bin/two", &arena), "three");
    unsetenv("XDG_CACHE_HOME");
    arena_release(&arena);
}

/* If this fails, a damaged answer is shown, or is never replaced. */
static void
a_damaged_answer_is_not_believed(void **state)
{
    const struct timespec past[] = {{1000000000, 5}, {1000000000, 5}};
    struct arena arena = {0};
    const char *lists = arena_printf(&arena, "%s/whole", directory);
    const char *good = arena_printf(&arena, "heaptap package 1\n%s 1000000000.000000005\n", lists);
    const char *const bad[] = {"", "heaptap package 1\n", good, arena_printf(&arena, "%sx", good),
                               arena_printf(&arena, "%sx\ny\n", good),
                               arena_printf(&arena, "%s%0300d\n", good, 0)};

    (void)state;
    setenv("XDG_CACHE_HOME", directory, 1);
    assert_int_equal(mkdir(lists, 0700), 0);
    write_list("whole/one.list", "/usr/bin/three\n");
    assert_int_equal(utimensat(AT_FDCWD, lists, past, 0), 0);
    for (size_t i = 0; i < countof(bad); i++) {
        write_list("heaptap/package-00+usr+bin+three", bad[i]);
        assert_string_equal(package_of(lists, "/usr/bin/three", &arena), "one");
    }
    write_list("heaptap/package-00+usr+bin+three", arena_printf(&arena, "%skept\n", good));
    assert_string_equal(package_of(lists, "/usr/bin/three", &arena), "kept");
    unsetenv("XDG_CACHE_HOME");
    arena_release(&arena);
}

/* If this fails, hints name modules that do not matter, or omit those that do. */
static void
a_stack_counts_once_for_a_module_without_names(void **state)
{
    struct profile *p = build_profile_new();
    struct unsymbolized_bytes total;
    struct unsymbolized_module *v;
    struct arena arena = {0};
    struct stacks stacks;
    struct err err;

    (void)state;
    build_site(p, build_counters(2, 200, 1, 100), "!/lib/libx.so", "f@a.c:1", "!/lib/libx.so",
               "main@a.c:9", NULL);
    build_site(p, build_counters(1, 600, 0, 0), "f@a.c:1", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 200, 0, 0), "named!/lib/libx.so", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 1000, 0, 0), "!/lib/libc.so.6", "main@a.c:9", NULL);
    assert_int_equal(stacks_build(p, &(struct stacks_options){0}, &arena, &stacks, &err), 0);
    v = unsymbolized_modules(p, &stacks, &arena);
    total = unsymbolized_bytes(&stacks.total);
    for (uint32_t i = 1; i < p->module_count; i++) {
        bool is_x = strcmp(p->modules[i].path, "/lib/libx.so") == 0;

        assert_int_equal(v[i].unsymbolized.by_metric[METRIC_ALLOC], is_x ? 200 : 0);
        assert_int_equal(v[i].unsymbolized.by_metric[METRIC_INUSE], is_x ? 100 : 0);
        assert_int_equal(v[i].lineless.by_metric[METRIC_ALLOC], is_x ? 200 : 0);
        // This is 200 of 2000 allocated bytes. The share of live bytes, 100 of 1900, is smaller.
        assert_true(unsymbolized_share(&v[i].unsymbolized, &total) == (is_x ? 0.1 : 0));
    }
    arena_release(&arena);
    profile_free(p);
}

static int
unsymbolized_set_up(void **state)
{
    (void)state;
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int
unsymbolized_tear_down(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_found_in_the_list_of_its_package),
        cmocka_unit_test(an_answer_holds_until_the_lists_change),
        cmocka_unit_test(a_damaged_answer_is_not_believed),
        cmocka_unit_test(a_stack_counts_once_for_a_module_without_names),
    };

    return cmocka_run_group_tests(tests, unsymbolized_set_up, unsymbolized_tear_down);
}
