/* libs: -lpthread */
/* test_heap_table.c: the tables compared with plain arrays, by one thread at random and by several
 * at once (run it with SAN=thread). If this fails, objects of a program's heaps are lost, found
 * twice, or survive a reset; or names and labels are confused. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake_recorder.h"

#include "heaps/heap_table.c"
#include "platform/mem.c"
#include "platform/memory_share.c"
#include "platform/name_set.c"
#include "platform/sys.c"
#include "util/ensure.h"

enum { ADDRESSES = 30000, THREADS = 4 };

static struct heap_block expected[ADDRESSES];
static uint64_t random_state = 1;

static int
heap_table_begin(void **unused)
{
    (void)unused;
    fake_state_begin();
    memset(expected, 0, sizeof expected);
    return 0;
}

static int
heap_table_end(void **unused)
{
    (void)unused;
    fake_state_end();
    return 0;
}

/* --- Validity: to be called while no thread is in the table ----------------------------------- */

/* Return true if the word at PLACE in level I of M is valid and belongs to the current emptying. */
static bool
word_is_valid(const struct heap_map *m, uint32_t i, uint32_t place)
{
    const struct heap_map_level *level = m->levels[i];
    uint64_t word = level->words[place];

    VALID(word >> CLEARING_BITS != WORD_CLAIMED >> CLEARING_BITS); // No thread is filling it in.
    if (word >> CLEARING_BITS == WORD_GONE)
        return true;
    VALID(i <= map_top(m, word & CLEARING_MASK)); // Lookups reach this level.
    VALID(map_find(level, word) == place);        // A lookup finds the word in its bucket.
    for (uint32_t k = 0; k < HEAP_MAP_LEVELS && m->levels[k] != NULL; k++)
        VALID(k == i || map_find(m->levels[k], word) == NOWHERE); // No other level has the word.
    return true;
}

static bool
heap_map_is_valid(const struct heap_map *m)
{
    uint64_t clearing = m->cleared % CLEARINGS + 1;

    for (uint32_t i = 0; i < HEAP_MAP_LEVELS; i++) {
        const struct heap_map_level *level = m->levels[i];

        if (level == NULL)
            continue;
        VALID(i == 0 || m->levels[i - 1] != NULL); // A level is created when those before are full.
        // The mask maps a hash to a place.
        VALID(level->mask + 1 == (uint64_t)MAP_FIRST << (MAP_SHIFT * i));
        for (uint32_t place = 0; place <= level->mask; place++)
            if ((level->words[place] & CLEARING_MASK) == clearing && !word_is_valid(m, i, place))
                return false;
    }
    return true;
}

/* Return true if PLACE is in the window of LEVEL that begins at the home of site SITE. */
static bool
lies_in_window(const struct heap_live_level *level, uint64_t place, uint32_t site)
{
    return ((place - heap_live_hash(site)) & level->mask) < LIVE_WINDOW;
}

static bool
heap_lives_are_valid(const struct heap_lives *l)
{
    static bool seen[1 << 16];

    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < HEAP_LIVE_LEVELS && l->levels[i] != NULL; i++) {
        const struct heap_live_level *level = l->levels[i];

        for (uint64_t place = 0; place <= level->mask; place++) {
            uint32_t site = level->places[place].site;

            if (site == 0)
                continue;
            VALID(i < l->used);                        // Only used levels are counted.
            // A site outside the window would be created again.
            VALID(lies_in_window(level, place, site));
            VALID(!seen[site % countof(seen)]);        // Each site occurs once.
            seen[site % countof(seen)] = true;
        }
    }
    return true;
}

/* --------------------------------------------------------------------------------------------- */

static uint32_t
heap_table_random_below(uint32_t bound)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % bound;
}

static const void *
heap_table_address(uint32_t i)
{
    return (const void *)(uintptr_t)(4096 + 16 * (uint64_t)i);
}

/* Remove entry I from M and compare it. */
static void
take_out(struct heap_map *m, uint32_t i)
{
    struct heap_block b = heap_map_remove(m, heap_table_address(i));

    assert_int_equal(b.site, expected[i].site);
    assert_int_equal(b.birth, expected[i].birth);
    assert_int_equal(b.count, expected[i].count);
    assert_int_equal(b.size_bytes, expected[i].size_bytes);
    expected[i] = (struct heap_block){0};
}

static void
put_in(struct heap_map *m, uint32_t i)
{
    expected[i] =
        (struct heap_block){1 + heap_table_random_below(1000), heap_table_random_below(256),
                            heap_table_random_below(9), heap_table_random_below(5000)};
    assert_true(heap_map_insert(m, heap_table_address(i), expected[i]));
}

