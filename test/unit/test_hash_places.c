/* test_hash_places.c: the places for keys in tables that only grow. If this fails, names of
 * functions or labels are lost before their table is full, or a short process touches a page of the
 * table for each of its names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/hash.h"
#include "base/hash_places.h"

/* Return the place where KEY is found or added among TOTAL PLACES. Return TOTAL if it finds no
 * room. */
static uint32_t
hash_places_add(uint64_t *places, uint32_t total, uint64_t key)
{
    struct hash_places p = {.hash = hash_u64(key), .total = total};
    uint32_t place;

    while (hash_places_next(&p, &place)) {
        assert_true(place < total);
        if (places[place] == 0)
            places[place] = key;
        if (places[place] == key)
            return place;
    }
    return total;
}

/* If this fails, functions of a script are shown as "other functions" although there is room. */
static void
a_table_of_twice_as_many_places_holds_all_keys(void **unused)
{
    enum { KEYS = 131071, TOTAL = 2 * KEYS };
    uint64_t *places = calloc(TOTAL, sizeof *places);

    (void)unused;
    for (uint64_t key = 1; key <= KEYS; key++)
        assert_true(hash_places_add(places, TOTAL, key) < TOTAL);
    for (uint64_t key = 1; key <= KEYS; key++)
        assert_int_equal(places[hash_places_add(places, TOTAL, key)], key);
    free(places);
}

/* If this fails, each name of a short process touches another page, with two page faults. */
static void
few_keys_are_close_together(void **unused)
{
    enum { KEYS = 400, TOTAL = 262142 };
    uint64_t *places = calloc(TOTAL, sizeof *places);

    (void)unused;
    for (uint64_t key = 1; key <= KEYS; key++)
        assert_true(hash_places_add(places, TOTAL, key) < 5 * HASH_PLACES_FIRST);
    free(places);
}

/* If this fails, a small table has no room although most of it is free, or is left. */
static void
small_tables_have_one_level(void **unused)
{
    static const uint32_t totals[] = {1, 5, 64, 1016, 1024, 1025};
    uint64_t places[1025];

    (void)unused;
    for (size_t i = 0; i < countof(totals); i++) {
        uint32_t room = 0;

        for (uint32_t k = 0; k < countof(places); k++)
            places[k] = 0;
        for (uint64_t key = 1; key <= totals[i]; key++)
            room += hash_places_add(places, totals[i], key) < totals[i];
        assert_in_range(room, totals[i] - totals[i] / 8, totals[i]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_of_twice_as_many_places_holds_all_keys),
        cmocka_unit_test(few_keys_are_close_together),
        cmocka_unit_test(small_tables_have_one_level),
    };

    return cmocka_run_group_tests_name("hash_places", tests, NULL, NULL);
}
