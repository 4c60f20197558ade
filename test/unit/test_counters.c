/* test_counters.c: counters of accesses in memory. If this fails, `access` shows accesses that did
 * not happen, or misses some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "access/counter_overflow.c"
#include "access/shadow.c"
#include "platform/process.h"
#include "platform/sys.c"

uint64_t
process_value(uint32_t type)
{
    (void)type;
    return WORDS_FROM;
}

void
mem_exclude(void *address, size_t size_bytes)
{
    (void)address;
    (void)size_bytes;
}

/* Shared by all granule sizes, since a process has one area. */
static uint64_t area[64];
static char *block; // The block that the area counts.

/* Set up counters with granules of GRANULE_BYTES for the memory at `block`. */
static void
count_by(uint32_t granule_bytes, bool separate)
{
    const struct placement *p = placement_of(granule_bytes);

    memset(area, 0, sizeof area);
    memset(&counter_overflows, 0, sizeof counter_overflows);
    block = (char *)(uintptr_t)UINT64_C(0x560000000000);
    shadow = (struct shadow){.granule_bytes = granule_bytes,
                             .granule_shift = p->granule_shift,
                             .scale = p->scale,
                             .high = ADDRESS_END,
                             .separate = separate};
    shadow.base = (uintptr_t)area - ((uintptr_t)block >> p->scale);
}

static uint64_t
reads_of(const uint64_t *counter)
{
    const uint32_t *half = shadow_half(counter, SHADOW_READ);

    return *half + counter_overflow_of(half);
}

static uint64_t
writes_of(const uint64_t *counter)
{
    const uint32_t *half = shadow_half(counter, SHADOW_WRITE);

    return *half + counter_overflow_of(half);
}

/* If this fails, accesses to a neighbour are counted for a block, or the block's accesses are
 * not. */
static void
words_count_once_each_at_their_granule(void **unused)
{
    (void)unused;
    count_by(16, false);
    shadow_count(block + 7, 2, SHADOW_READ); // Two words of the first granule.
    assert_int_equal(area[0], 2);
    shadow_count(block + 8, 41, SHADOW_WRITE); // Words 1 to 6.
    assert_int_equal(area[0], 3);
    assert_int_equal(area[1], 2);
    assert_int_equal(area[2], 2);
    assert_int_equal(area[3], 1);
    shadow_count(block, 0, SHADOW_READ);
    assert_int_equal(area[0], 3);
    assert_int_equal(area[4], 0);
}

/* If this fails, heaptap reports memory as only written although it is read. */
static void
reads_and_writes_do_not_touch_each_other(void **unused)
{
    (void)unused;
    count_by(8, true);
    shadow_count(block, 32, SHADOW_READ);
    shadow_count(block + 8, 16, SHADOW_WRITE);
    shadow_count_one((uintptr_t)block + 4, SHADOW_WRITE);
    shadow_count_one((uintptr_t)block + 31, SHADOW_READ);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(reads_of(&area[i]), i == 3 ? 2 : 1);
        assert_int_equal(writes_of(&area[i]), i < 3 ? 1 : 0);
    }
    shadow.atomic = true;
    shadow_count(block, 8, SHADOW_WRITE);
    shadow_count_one((uintptr_t)block, SHADOW_WRITE);
    assert_int_equal(writes_of(&area[0]), 3);
    assert_int_equal(reads_of(&area[0]), 1);
}

/* If this fails, the memory with most reads seems to have hardly any, or seems written. */
static void
a_half_that_is_full_carries(void **unused)
{
    (void)unused;
    count_by(64, true);
    *shadow_half(&area[1], SHADOW_READ) = UINT32_MAX;
    *shadow_half(&area[2], SHADOW_WRITE) = UINT32_MAX - 5;
    shadow_count_one((uintptr_t)block + 64, SHADOW_READ);
    assert_int_equal(reads_of(&area[1]), UINT64_C(1) << 32);
    shadow_count(block + 128, 64, SHADOW_WRITE);
    assert_int_equal(writes_of(&area[2]), (UINT64_C(1) << 32) + 2);
    assert_int_equal(writes_of(&area[1]), 0);
    assert_int_equal(reads_of(&area[2]), 0);
    *shadow_half(&area[1], SHADOW_READ) = UINT32_MAX;
    shadow_count_one((uintptr_t)block + 64, SHADOW_READ);
    assert_int_equal(reads_of(&area[1]), UINT64_C(2) << 32);
}