/* If this fails, removing an object from a heap of the program finds nothing, or returns another
 * object's site and size. */
static void
a_map_holds_what_was_put_in(void **unused)
{
    static struct heap_map m;

    (void)unused;
    for (uint32_t round = 0; round < 30; round++) {
        uint32_t used = 1 + heap_table_random_below(round % 3 == 0 ? 50 : ADDRESSES);

        for (uint32_t n = 0; n < 40000; n++) {
            uint32_t i = heap_table_random_below(used);

            take_out(&m, i);
            if (heap_table_random_below(3) != 0)
                put_in(&m, i);
        }
        assert_true(heap_map_is_valid(&m));
        if (round % 4 == 3) {
            heap_map_empty(&m);
            assert_true(heap_map_is_valid(&m));
            memset(expected, 0, sizeof expected);
        }
    }
    for (uint32_t i = 0; i < ADDRESSES; i++)
        take_out(&m, i);
}

/* A heap counts its resets in 16 bits, which wrap around. If this fails, objects from before a
 * reset are live again after it, in a program that resets an arena often enough. */
static void
an_emptied_map_forgets_however_often(void **unused)
{
    static struct heap_map m;

    (void)unused;
    assert_true(heap_map_insert(&m, heap_table_address(7), (struct heap_block){7, 0, 1, 1}));
    for (uint32_t n = 0; n < 3 * CLEARINGS; n++) {
        heap_map_empty(&m);
        assert_int_equal(heap_map_remove(&m, heap_table_address(7)).site, 0);
        if (n % 5 == 0)
            assert_true(
                heap_map_insert(&m, heap_table_address(7), (struct heap_block){7, 0, 1, 1}));
    }
}

/* If this fails, the highest address of a process is refused, or an address that does not fit is
 * found under another one. */
static void
addresses_up_to_the_limit_are_held(void **unused)
{
    static struct heap_map m;
    const void *highest = (const void *)(uintptr_t)((UINT64_C(1) << 47) - 1);
    const void *above = (const void *)(uintptr_t)(UINT64_C(1) << 47);

    (void)unused;
    assert_true(heap_map_insert(&m, highest, (struct heap_block){1, 0, 2, 3}));
    assert_int_equal(heap_map_remove(&m, highest).count, 2);
    assert_false(heap_map_insert(&m, above, (struct heap_block){1, 0, 2, 3}));
    assert_int_equal(heap_map_remove(&m, above).site, 0);
}

/* If this fails, a reset subtracts more or less from a site than was live there. */
static void
lives_are_one_for_each_site(void **unused)
{
    static struct heap_lives l;
    static int64_t seen[5001];
    struct heap_live *live;
    uint64_t i = 0, count = 0;

    (void)unused;
    for (uint32_t n = 0; n < 50000; n++) {
        uint32_t site = 1 + heap_table_random_below(5000);

        live = heap_live_at(&l, site);
        assert_non_null(live);
        live->count++;
        seen[site]++;
    }
    assert_true(heap_lives_are_valid(&l));
    while ((live = heap_live_next(&l, &i)) != NULL) {
        assert_int_equal(live->count, seen[live->site]);
        seen[live->site] = 0;
        live->count = 0;
        count++;
    }
    for (uint32_t site = 1; site <= 5000; site++)
        assert_int_equal(seen[site], 0);
    heap_live_clear(&l);
    i = 0;
    assert_null(heap_live_next(&l, &i));
    assert_int_equal(heap_live_at(&l, 3)->count, 0);
    assert_true(count > 4900);
}

/* If this fails, a reset by one thread subtracts less or more than all threads have added. */
static void
all_is_taken_of_owner_and_others(void **unused)
{
    struct heap_live live = {.site = 1};
    int64_t count, size_bytes;

    (void)unused;
    heap_live_add(&live, true, 5, 500);
    heap_live_add(&live, false, 2, 20);
    heap_live_add(&live, true, -1, -100);
    heap_live_take(&live, &count, &size_bytes);
    assert_int_equal(count, 6);
    assert_int_equal(size_bytes, 420);
    heap_live_take(&live, &count, &size_bytes);
    assert_int_equal(count, 0);
    assert_int_equal(size_bytes, 0);
    heap_live_add(&live, true, -3, -30); // Another thread added this object earlier.
    heap_live_add(&live, false, 4, 40);
    heap_live_take(&live, &count, &size_bytes);
    assert_int_equal(count, 1);
    assert_int_equal(size_bytes, 10);
}

