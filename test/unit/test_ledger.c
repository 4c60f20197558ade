/* test_ledger.c: if this fails, frees are charged to the wrong site or with the wrong size, and
 * every live value after it is wrong. The ledger and its side table are compared with a naive
 * list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake_recorder.h"

#include "annotation/annotated_map.c"
#include "annotation/annotation_form.c"
#include "ledger/core_leaves.c"
#include "core/core_publish.c"
#include "ledger/ledger_hooked.c"
#include "ledger/ledger.c"
#include "ledger/ledger_prefault.c"
#include "platform/mem.c"
#include "platform/memory_share.c"
#include "ledger/ledger_side.c"
#include "ledger/ledger_wide.c"
#include "platform/sys.c"

static int
ledger_begin(void **unused)
{
    (void)unused;
    fake_state_begin();
    ledger_state()->granule_shift = 4;
    ledger_state()->usable = USABLE_CALL;
    return ledger_start() ? 0 : -1;
}

static int
ledger_end(void **unused)
{
    (void)unused;
    fake_state_end();
    return 0;
}

/* If this fails, a free is charged to another site or size than its allocation, or a double free is
 * counted as a foreign free. */
static void
a_block_comes_back_with_its_site_and_size(void **unused)
{
    struct ledger_entry old, got;
    void *p = calloc(1, 100);

    (void)unused;
    assert_true(ledger_insert(p, 100, 7, 200, &old));
    assert_int_equal(old.site, 0);
    got = ledger_remove(p);
    assert_int_equal(got.site, 7);
    assert_int_equal(got.size_bytes, 100);
    assert_int_equal(got.birth, 200);
    assert_false(got.odd);
    got = ledger_remove(p);
    assert_int_equal(got.site, 0);
    assert_int_equal(got.freed_site, 7);
    free(p);
}

/* Return the leaf that a reader of a dump finds for ADDRESS from the core record alone, or NULL. */
static const uint32_t *
listed_leaf(uintptr_t address, enum core_leaf_kind kind)
{
    const struct core_record *r = ledger_state()->core;
    uint64_t span = (address & ~((UINT64_C(1) << CORE_SPAN_BITS) - 1)) + kind;

    for (uint64_t i = 0; i < r->leaf_count; i++) {
        const struct core_leaf *chunk =
            (const void *)(uintptr_t)r->leaf_chunks[i / CORE_CHUNK_LEAVES];

        if (chunk[i % CORE_CHUNK_LEAVES].span == span)
            return (const void *)(uintptr_t)chunk[i % CORE_CHUNK_LEAVES].leaf;
    }
    return NULL;
}

/* If this fails, `heaptap core` misses some or all blocks of a dump. */
static void
every_leaf_and_side_table_is_listed_for_a_dump(void **unused)
{
    struct ledger_entry old;
    uint64_t spans = 2 * CORE_CHUNK_LEAVES + 3;
    char *p = calloc(1, 100);
    const uint32_t *leaf;

    (void)unused;
    assert_true(core_record_start());
    assert_true(ledger_insert(p, 100, 7, 0, &old));
    leaf = listed_leaf((uintptr_t)p, CORE_LEAF_MALLOC);
    assert_non_null(leaf);
    assert_int_equal(
        leaf[((uintptr_t)p & 0xffffff) >> ledger_state()->granule_shift] & CORE_SITE_MASK, 7);
    // Insert at addresses where no block exists. A block whose slack goes to the side table needs
    // no allocator.
    for (uint64_t i = 1; i <= spans; i++)
        assert_true(ledger_insert_odd((void *)(uintptr_t)(i << CORE_SPAN_BITS), 10, 9, 0, &old));
    for (uint64_t i = 1; i <= spans; i++)
        assert_non_null(listed_leaf(i << CORE_SPAN_BITS, CORE_LEAF_MALLOC));
    assert_int_equal(ledger_state()->core->leaf_count, spans + 1);
    assert_int_equal(ledger_state()->core->sides[0], (uintptr_t)ledger_state()->side[0]);
    assert_true(ledger_insert(ledger_hooked_key((uintptr_t)p), 100, 8, 0, &old));
    assert_non_null(listed_leaf((uintptr_t)p, CORE_LEAF_HOOKED));
    free(p);
}

/* Interior and unknown pointers have no entry. If this fails, an invalid free by the program ends a
 * live block, or crashes in the recorder. */