/* If this fails, the next block at the same place begins with billions of accesses. */
static void
what_was_carried_goes_with_the_block(void **unused)
{
    (void)unused;
    count_by(64, true);
    for (size_t i = 0; i < 3; i++) {
        *shadow_half(&area[i], SHADOW_READ) = UINT32_MAX;
        shadow_count_one((uintptr_t)block + i * 64, SHADOW_READ);
    }
    shadow_clear((uintptr_t)block + 64, 64);
    assert_int_equal(reads_of(&area[0]), UINT64_C(1) << 32);
    assert_int_equal(reads_of(&area[1]), 0);
    assert_int_equal(reads_of(&area[2]), UINT64_C(1) << 32);
    *shadow_half(&area[1], SHADOW_WRITE) = UINT32_MAX;
    shadow_count_one((uintptr_t)block + 64, SHADOW_WRITE);
    assert_int_equal(writes_of(&area[1]), UINT64_C(1) << 32);
    assert_int_equal(counter_overflows.used, 3);
}

/* If this fails, a process that counts for weeks writes past the list, or silently loses counts. */
static void
carries_without_room_are_counted(void **unused)
{
    static const uint32_t halves[COUNTER_OVERFLOWS_MAX + 2];

    (void)unused;
    memset(&counter_overflows, 0, sizeof counter_overflows);
    for (size_t i = 0; i < countof(halves); i++)
        counter_overflow_add(&halves[i]);
    assert_int_equal(counter_overflows.lost, 2);
    assert_int_equal(counter_overflow_of(&halves[COUNTER_OVERFLOWS_MAX - 1]), UINT64_C(1) << 32);
    assert_int_equal(counter_overflow_of(&halves[COUNTER_OVERFLOWS_MAX]), 0);
}

/* If this fails, a large block begins with its predecessor's counts, or its neighbour loses
 * some. */
static void
clearing_leaves_the_neighbours_alone(void **unused)
{
    static uint64_t many[64 << 10] __attribute__((aligned(4096)));
    uint64_t counts[] = {1, 2, 3, 31, 32, 33, 36, 1000, 20000, 40000};

    (void)unused;
    count_by(8, false);
    shadow.base = (uintptr_t)many - (uintptr_t)block;
    for (size_t i = 0; i < countof(counts); i++) {
        memset(many, 0xff, sizeof many);
        shadow_clear((uintptr_t)block + 24, counts[i] * 8);
        for (size_t j = 0; j < countof(many); j++)
            assert_int_equal(many[j], j >= 3 && j < 3 + counts[i] ? 0 : UINT64_MAX);
    }
}

/* If this fails, the sum of a block's counters includes a granule of its neighbour. */
static void
a_block_has_the_granules_that_it_touches(void **unused)
{
    (void)unused;
    count_by(16, false);
    assert_int_equal(shadow_granules(0x1000, 0), 0);
    assert_int_equal(shadow_granules(0x1000, 1), 1);
    assert_int_equal(shadow_granules(0x1000, 16), 1);
    assert_int_equal(shadow_granules(0x1000, 17), 2);
    assert_int_equal(shadow_granules(0x1008, 16), 2);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_count_once_each_at_their_granule),
        cmocka_unit_test(reads_and_writes_do_not_touch_each_other),
        cmocka_unit_test(a_half_that_is_full_carries),
        cmocka_unit_test(what_was_carried_goes_with_the_block),
        cmocka_unit_test(carries_without_room_are_counted),
        cmocka_unit_test(clearing_leaves_the_neighbours_alone),
        cmocka_unit_test(a_block_has_the_granules_that_it_touches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
