/* test_module_cache.c: cached data of files, shared by the profiles of one run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/module_cache.h"

static const uint8_t id[SYMCACHE_ID_MAX + 1] = {1, 2, 3, 4};
static const uint8_t other_id[SYMCACHE_ID_MAX] = {1, 2, 3, 5};

static int released;

static void
count_release(void *types)
{
    released++;
    free(types);
}

/* If this fails, names from a file are used for another file that replaced it during a run. */
static void
a_file_is_known_by_its_path_and_its_whole_build_id(void **state)
{
    struct module_cache k = {0};
    struct module_cache_entry *f = module_cache_find(&k, "/lib/a.so", id, 4);

    (void)state;
    assert_non_null(f);
    assert_string_equal(f->path, "/lib/a.so");
    assert_ptr_equal(module_cache_find(&k, "/lib/a.so", id, 4), f);
    assert_ptr_not_equal(module_cache_find(&k, "/lib/b.so", id, 4), f);
    assert_ptr_not_equal(module_cache_find(&k, "/lib/a.so", other_id, 4), f);
    assert_ptr_not_equal(module_cache_find(&k, "/lib/a.so", id, 3), f);
    assert_ptr_not_equal(module_cache_find(&k, "/lib/a.so", id, SYMCACHE_ID_MAX), f);
    assert_int_equal(k.count, 5);
    assert_ptr_equal(module_cache_find(&k, "/lib/a.so", id, 4), f);
    module_cache_release(&k);
}

/* If this fails, files that cannot be distinguished share their names, or an id overruns its
 * buffer. */
static void
a_file_that_cannot_be_told_by_its_build_id_is_not_kept(void **state)
{
    struct module_cache k = {0};

    (void)state;
    assert_null(module_cache_find(&k, "/lib/a.so", id, 0));
    assert_null(module_cache_find(&k, "/lib/a.so", id, sizeof id));
    assert_null(module_cache_find(NULL, "/lib/a.so", id, 4));
    assert_int_equal(k.count, 0);
    module_cache_release(&k);
}

/* If this fails, an entry is lost or moves while it is in use. */
static void
entries_stay_where_they_are_while_others_come(void **state)
{
    enum { FILES = 300 };
    struct module_cache_entry *files[FILES];
    struct module_cache k = {0};
    char path[32];

    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "/lib/%zu.so", i);
        files[i] = module_cache_find(&k, path, id, 4);
    }
    for (size_t i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "/lib/%zu.so", i);
        assert_ptr_equal(module_cache_find(&k, path, id, 4), files[i]);
        assert_string_equal(files[i]->path, path);
    }
    assert_int_equal(k.count, FILES);
    module_cache_release(&k);
}

/* If this fails, cached data leaks, or is freed twice. */
static void
release_frees_what_was_kept_and_leaves_an_empty_list(void **state)
{
    const struct symbol_frame frame = {.function = "main", .linkage = "main"};
    struct module_cache k = {0};
    struct module_cache_entry *f = module_cache_find(&k, "/bin/a", id, 4);

    (void)state;
    symcache_add(&f->frames, 0x1000, &frame, 1, 0);
    f->types = malloc(1);
    f->release_types = count_release;
    assert_null(module_cache_find(&k, "/bin/b", id, 4)->types);
    released = 0;
    module_cache_release(&k);
    assert_int_equal(released, 1);
    assert_int_equal(k.count, 0);
    module_cache_release(&k);
    assert_int_equal(released, 1);
    assert_null(module_cache_find(&k, "/bin/a", id, 4)->types);
    module_cache_release(&k);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_known_by_its_path_and_its_whole_build_id),
        cmocka_unit_test(a_file_that_cannot_be_told_by_its_build_id_is_not_kept),
        cmocka_unit_test(entries_stay_where_they_are_while_others_come),
        cmocka_unit_test(release_frees_what_was_kept_and_leaves_an_empty_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