static void
foreign_pointers_are_unknown(void **unused)
{
    struct ledger_entry old;
    char *p = calloc(1, 200);
    int local;

    (void)unused;
    assert_true(ledger_insert(p, 200, 9, 0, &old));
    assert_int_equal(ledger_remove(p + 16).site, 0);
    assert_int_equal(ledger_remove(p + 16).freed_site, 0);
    assert_int_equal(ledger_remove(p + 8).site, 0);
    assert_int_equal(ledger_remove(&local).site, 0);
    assert_int_equal(ledger_remove((void *)0xffff800000000000).site, 0);
    assert_int_equal(ledger_remove(p).site, 9);
    free(p);
}

/* Slack that does not fit into an entry goes to the side table, and so does all slack when sizes
 * are unknown. If this fails, freed bytes are the allocator's size instead of the requested one; or
 * a failed realloc puts its block back with a size from an allocator that does not own the
 * block. */
static void
any_slack_leaves_the_size_exact(void **unused)
{
    struct ledger_entry old, got;
    void *p = calloc(1, 100000);

    (void)unused;
    assert_true(ledger_insert(p, 3, 11, 255, &old));
    got = ledger_remove(p);
    assert_int_equal(got.site, 11);
    assert_int_equal(got.size_bytes, 3);
    assert_int_equal(got.birth, 255);
    assert_true(ledger_insert_odd(p, 77777, LIMIT_SITES, 17, &old));
    got = ledger_remove(p);
    assert_int_equal(got.site, LIMIT_SITES);
    assert_int_equal(got.size_bytes, 77777);
    assert_int_equal(got.birth, 17);
    assert_true(got.odd);
    free(p);
}

/* If this fails, a block whose free was missed stays live forever, beside the one that replaced
 * it. */
static void
a_block_over_a_live_one_gives_the_old_one_back(void **unused)
{
    struct ledger_entry old;
    void *p = calloc(1, 64);

    (void)unused;
    assert_true(ledger_insert(p, 60, 3, 1, &old));
    assert_true(ledger_insert(p, 64, 4, 2, &old));
    assert_int_equal(old.site, 3);
    assert_int_equal(old.size_bytes, 60);
    assert_int_equal(ledger_remove(p).site, 4);
    free(p);
}

static uint64_t
ledger_next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

/* Random operations on many unaligned addresses, compared with a plain array. If this fails, blocks
 * that only the side table can hold, including samples, are found with another block's site, or are
 * lost. */
static void
the_side_table_equals_a_list(void **unused)
{
    enum { BLOCKS = 20000, STEPS = 200000 };
    uint32_t *site = calloc(BLOCKS, sizeof *site);
    uint64_t x = 88172645463325252u;
    struct ledger_entry old, got;

    (void)unused;
    for (int step = 0; step < STEPS; step++) {
        uint64_t r = ledger_next_random(&x);
        size_t i = r % BLOCKS;
        uintptr_t address = 0x10000008 + i * 16;

        if (site[i] == 0) {
            site[i] = (uint32_t)(r >> 40) % LIMIT_SITES + 1;
            assert_true(ledger_side_insert(address, site[i] * UINT64_C(3), site[i],
                                           (uint8_t)site[i], site[i] & 1, &old));
            assert_int_equal(old.site, 0);
        } else {
            got = ledger_side_remove(address);
            assert_int_equal(got.site, site[i]);
            assert_int_equal(got.size_bytes, site[i] * UINT64_C(3));
            assert_int_equal(got.birth, (uint8_t)site[i]);
            assert_int_equal(got.odd, site[i] & 1);
            site[i] = 0;
        }
    }
    free(site);
}

/* --- Packed entries --------------------------------------------------------------------------- */

enum { PACKED_BLOCKS = 4096, PACKED_CHUNK_BYTES = 48 };

/* Chunks of a heap like glibc's. The word before each block has the chunk's size and flags. */
static uint64_t packed_heap[PACKED_BLOCKS * PACKED_CHUNK_BYTES / 8 + 4]
    __attribute__((aligned(64)));

static int
ledger_begin_packed(void **unused)
{
    int error = ledger_begin(unused);

    ledger_state()->granule_shift = LEDGER_GLIBC_SHIFT;
    ledger_state()->usable = USABLE_GLIBC;
    return error;
}

/* Return block I of the heap, in a chunk of ROOM_BYTES by its size word. */
static void *
packed_block(size_t i, uint64_t room_bytes)
{
    uint64_t *p = &packed_heap[i * PACKED_CHUNK_BYTES / 8 + 2];

    p[-1] = room_bytes | 5;
    return p;
}