/* Check that M is invalid because of CONDITION while WORD has VALUE. */
static void
breaks_map(const struct heap_map *m, uint64_t *word, uint64_t value, const char *condition)
{
    uint64_t was = *word;

    assert_true(heap_map_is_valid(m));
    *word = value;
    assert_false(heap_map_is_valid(m));
    *word = was;
    assert_memory_equal(ensure_broken_text(), condition, strlen(condition));
}

/* Insert blocks into M until its second level has one. Return the word of a block in the first
 * level whose bucket has another block after it. */
static uint64_t *
fill_two_levels(struct heap_map *m)
{
    struct heap_map_level *level;

    for (uint32_t i = 0; m->levels[1] == NULL; i++)
        assert_true(heap_map_insert(m, heap_table_address(i), (struct heap_block){1, 0, 1, 1}));
    level = m->levels[0];
    for (uint64_t *word = level->words;; word += BUCKET)
        if (word[1] != 0)
            return word;
}

/* If this fails, a heap's block may get lost in its table, and the asserts above do not notice. */
static void
a_map_that_is_off_is_found(void **unused)
{
    static struct heap_map m;
    struct heap_map_level *first, *second;
    uint64_t *word = fill_two_levels(&m), *later;
    uint32_t top = m.top;

    (void)unused;
    first = m.levels[0];
    second = m.levels[1];
    for (later = second->words; *later == 0; later++)
        ;
    breaks_map(&m, word, WORD_CLAIMED | 1, "word >> CLEARING_BITS != WORD_CLAIMED");
    breaks_map(&m, word + 1, *word, "map_find(level, word) == place");
    breaks_map(&m, word, 0, "map_find(level, word) == place");
    breaks_map(&m, word, *later, "");
    breaks_map(&m, &first->mask, 31, "level->mask + 1 ==");
    breaks_map(&m, (uint64_t *)(void *)&m.levels[0], 0, "i == 0 || m->levels[i - 1]");
    m.top = 0;
    assert_false(heap_map_is_valid(&m));
    assert_memory_equal(ensure_broken_text(), "i <= map_top", 12);
    m.top = top;
    assert_true(heap_map_is_valid(&m));
}

/* A reset may occur between the beginning and the end of an insertion. If this fails, the late
 * insertion hides blocks that were added since, and their frees are counted as unknown. */
static void
a_late_insertion_hides_no_block(void **unused)
{
    static struct heap_map m;
    uint64_t before = map_word(&m, heap_table_address(0)) & CLEARING_MASK;

    (void)unused;
    heap_map_empty(&m);
    fill_two_levels(&m);
    raise_top(&m, before, 2);
    assert_true(heap_map_is_valid(&m));
    assert_int_equal(map_top(&m, before + 1), 1);
}

/* If this fails, live objects of one site may be counted in two places, or in none. */
static void
lives_that_are_off_are_found(void **unused)
{
    static struct heap_lives l;
    struct heap_live_level *first, *second;
    struct heap_live *later;
    uint32_t site = 0;

    (void)unused;
    while (l.levels[1] == NULL)
        assert_non_null(heap_live_at(&l, ++site));
    assert_true(heap_lives_are_valid(&l));
    l.used = 1;
    assert_false(heap_lives_are_valid(&l));
    l.used = 2;
    second = l.levels[1];
    for (later = second->places; later->site == 0; later++)
        ;
    while (heap_lives_are_valid(&l))
        later->site = ++site;
    assert_memory_equal(ensure_broken_text(), "lies_in_window", 14);
    later->site = 0;
    assert_true(heap_lives_are_valid(&l));
    first = l.levels[0];
    for (site = 1; !lies_in_window(first, site - 1, first->places[site].site); site++)
        ; // Find a site that may also be in the previous place.
    first->places[site - 1].site = first->places[site].site;
    assert_false(heap_lives_are_valid(&l));
    assert_memory_equal(ensure_broken_text(), "!seen", 5);
}

/* --- Several threads -------------------------------------------------------------------------- */

static struct heap_map shared_map;
static struct heap_lives shared_lives;

