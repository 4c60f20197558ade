/* test_map.c: the tools' hash map compared with an array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/map.h"

enum { KEYS = 5000 };

/* Typical keys are small numbers, with 0 among them, and pairs of numbers. */
static uint64_t
key_of(uint64_t i)
{
    return i % 2 == 0 ? i / 2 : i << 32 | i % 7;
}

static void
map_fill(struct map *m)
{
    for (uint64_t round = 0; round < 2; round++)
        for (uint64_t i = 0; i < KEYS; i++) {
            bool is_new;
            uint64_t *value = map_put(m, key_of(i), &is_new);

            assert_int_equal(is_new, round == 0);
            assert_int_equal(*value, round == 0 ? 0 : i + 1);
            *value = i + 1;
        }
}

/* If this fails, two items of a profile become one, or an item becomes two. */
static void
each_key_has_one_value_zero_among_them(void **state)
{
    struct map m = {0};

    (void)state;
    assert_null(map_get(&m, 0));
    assert_null(map_get(&m, 1));
    map_fill(&m);
    assert_int_equal(m.count, KEYS);
    for (uint64_t i = 0; i < KEYS; i++)
        assert_int_equal(*map_get(&m, key_of(i)), i + 1);
    assert_null(map_get(&m, UINT64_MAX));
    assert_true(map_is_valid(&m));
    map_release(&m);
    assert_null(map_get(&m, 0));
}

/* If this fails, a large profile is loaded slowly, or a reserved map loses its entries. */
static void
a_reserved_map_does_not_grow_and_keeps_what_it_has(void **state)
{
    struct map m = {0};
    size_t capacity;

    (void)state;
    *map_put(&m, 0, NULL) = 7;
    *map_put(&m, 9, NULL) = 8;
    map_reserve(&m, KEYS + 2);
    assert_int_equal(*map_get(&m, 0), 7);
    assert_int_equal(*map_get(&m, 9), 8);
    map_release(&m);
    map_reserve(&m, KEYS);
    capacity = m.capacity;
    map_fill(&m);
    assert_int_equal(m.capacity, capacity);
    map_reserve(&m, 1);
    assert_int_equal(m.capacity, capacity);
    assert_true(map_is_valid(&m));
    map_release(&m);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_has_one_value_zero_among_them),
        cmocka_unit_test(a_reserved_map_does_not_grow_and_keeps_what_it_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