/* If this fails, frees are charged to other sites or sizes, for slacks, births or sites at the
 * limits of an entry. */
static void
packed_entries_come_back_whole(void **unused)
{
    static const uint32_t sites[] = {1, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, LIMIT_SITES};
    static const uint64_t slacks[] = {7, 8, 9, 32, 68, 69, 70, 252, 4000};

    (void)unused;
    for (size_t i = 0; i < countof(sites) * countof(slacks); i++) {
        uint32_t site = sites[i % countof(sites)];
        uint64_t slack = slacks[i / countof(sites)], size_bytes = 8000 - slack;
        void *p = packed_block(i, 8000);
        struct ledger_entry old, got;

        assert_true(ledger_insert(p, size_bytes, site, (uint8_t)(i * 29), &old));
        assert_int_equal(old.site, 0);
        assert_int_equal(ledger_site(p), site);
        assert_int_equal(ledger_remove((char *)p + 16).site, 0);
        got = ledger_remove(p);
        assert_int_equal(got.site, site);
        assert_int_equal(got.size_bytes, size_bytes);
        assert_int_equal(got.birth % LEDGER_BIRTHS, i * 29 % LEDGER_BIRTHS);
        got = ledger_remove(p);
        assert_int_equal(got.site, 0);
        assert_int_equal(got.freed_site, site);
        assert_int_equal(ledger_site(p), site);
    }
}

/* If this fails, a block of 4 GiB at a site beyond 2^18 loses its size. */
static void
the_side_table_has_large_blocks_of_high_sites(void **unused)
{
    uint64_t size_bytes = UINT64_C(1) << 32;
    void *p = packed_block(0, size_bytes + 16);
    struct ledger_entry old, got;

    (void)unused;
    assert_true(ledger_insert(p, size_bytes, 300000, 3, &old));
    assert_true(ledger_insert(p, size_bytes - 1, 300001, 3, &old));
    assert_int_equal(old.site, 300000);
    assert_int_equal(old.size_bytes, size_bytes);
    got = ledger_remove(p);
    assert_int_equal(got.site, 300001);
    assert_int_equal(got.size_bytes, size_bytes - 1);
    assert_int_equal(ledger_remove(p).freed_site, 300001);
}

/* If this fails, a program whose blocks are padded for the counters of accesses has many blocks in
 * the side table. Then malloc_usable_size includes their padding. */
static void
the_wide_ledger_has_large_slacks_of_padded_blocks(void **unused)
{
    void *p = packed_block(0, 128);
    struct ledger_entry old, got;

    (void)unused;
    ledger_state()->is_padded = true;
    assert_true(ledger_insert(p, 49, 7, 3, &old));
    assert_null(ledger_state()->side[0]);
    assert_int_equal(ledger_site(p), 7);
    got = ledger_remove(p);
    assert_int_equal(got.site, 7);
    assert_int_equal(got.size_bytes, 49);
    assert_int_equal(ledger_remove(p).freed_site, 7);
}

/* Random operations on packed entries, the wide ledger and the side table, compared with a plain
 * array. If this fails, one of the three answers for a block that another has. */
static void
packed_entries_equal_a_list(void **unused)
{
    enum { STEPS = 400000 };
    static struct packed_expected {
        uint64_t size_bytes, room;
        uint32_t site;
        uint8_t birth;
        bool live;
    } blocks[PACKED_BLOCKS];
    uint64_t x = 88172645463325252u;

    (void)unused;
    for (int step = 0; step < STEPS; step++) {
        uint64_t r = ledger_next_random(&x);
        size_t i = r % PACKED_BLOCKS;
        struct packed_expected *b = &blocks[i];
        uint64_t room = b->live ? b->room : (r >> 12 & 0x3f8) + 600;
        void *p = packed_block(i, room);
        struct ledger_entry got, old;

        if (b->live) {
            got = ledger_remove(p);
            assert_int_equal(got.site, b->site);
            assert_int_equal(got.size_bytes, b->size_bytes);
            assert_int_equal(got.birth % LEDGER_BIRTHS, b->birth % LEDGER_BIRTHS);
            b->live = false;
            continue;
        }
        got = ledger_remove(p);
        assert_int_equal(got.site, 0);
        assert_int_equal(got.freed_site, b->site);
        b->site = (uint32_t)(r >> 22) % (r & UINT64_C(1) << 60 ? LIMIT_SITES : 1 << 18) + 1;
        b->size_bytes = room - 8 - (r >> 46) % (r & UINT64_C(1) << 61 ? 300 : 40);
        b->room = room;
        b->birth = (uint8_t)(r >> 54);
        b->live = true;
        assert_true(ledger_insert(p, b->size_bytes, b->site, b->birth, &old));
        assert_int_equal(old.site, 0);
    }
}