/* Every thread uses separate addresses; all share the sites. */
static void *
heap_table_hammer(void *arg)
{
    uint32_t first = (uint32_t)(uintptr_t)arg * 5000;
    uintptr_t wrong = 0;

    for (uint32_t round = 0; round < 10; round++) {
        for (uint32_t i = first; i < first + 5000; i++) {
            struct heap_block b = {1 + i % 700, i % 256, i, round};
            struct heap_live *live = heap_live_at(&shared_lives, b.site);

            wrong += !heap_map_insert(&shared_map, heap_table_address(i), b) || live == NULL;
            if (live != NULL)
                add_relaxed(&live->count, INT64_C(1));
        }
        for (uint32_t i = first; i < first + 5000; i++) {
            struct heap_block b = heap_map_remove(&shared_map, heap_table_address(i));

            wrong += b.site != 1 + i % 700 || b.count != i || b.size_bytes != round;
        }
    }
    return (void *)wrong;
}

/* If this fails, threads that share a pool lose each other's objects, or count them at the wrong
 * site. */
static void
threads_do_not_disturb_each_other(void **unused)
{
    pthread_t threads[THREADS];
    struct heap_live *live;
    int64_t sum = 0;
    uint64_t i = 0;

    (void)unused;
    for (uintptr_t k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, heap_table_hammer, (void *)k), 0);
    for (int k = 0; k < THREADS; k++) {
        void *wrong;

        pthread_join(threads[k], &wrong);
        assert_null(wrong);
    }
    assert_true(heap_map_is_valid(&shared_map));
    assert_true(heap_lives_are_valid(&shared_lives));
    while ((live = heap_live_next(&shared_lives, &i)) != NULL)
        sum += live->count;
    assert_int_equal(sum, THREADS * 10 * 5000);
}

/* --- Names and labels ------------------------------------------------------------------------- */

static uint32_t places[2000];
static unsigned char pool[16000];
static struct name_set texts = {places, 2000, sizeof pool, pool, 0};

static uint32_t
heap_table_intern(uint32_t i)
{
    char text[20];
    int length = snprintf(text, sizeof text, "text %u", i);

    return name_set_intern(&texts, text, (size_t)length);
}

static void *
intern_all(void *arg)
{
    uint32_t *numbers = arg;

    for (uint32_t i = 0; i < 1000; i++)
        numbers[i] = heap_table_intern(i);
    return NULL;
}

/* If this fails, a heap or a set of labels changes its name while the program runs, has two ids in
 * two threads, or gets another one's id when the table is full. */
static void
texts_keep_their_numbers(void **unused)
{
    static uint32_t numbers[THREADS][1000];
    pthread_t threads[THREADS];
    size_t size_bytes;

    (void)unused;
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, intern_all, numbers[k]), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    for (uint32_t i = 0; i < 1000; i++) {
        char text[20];
        int length = snprintf(text, sizeof text, "text %u", i);
        const void *kept = name_set_get(&texts, numbers[0][i], &size_bytes);

        assert_int_equal(size_bytes, length);
        assert_memory_equal(kept, text, size_bytes);
        for (int k = 1; k < THREADS; k++)
            assert_int_equal(numbers[k][i], numbers[0][i]);
    }
    // The pool has room for these and a few more.
    assert_int_equal(heap_table_intern(2000000000), heap_table_intern(2000000000));
    for (uint32_t i = 1000; i < 3000; i++)
        heap_table_intern(i);
    assert_int_equal(heap_table_intern(1999999999), NAME_SET_NONE);
    assert_int_equal(heap_table_intern(5), numbers[0][5]);
    name_set_get(&texts, 12345678, &size_bytes);
    assert_int_equal(size_bytes, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_map_holds_what_was_put_in, heap_table_begin,
                                        heap_table_end),
        cmocka_unit_test_setup_teardown(an_emptied_map_forgets_however_often, heap_table_begin,
                                        heap_table_end),
        cmocka_unit_test_setup_teardown(addresses_up_to_the_limit_are_held, heap_table_begin,
                                        heap_table_end),
        cmocka_unit_test_setup_teardown(a_late_insertion_hides_no_block, heap_table_begin,
                                        heap_table_end),
        cmocka_unit_test_setup_teardown(a_map_that_is_off_is_found, heap_table_begin,
                                        heap_table_end),
        cmocka_unit_test_setup_teardown(lives_that_are_off_are_found, heap_table_begin,
                                        heap_table_end),
        cmocka_unit_test_setup_teardown(lives_are_one_for_each_site, heap_table_begin,
                                        heap_table_end),
        cmocka_unit_test_setup_teardown(all_is_taken_of_owner_and_others, heap_table_begin,
                                        heap_table_end),
        cmocka_unit_test_setup_teardown(threads_do_not_disturb_each_other, heap_table_begin,
                                        heap_table_end),
        cmocka_unit_test(texts_keep_their_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