/* If this fails, a dump lacks sites and sizes of some blocks. */
static void
a_wide_leaf_is_listed_for_a_dump(void **unused)
{
    struct ledger_entry old;
    void *p = packed_block(0, 100);
    const uint64_t *leaf;

    (void)unused;
    assert_true(core_record_start());
    assert_true(ledger_insert(p, 90, 300000, 0, &old));
    assert_non_null(listed_leaf((uintptr_t)p, CORE_LEAF_MALLOC));
    leaf = (const uint64_t *)(const void *)listed_leaf((uintptr_t)p, CORE_LEAF_WIDE);
    assert_non_null(leaf);
    assert_int_equal(leaf[((uintptr_t)p & 0xffffff) >> LEDGER_GLIBC_SHIFT],
                     UINT64_C(90) << 32 | 300000);
}

/* Blocks of other allocators are closer together than malloc's and have any size, and malloc may
 * have a block at the same address. If only one allocator has a block there, either key finds it.
 * If this fails, a hooked allocator that takes memory from malloc ends malloc's blocks when it
 * frees its own. */
static void
blocks_apart_are_told_from_those_of_malloc(void **unused)
{
    static const uint64_t sizes[] = {0,          1,          24,         0xfffffffd,
                                     0xfffffffe, 0xffffffff, 1ull << 40, 16};
    struct ledger_entry old, got;
    char *p = calloc(1, 4096);

    (void)unused;
    assert_true(ledger_insert(p, 4096, 3, 1, &old));
    for (uint32_t i = 0; i < countof(sizes); i++)
        assert_true(ledger_insert(ledger_hooked_key((uintptr_t)p + i * 8), sizes[i], 100 + i,
                                  (uint8_t)(i * 30), &old));
    for (uint32_t i = 0; i < countof(sizes); i++) {
        got = ledger_remove(ledger_hooked_key((uintptr_t)p + i * 8));
        assert_int_equal(got.site, 100 + i);
        assert_int_equal(got.size_bytes, sizes[i]);
        assert_int_equal(got.birth, i * 30);
    }
    got = ledger_remove(ledger_hooked_key((uintptr_t)p + 16));
    assert_int_equal(got.site, 0);
    assert_int_equal(got.freed_site, 102);
    got = ledger_remove(ledger_hooked_key((uintptr_t)p)); // Only malloc's block is left.
    assert_int_equal(got.site, 3);
    assert_int_equal(got.size_bytes, 4096);
    assert_true(ledger_insert_odd(ledger_hooked_key((uintptr_t)p + 32), 5, 200, 0, &old));
    assert_int_equal(old.site, 0);
    assert_true(ledger_insert(ledger_hooked_key((uintptr_t)p + 32), 6, 201, 0, &old));
    assert_int_equal(old.site, 200);
    assert_int_equal(old.size_bytes, 5);
    got = ledger_remove(p + 32);
    assert_int_equal(got.site, 201);
    assert_int_equal(got.size_bytes, 6);
    free(p);
}

enum { HEAP_AT = 5, HEAP_SPAN = 1 << LEDGER_SPAN_BITS, LEAF_PAGES = 5 * HEAP_SPAN / 16 / 4096 };

/* Return the number of LEAF's resident pages. */
static size_t
ledger_pages_of(const void *leaf)
{
    unsigned char current[LEAF_PAGES];
    size_t count = 0;

    assert_int_equal(sys_mincore((void *)(uintptr_t)leaf, sizeof current << 12, current), 0);
    for (size_t i = 0; i < sizeof current; i++)
        count += current[i] & 1;
    return count;
}

static bool
kernel_can_make_pages(void)
{
    void *p = mem_private(4096);
    bool can = sys_madvise(p, 4096, MADV_POPULATE_WRITE) == 0;

    mem_release(p, 4096);
    return can;
}

/* If this fails, a growing heap causes two page faults for each page of the ledger, or the recorder
 * uses memory for a heap that never grows. */
static void
pages_are_made_ahead_of_a_growing_heap_and_no_others(void **unused)
{
    uintptr_t base = (uintptr_t)HEAP_AT << LEDGER_SPAN_BITS;
    struct ledger_prefaulted a = {0};
    const void *leaf = place_make(base).leaf;
    size_t before;

    (void)unused;
    if (!kernel_can_make_pages())
        skip();
    for (uintptr_t grown = 0; grown < HEAP_SPAN; grown += 8192) {
        size_t needed = grown / 16 * 5 / 4096;

        before = ledger_pages_of(leaf);
        ledger_prefault(&a, (void *)(base + grown));
        assert_true(ledger_pages_of(leaf) <= before + (STEP_BYTES * 5 / 16 >> 12) + 2);
        // The address of an earlier block is reused.
        ledger_prefault(&a, (void *)(base + grown / 2));
        assert_true(ledger_pages_of(leaf) <= needed + (PREFAULT_MAX_BYTES * 5 / 16 >> 12) + 2);
    }
    assert_true(ledger_pages_of(leaf) >= LEAF_PAGES * 9 / 10);

    leaf = place_make(base + 8 * HEAP_SPAN).leaf;
    before = ledger_pages_of(leaf);
    ledger_prefault(&a, (void *)(base + 8 * HEAP_SPAN));
    ledger_prefault(&a, (void *)(base + 8 * HEAP_SPAN + 4096));
    assert_int_equal(ledger_pages_of(leaf), before);
}

/* Blocks come from all over a large heap, and some look like the next block of a growing heap. If
 * this fails, a call in such a program waits while needless pages are prefaulted. */
static void
blocks_from_all_over_a_heap_are_no_growth(void **unused)
{
    uintptr_t base = (uintptr_t)HEAP_AT << LEDGER_SPAN_BITS;
    struct ledger_prefaulted a = {0};
    unsigned char *used = (unsigned char *)place_make(base).leaf;
    const void *other = place_make(base + 16 * HEAP_SPAN).leaf;
    size_t before;

    (void)unused;
    // In one leaf, all pages but those of the last two megabytes are resident; in the other, none
    // is.
    for (size_t i = 0; i < (HEAP_SPAN - (2 << 20)) / 16 * 4; i += 4096)
        used[i] = 1;
    before = ledger_pages_of(used);
    ledger_prefault(&a, (void *)(base + 16 * HEAP_SPAN));
    for (uintptr_t i = 0; i < 2000; i++)
        ledger_prefault(&a, (void *)(base + i * 7919 % 12 * (1 << 20)));
    assert_int_equal(ledger_pages_of(used), before);
    assert_int_equal(a.top, base + 16 * HEAP_SPAN);
    assert_int_equal(ledger_pages_of(other), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_block_comes_back_with_its_site_and_size, ledger_begin,
                                        ledger_end),
        cmocka_unit_test_setup_teardown(every_leaf_and_side_table_is_listed_for_a_dump,
                                        ledger_begin, ledger_end),
        cmocka_unit_test_setup_teardown(foreign_pointers_are_unknown, ledger_begin, ledger_end),
        cmocka_unit_test_setup_teardown(any_slack_leaves_the_size_exact, ledger_begin, ledger_end),
        cmocka_unit_test_setup_teardown(a_block_over_a_live_one_gives_the_old_one_back,
                                        ledger_begin, ledger_end),
        cmocka_unit_test_setup_teardown(the_side_table_equals_a_list, ledger_begin, ledger_end),
        cmocka_unit_test_setup_teardown(blocks_apart_are_told_from_those_of_malloc, ledger_begin,
                                        ledger_end),
        cmocka_unit_test_setup_teardown(packed_entries_come_back_whole, ledger_begin_packed,
                                        ledger_end),
        cmocka_unit_test_setup_teardown(the_side_table_has_large_blocks_of_high_sites,
                                        ledger_begin_packed, ledger_end),
        cmocka_unit_test_setup_teardown(the_wide_ledger_has_large_slacks_of_padded_blocks,
                                        ledger_begin_packed, ledger_end),
        cmocka_unit_test_setup_teardown(packed_entries_equal_a_list, ledger_begin_packed,
                                        ledger_end),
        cmocka_unit_test_setup_teardown(a_wide_leaf_is_listed_for_a_dump, ledger_begin_packed,
                                        ledger_end),
        cmocka_unit_test_setup_teardown(pages_are_made_ahead_of_a_growing_heap_and_no_others,
                                        ledger_begin, ledger_end),
        cmocka_unit_test_setup_teardown(blocks_from_all_over_a_heap_are_no_growth, ledger_begin,
                                        ledger_end),
    };

    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
