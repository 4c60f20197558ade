/* libs: -lpthread */
/* test_heap_objects.c: heap_objects.c compared with plain arrays, under random events. Several
 * heaps use the same addresses and are emptied from time to time, by one thread and by several (run
 * it with SAN=thread). If this fails, objects of a program's heaps are lost, or are found with
 * another object's site or size, in another heap, or after a reset. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake_recorder.h"

#include "heaps/heap_instance.c"
#include "heaps/heap_objects.c"
#include "heaps/heap_quota.c"
#include "heaps/heap_regions.c"
#include "heaps/heap_sparse.c"
#include "heaps/heap_table.c"
#include "platform/mem.c"
#include "platform/memory_share.c"
#include "platform/sys.c"
#include "util/ensure.h"

enum { HEAPS = 9, ADDRESSES = 3000, THREADS = 4 };

struct model {
    struct heap_instance *instance;
    struct heap_block blocks[ADDRESSES]; // By index of the address; site 0 = no object.
};

static struct model models[HEAPS];
static uint64_t random_state;

static int
heap_objects_begin(void **unused)
{
    (void)unused;
    fake_state_begin();
    state->header = calloc(1, sizeof *state->header);
    heaps_state()->heaps = calloc(1, sizeof *heaps_state()->heaps);
    instance_count = 0;
    random_state = 1;
    memset(models, 0, sizeof models);
    for (uint32_t i = 0; i < HEAPS; i++)
        assert_int_equal(heap_instance_take(&models[i].instance), i);
    return 0;
}

static int
heap_objects_end(void **unused)
{
    (void)unused;
    free(heaps_state()->heaps);
    free(state->header);
    fake_state_end();
    return 0;
}

/* --- Validity: to be called while no thread is in the shadow ---------------------------------- */

/* Return true if the words of region AT of LEAF of TIER are valid. */
static bool
region_is_valid(struct heap_leaf *leaf, uint32_t tier, size_t at)
{
    const struct heap_region *region = &leaf->regions[at];
    uintptr_t start = at << heap_granule_bits(tier) << 6;
    uint32_t limit = tier == 0 ? HEAP_WAYS : COARSE_WAYS;

    VALID(region->ways < limit);
    for (uint32_t i = 0; i < HEAP_REGION_WORDS; i++)
        for (uint32_t way = 0; way <= region->ways; way++) {
            uintptr_t granule = start + ((uintptr_t)i << heap_granule_bits(tier));
            uint64_t word = *heap_word(leaf, tier, way, granule);
            uint64_t claim = word != 0 ? region->claims[heap_word_claim(word)] : 0;

            if (word == 0)
                continue;
            VALID(heap_word_claim(word) < HEAP_CLAIMS); // The object has an owner,
            VALID(claim > HEAP_CLAIM_TURN_MASK);        // which has not been reset since,
            VALID((word & LEDGER_SITE_MASK) != 0);      // and it has a stack.
            VALID(heap_page_is_begun(leaf->pages[way], heap_page_of_words(tier, granule)));
        }
    return true;
}

static bool
shadow_is_valid(void)
{
    for (uint32_t tier = 0; tier < HEAP_TIERS; tier++) {
        size_t leaves = (size_t)1 << (ARCH_ADDRESS_BITS - heap_granule_bits(tier) - HEAP_LEAF_BITS);

        for (size_t top = 0; heaps_state()->heap_shadow[tier] != NULL && top < leaves; top++) {
            struct heap_leaf *leaf = heaps_state()->heap_shadow[tier][top];

            for (size_t i = 0; leaf != NULL && i < countof(leaf->regions); i++)
                if (!region_is_valid(leaf, tier, i))
                    return false;
        }
    }
    return true;
}

/* --- One thread ------------------------------------------------------------------------------- */

static uint32_t
heap_objects_random_below(uint64_t *from, uint32_t bound)
{
    *from = *from * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*from >> 33) % bound;
}

/* Return address number I. The addresses have all alignments, are on both sides of leaf boundaries,
 * and are offsets in part. */
static const void *
heap_objects_address(uint32_t i)
{
    static const uint64_t bases[] = {8, (UINT64_C(9) << 24) - 2000,
                                     UINT64_C(0x7f1234560000), UINT64_C(0x7f1234570000),
                                     (UINT64_C(1) << ARCH_ADDRESS_BITS) - 600000};
    static const uint32_t steps[] = {8, 16, 3, 5, 900};
    uint32_t kind = i % countof(bases);

    return (const void *)(uintptr_t)(bases[kind] + (uint64_t)(i / countof(bases)) * steps[kind]);
}

static struct heap_block
random_block(uint64_t *from)
{
    uint32_t kind = heap_objects_random_below(from, 40);
    struct heap_block b = {1 + heap_objects_random_below(from, LIMIT_SITES),
                           heap_objects_random_below(from, 256), 1,
                           heap_objects_random_below(from, 513)};

    if (kind == 0)
        b.size_bytes = heap_objects_random_below(from, 1 << 30) * UINT64_C(4096);
    if (kind == 1)
        b.count = heap_objects_random_below(from, 200);
    return b;
}

static bool
heap_objects_is_same(struct heap_block a, struct heap_block b)
{
    if (a.site == 0 || b.site == 0)
        return a.site == b.site;
    return a.site == b.site && a.birth == b.birth && a.count == b.count &&
           a.size_bytes == b.size_bytes;
}

/* Apply one random event at address number I to M. Return false if the result differs from the
 * model's. */
static bool
replay(struct model *m, uint32_t i, uint64_t *from)
{
    struct heap_block old = {0};

    switch (heap_objects_random_below(from, 5)) {
    case 0:
    case 1:
        old = heap_objects_remove(&m->instance->objects, heap_objects_address(i));
        break;
    default: {
        struct heap_block b = random_block(from);

        if (!heap_objects_insert(&m->instance->objects, heap_objects_address(i), b, &old))
            return false;
        if (!heap_objects_is_same(old, m->blocks[i]))
            return false;
        m->blocks[i] = b;
        return true;
    }
    }
    if (!heap_objects_is_same(old, m->blocks[i]))
        return false;
    m->blocks[i].site = 0;
    return true;
}

static void
test_heap_objects_empty(struct model *m)
{
    heap_objects_empty(&m->instance->objects);
    memset(m->blocks, 0, sizeof m->blocks);
}

/* Remove everything from M and check it. */
static bool
takes_all_out(struct model *m)
{
    bool same = true;

    for (uint32_t i = 0; i < ADDRESSES; i++)
        same &= heap_objects_is_same(
            heap_objects_remove(&m->instance->objects, heap_objects_address(i)), m->blocks[i]);
    memset(m->blocks, 0, sizeof m->blocks);
    return same;
}

/* Apply ROUNDS random events to COUNT heaps at the same addresses; one event in CLEARED empties a
 * heap. */
static void
replay_many(uint32_t count, uint32_t cleared, uint32_t rounds)
{
    for (uint32_t n = 0; n < rounds; n++) {
        struct model *m = &models[heap_objects_random_below(&random_state, count)];
        // Events stay near one address for a while, as in real programs.
        uint32_t near = n / 500 * 97 % ADDRESSES, i = heap_objects_random_below(&random_state, 100);

        assert_true(replay(m, i % 3 == 0 ? heap_objects_random_below(&random_state, ADDRESSES)
                                         : (near + i) % ADDRESSES, &random_state));
        if (heap_objects_random_below(&random_state, cleared) == 0)
            test_heap_objects_empty(&models[heap_objects_random_below(&random_state, count)]);
    }
    assert_true(shadow_is_valid());
    for (uint32_t k = 0; k < HEAPS; k++)
        assert_true(takes_all_out(&models[k]));
    assert_true(shadow_is_valid());
}

/* If this fails, objects go to a tier that is too fine, and waste words, or to one without room for
 * their offsets. */
static void
sizes_select_tiers_whose_limits_rise_by_four(void **unused)
{
    static const struct {
        uint64_t size_bytes;
        uint32_t tier;
    } known[] = {{0, 0},    {1, 0},    {112, 0},  {113, 1},  {448, 1},   {449, 2},
                 {1792, 2}, {1793, 3}, {7168, 3}, {7169, 4}, {32000, 4}, {UINT64_MAX, 4}};

    (void)unused;
    for (size_t i = 0; i < countof(known); i++)
        assert_int_equal(heap_tier_of_size(known[i].size_bytes), known[i].tier);
}

/* If this fails, removing an object from one of the program's heaps misses, or returns another
 * object's site and size. */
static void
one_heap_holds_what_was_put_in(void **unused)
{
    (void)unused;
    replay_many(1, 20000, 300000);
    replay_many(1, 300, 300000);
}

/* If this fails, two arenas with objects in the same memory, one after the other or one inside the
 * other, confuse their objects. */
static void
heaps_at_the_same_addresses_keep_apart(void **unused)
{
    (void)unused;
    replay_many(2, 20000, 300000);
    replay_many(HEAPS, 20000, 300000); // There are more heaps than a region has claims.
    replay_many(HEAPS, 100, 300000);
}

/* With other threads possible, the shadow takes other paths. If this fails, arenas in programs with
 * threads confuse their objects. */
static void
heaps_keep_apart_among_threads(void **unused)
{
    (void)unused;
    state->multi = 1;
    replay_many(2, 20000, 300000);
    replay_many(HEAPS, 100, 300000);
}

/* Dense and other heaps use the same addresses. If this fails, objects of Python are lost, or are
 * confused with objects of other heaps. */
static void
dense_heaps_hold_what_was_put_in(void **unused)
{
    (void)unused;
    for (uint32_t multi = 0; multi < 2; multi++) {
        state->multi = multi;
        for (uint32_t i = 0; i < HEAPS; i += 2)
            models[i].instance->objects.is_dense = 1;
        replay_many(1, 20000, 300000);
        replay_many(HEAPS, 20000, 300000);
        replay_many(HEAPS, 100, 300000);
        heap_objects_end(unused);
        heap_objects_begin(unused);
    }
}

/* Pages of an allocator with objects of one size in each page fill in turn. If this fails, events
 * of Python's objects cost several times as much, because the objects count as sparse, or their
 * tables take more memory than the header for adapters states. */
static void
no_object_of_a_dense_heap_is_sparse(void **unused)
{
    enum { PAGES = 512, DENSE_PAGE_BYTES = 16384, CLASSES = 32, CLASS_BYTES = 16 };
    struct heap_objects *o = &models[0].instance->objects;
    uintptr_t base = UINT64_C(0x7f1234500000), left = PAGES;
    uint32_t used[PAGES] = {0};
    struct heap_block old;

    (void)unused;
    o->is_dense = 1;
    while (left > 0) {
        left = 0;
        for (uint32_t i = 0; i < PAGES; i++) {
            uint64_t size_bytes = (i % CLASSES + 1) * CLASS_BYTES;

            if (used[i] + size_bytes > DENSE_PAGE_BYTES)
                continue;
            left++;
            assert_true(heap_objects_insert(
                o, (void *)(base + (uintptr_t)i * DENSE_PAGE_BYTES + used[i]),
                (struct heap_block){1, 0, 1, size_bytes}, &old));
            assert_int_equal(old.site, 0);
            used[i] += (uint32_t)size_bytes;
        }
    }
    assert_int_equal(o->sparse_used, 0);
    assert_int_equal(o->used_tiers, 7);
    assert_null(o->table.levels[0]);
    assert_in_range(state->charged, 1, PAGES * DENSE_PAGE_BYTES / 5);
}

/* If this fails, a program with a reserve of memory has no room for its objects, or loses them. */
static void
without_a_shadow_all_is_in_tables(void **unused)
{
    static unsigned char arena[64 << 20] __attribute__((aligned(4096)));

    (void)unused;
    state->arena = arena;
    state->arena_bytes = sizeof arena;
    replay_many(3, 2000, 100000);
    for (uint32_t tier = 0; tier < HEAP_TIERS; tier++)
        assert_null(heaps_state()->heap_shadow[tier]);
}

/* If this fails, objects that were added while there was no memory for a shadow are not found once
 * there is memory. */
static void
objects_from_before_the_shadow_are_found(void **unused)
{
    static unsigned char arena[1 << 20] __attribute__((aligned(4096)));
    struct heap_objects *o = &models[0].instance->objects;
    struct heap_block b = {5, 6, 1, 8}, old;

    (void)unused;
    state->arena = arena;
    state->arena_bytes = sizeof arena;
    assert_true(heap_objects_insert(o, heap_objects_address(2), b, &old));
    state->arena = NULL;
    assert_true(heap_objects_insert(o, heap_objects_address(7), b, &old));
    assert_non_null(heaps_state()->heap_shadow[0]);
    assert_true(heap_objects_insert(o, heap_objects_address(2), b, &old));
    assert_int_equal(old.site, 5);
    assert_int_equal(heap_objects_remove(o, heap_objects_address(2)).site, 5);
    assert_int_equal(heap_objects_remove(o, heap_objects_address(2)).site, 0);
}

/* If this fails, the highest address of a process is refused, or an address that does not fit is
 * found under another one. */
static void
only_addresses_of_a_process_are_held(void **unused)
{
    struct heap_objects *o = &models[0].instance->objects;
    const void *highest = (const void *)(uintptr_t)((UINT64_C(1) << ARCH_ADDRESS_BITS) - 4);
    const void *above = (const void *)(uintptr_t)((UINT64_C(1) << ARCH_ADDRESS_BITS) + 8);
    struct heap_block b = {5, 6, 1, 8}, old;

    (void)unused;
    assert_true(heap_objects_insert(o, highest, b, &old));
    assert_int_equal(heap_objects_remove(o, highest).site, 5);
    assert_int_equal(heap_objects_remove(o, (const void *)UINTPTR_MAX).site, 0);
    assert_false(heap_objects_insert(o, above, b, &old));
    assert_int_equal(heap_objects_remove(o, above).site, 0);
}

/* If this fails, objects use more memory or time than necessary, because they are stored in the
 * table of their heap. */
static void
what_fits_in_a_word_is_in_no_table(void **unused)
{
    struct heap_objects *o = &models[0].instance->objects;
    struct heap_block old;

    (void)unused;
    for (uintptr_t i = 0; i < 5000; i++) {
        struct heap_block b = {1, 0, 1, 16};
        const void *p = (const void *)(UINT64_C(0x7e0000000000) + 16 * i);

        assert_true(heap_objects_insert(o, p, b, &old));
    }
    assert_null(o->table.levels[0]);
    for (uintptr_t i = 0; i < 1000; i++) { // The same holds when the heap is reset.
        struct heap_block b = {1, 0, 1, 64};

        heap_objects_empty(o);
        assert_true(heap_objects_insert(o, heap_objects_address(2), b, &old));
        assert_int_equal(old.site, 0);
    }
    assert_null(o->table.levels[0]);
    assert_true(
        heap_objects_insert(o, heap_objects_address(7), (struct heap_block){1, 0, 1, 5000}, &old));
    assert_null(o->table.levels[0]);
    assert_true(
        heap_objects_insert(o, heap_objects_address(9), (struct heap_block){1, 0, 1, 50000}, &old));
    assert_null(o->table.levels[0]);
    assert_true(heap_objects_insert(o, heap_objects_address(11),
                                    (struct heap_block){1, 0, 500, 500}, &old));
    assert_non_null(o->table.levels[0]);
    assert_int_equal(heap_objects_remove(o, heap_objects_address(7)).size_bytes, 5000);
    assert_int_equal(heap_objects_remove(o, heap_objects_address(9)).size_bytes, 50000);
}

/* Return the bytes charged for COUNT objects of SIZE_BYTES that begin every STRIDE bytes. */
static uint64_t
charged_for(uint32_t count, uint64_t size_bytes, uint64_t stride)
{
    uint64_t before = state->charged;
    struct heap_block b = {1, 0, 1, size_bytes}, old;

    for (uint32_t i = 0; i < count; i++)
        assert_true(heap_objects_insert(&models[0].instance->objects,
                                        (void *)(UINT64_C(0x600000000000) + i * stride), b, &old));
    return state->charged - before;
}

/* If this fails, the recorder uses more memory for a heap's objects than it promises: 16 bytes for
 * each, and 512 KiB. */
static void
an_object_takes_at_most_16_bytes(void **unused)
{
    static const uint32_t strides[] = {1,  2,  3,  4,  5,   7,   8,   12,  16,  24,   31,   32,
                                       40, 48, 64, 80, 100, 128, 200, 256, 512, 1000, 2048, 4096};
    enum { OBJECTS = 100000 };

    for (size_t i = 0; i < countof(strides); i++)
        for (int small = 0; small < 2; small++) {
            assert_in_range(charged_for(OBJECTS, small ? 1 : strides[i], strides[i]), 1,
                            16 * OBJECTS + (512 << 10));
            heap_objects_end(unused);
            heap_objects_begin(unused);
        }
}

enum { FAR_OBJECTS = 100000 };

/* Return the bytes charged for objects that begin LEAST to MOST bytes apart, at random. After each
 * RUN of them, a gap of FAR bytes follows. If SHUFFLED, they are added in random order. Check that
 * all are found. */
static uint64_t
charged_for_gaps(uint32_t least, uint32_t most, uint32_t run, uint32_t far, bool shuffled)
{
    static uintptr_t at[FAR_OBJECTS];
    uint64_t before = state->charged;
    uintptr_t next = UINT64_C(0x100000000000);
    struct heap_block b = {1, 0, 1, 0}, old;

    for (uint32_t i = 0; i < FAR_OBJECTS; i++) {
        at[i] = next;
        next += least + heap_objects_random_below(&random_state, most - least + 1) +
                (i % run == 0 ? far : 0);
    }
    for (uint32_t i = FAR_OBJECTS - 1; shuffled && i > 0; i--) {
        uint32_t other = heap_objects_random_below(&random_state, i + 1);
        uintptr_t one = at[i];

        at[i] = at[other];
        at[other] = one;
    }
    for (uint32_t i = 0; i < FAR_OBJECTS; i++) {
        b.size_bytes = 1 + at[i] % least;
        assert_true(heap_objects_insert(&models[0].instance->objects, (void *)at[i], b, &old));
        assert_int_equal(old.site, 0);
    }
    for (uint32_t i = 0; i < FAR_OBJECTS; i++) {
        b = heap_objects_remove(&models[0].instance->objects, (void *)at[i]);
        assert_int_equal(b.size_bytes, 1 + at[i] % least);
    }
    return state->charged - before;
}

/* If this fails, the recorder uses more memory than it promises for objects that do not lie side by
 * side, in particular large ones. */
static void
an_object_at_random_distance_takes_at_most_16_bytes(void **unused)
{
    static const struct {
        uint32_t least, most, run, far;
    } gaps[] = {
        {1, 64, 1, 0},           {16, 500, 1, 0},
        {64, 4096, 1, 0},        {1, 16384, 1, 0},
        {1000, 10000, 1, 0},     {2048, 65536, 1, 0},
        {8192, 32768, 1, 0},     {65536, 65536, 1, 0},
        {2048, 1 << 20, 1, 0},   {1, 1 << 20, 1, 0},
        {1 << 19, 1 << 20, 1, 0}, {1 << 20, 4 << 20, 1, 0},
        {16, 16, 10, 5000},      {16, 16, 10, 100000},
        {16, 16, 100, 160000},   {16, 16, 1000, 1600000},
        {3, 50, 300, 100000},    {256, 256, 100, 1000000},
        {1, 1, 300, 300000},     {16, 16, 300, 20000000},
        {8, 24, 150, 300000000}, {64, 64, 520, 1 << 25},
    };

    for (size_t i = 0; i < countof(gaps); i++)
        for (int shuffled = 0; shuffled < 2; shuffled++) {
            assert_in_range(charged_for_gaps(gaps[i].least, gaps[i].most, gaps[i].run, gaps[i].far,
                                             shuffled),
                            1, 16 * FAR_OBJECTS + (512 << 10));
            heap_objects_end(unused);
            heap_objects_begin(unused);
        }
}

/* The objects of one heap are far apart, with objects of other heaps between them. If this fails,
 * such objects are lost, also after a reset, or are confused with objects of other heaps. */
static void
sparse_heaps_keep_apart(void **unused)
{
    enum { OBJECTS = 2000 };

    (void)unused;
    for (uint32_t n = 0; n < 20 * OBJECTS; n++) {
        struct model *m = &models[heap_objects_random_below(&random_state, HEAPS)];
        uint32_t i = heap_objects_random_below(&random_state, OBJECTS);
        struct heap_block b = {1 + i, i % 256, 1,
                               heap_objects_random_below(&random_state, 1 << 20)},
                          old;
        const void *p = (const void *)(UINT64_C(0x200000000000) + (uint64_t)i * 20000);

        if (heap_objects_random_below(&random_state, 3000) == 0)
            test_heap_objects_empty(m);
        if (heap_objects_random_below(&random_state, 3) == 0) {
            old = heap_objects_remove(&m->instance->objects, p);
            b.site = 0;
        } else {
            assert_true(heap_objects_insert(&m->instance->objects, p, b, &old));
        }
        assert_true(heap_objects_is_same(old, m->blocks[i]));
        m->blocks[i] = b;
    }
}

/* If this fails, a limit on memory does not hold, or an object that finds no room is not
 * refused. */
static void
a_limit_holds_and_what_is_beyond_is_refused(void **unused)
{
    struct heap_objects *o = &models[0].instance->objects;
    struct heap_block b = {1, 0, 1, 3}, old;
    uint32_t kept = 0, found = 0;

    (void)unused;
    state->memory_limit = 1 << 20;
    for (uintptr_t i = 0; i < 200000; i++)
        kept += heap_objects_insert(o, (void *)(UINT64_C(0x600000000000) + 3 * i), b, &old);
    assert_in_range(state->charged, 1, 1 << 20);
    assert_in_range(kept, (1 << 20) / 32, 200000 - 1);
    for (uintptr_t i = 0; i < 200000; i++)
        found += heap_objects_remove(o, (void *)(UINT64_C(0x600000000000) + 3 * i)).site != 0;
    assert_int_equal(found, kept);
}

/* If this fails, objects that lie far apart make the recorder exceed its memory limit, or objects
 * that were refused are found. */
static void
a_limit_holds_for_sparse_objects(void **unused)
{
    static const uint64_t strides[] = {5000, 40000, 1 << 20, 300 << 20};
    struct heap_block b = {1, 0, 1, 3}, old;

    for (size_t i = 0; i < countof(strides); i++) {
        struct heap_objects *o = &models[0].instance->objects;
        uint32_t kept = 0, found = 0;

        state->memory_limit = 1 << 20;
        for (uint64_t k = 0; k < 200000; k++)
            kept += heap_objects_insert(o, (void *)(UINT64_C(0x100000000000) + strides[i] * k), b,
                                        &old);
        assert_in_range(state->charged, 1, 1 << 20);
        assert_in_range(kept, 1000, 200000 - 1);
        for (uint64_t k = 0; k < 200000; k++)
            found += heap_objects_remove(o, (void *)(UINT64_C(0x100000000000) + strides[i] * k))
                         .site != 0;
        assert_int_equal(found, kept);
        heap_objects_end(unused);
        heap_objects_begin(unused);
    }
}

/* A heap counts its resets in 40 bits, the turn. If this fails, the turn overflows after a day of
 * emptying one heap, and the next heap gets its objects. */
static void
turns_do_not_run_into_the_next_heap(void **unused)
{
    struct heap_objects *o = &models[0].instance->objects;
    struct heap_block b = {5, 6, 1, 8}, old;

    (void)unused;
    o->claim |= HEAP_CLAIM_TURN_MASK;
    assert_true(heap_objects_insert(o, heap_objects_address(2), b, &old));
    heap_objects_empty(o);
    assert_int_equal(o->claim, UINT64_C(1) << HEAP_CLAIM_TURN_BITS);
    assert_int_equal(heap_objects_remove(o, heap_objects_address(2)).site, 0);
}

/* Check that the shadow is invalid because of CONDITION while *WORD has VALUE. */
static void
breaks_shadow(uint64_t *word, uint64_t value, const char *condition)
{
    uint64_t was = *word;

    assert_true(shadow_is_valid());
    *word = value;
    assert_false(shadow_is_valid());
    *word = was;
    assert_memory_equal(ensure_broken_text(), condition, strlen(condition));
}

/* If this fails, an object may get lost in the shadow, and the asserts above do not notice. */
static void
a_shadow_that_is_off_is_found(void **unused)
{
    struct heap_objects *o = &models[0].instance->objects;
    uintptr_t at = UINT64_C(0x7f1234560000);
    struct heap_block b = {5, 6, 1, 8}, old;
    struct heap_region *region;
    struct heap_leaf *leaf;
    uint32_t was;

    (void)unused;
    assert_true(heap_objects_insert(o, (void *)at, b, &old));
    assert_true(heap_objects_insert(o, (void *)(at + 8), b, &old));
    leaf = heap_leaf(0, at);
    region = heap_region(leaf, 0, at);
    breaks_shadow(&region->claims[0], 0, "claim > HEAP_CLAIM_TURN_MASK");
    breaks_shadow(heap_word(leaf, 0, 0, at),
                  *heap_word(leaf, 0, 0, at) & ~(uint64_t)LEDGER_SITE_MASK,
                  "(word & LEDGER_SITE_MASK) != 0");
    breaks_shadow(heap_word(leaf, 0, 0, at), UINT64_MAX, "heap_word_claim(word) < HEAP_CLAIMS");
    breaks_shadow(&leaf->pages[0][heap_page_of_words(0, at) / 64], 0, "heap_page_is_begun");
    was = region->ways;
    region->ways = HEAP_WAYS;
    assert_false(shadow_is_valid());
    region->ways = was;
    assert_true(shadow_is_valid());
}

/* --- Several threads -------------------------------------------------------------------------- */

/* Each thread empties a private heap at the same addresses. All threads share one more heap and use
 * different addresses in it, which alternate. */
static void *
heap_objects_hammer(void *arg)
{
    uint32_t k = (uint32_t)(uintptr_t)arg;
    uint64_t from = k + 1;
    uintptr_t wrong = 0;

    for (uint32_t n = 0; n < 60000; n++) {
        uint32_t i = (n / 300 * 31 + heap_objects_random_below(&from, 60)) % (ADDRESSES / THREADS);

        wrong += !replay(&models[k], i, &from);
        wrong += !replay(&models[THREADS], i * THREADS + k, &from);
        if (heap_objects_random_below(&from, 2000) == 0)
            test_heap_objects_empty(&models[k]);
    }
    wrong += !takes_all_out(&models[k]);
    return (void *)wrong;
}

/* If this fails, threads that share a pool, or have arenas at the same offsets, lose each other's
 * objects. */
static void
threads_do_not_disturb_each_others_objects(void **unused)
{
    pthread_t threads[THREADS];

    (void)unused;
    state->multi = 1;
    for (uintptr_t k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, heap_objects_hammer, (void *)k), 0);
    for (int k = 0; k < THREADS; k++) {
        void *wrong;

        pthread_join(threads[k], &wrong);
        assert_null(wrong);
    }
    assert_true(shadow_is_valid());
    assert_true(takes_all_out(&models[THREADS]));
}

/* One thread empties a heap that others use. */
static void *
use_what_is_emptied(void *arg)
{
    uint32_t k = (uint32_t)(uintptr_t)arg;
    uint64_t from = k + 1;

    for (uint32_t n = 0; n < 60000; n++) {
        uint32_t i = heap_objects_random_below(&from, 200) * THREADS + k;
        struct heap_block old;

        if (k == 0 && n % 50 == 0)
            heap_objects_empty(&models[0].instance->objects);
        else if (heap_objects_random_below(&from, 2) == 0)
            heap_objects_remove(&models[k % 2].instance->objects, heap_objects_address(i));
        else
            heap_objects_insert(&models[k % 2].instance->objects, heap_objects_address(i),
                                random_block(&from), &old);
    }
    return NULL;
}

/* A program that resets a heap while others allocate from it has a race. If this fails, that race
 * damages the records of other heaps. */
static void
a_reset_in_the_midst_of_things_leaves_all_in_order(void **unused)
{
    pthread_t threads[THREADS];

    (void)unused;
    state->multi = 1;
    for (uintptr_t k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, use_what_is_emptied, (void *)k), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    assert_true(shadow_is_valid());
    for (uint32_t k = 0; k < 2; k++)
        heap_objects_empty(&models[k].instance->objects);
    replay_many(HEAPS, 1000, 50000);
}

static uint32_t measured;

static uint64_t
count_measurement(uint64_t piece)
{
    measured++;
    return piece << 20;
}

/* If this fails, each object of a program whose recorder has reached its memory limit costs
 * microseconds before it is refused: Python takes five times as long. */
static void
a_piece_is_not_measured_if_there_is_no_memory_for_it(void **unused)
{
    struct heap_quota *s = &heaps_state()->heaps->quotas[0];
    uint64_t evicted_bytes = 0;

    (void)unused;
    measured = 0;
    state->memory_limit = 1 << 20;
    for (uint32_t i = 0; i < HEAP_QUOTA_SLOTS; i++)
        s->open[i] = i + 1;
    assert_false(heap_quota_take(s, 1000, count_measurement, &evicted_bytes));
    assert_in_range(measured, 1, HEAP_QUOTA_SLOTS);
    measured = 0;
    state->header->recorder_bytes = 1 << 20;
    for (uint64_t i = 0; i < 10; i++) {
        state->charged += HEAP_PAGE_BYTES; // So that the last refusal does not count.
        assert_false(heap_quota_take(s, 1000 + i, count_measurement, &evicted_bytes));
    }
    assert_true(heap_quota_take(s, 1, count_measurement, &evicted_bytes));
    assert_int_equal(measured, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, heap_objects_begin, heap_objects_end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sizes_select_tiers_whose_limits_rise_by_four),
        TEST(one_heap_holds_what_was_put_in),
        TEST(heaps_at_the_same_addresses_keep_apart),
        TEST(heaps_keep_apart_among_threads),
        TEST(dense_heaps_hold_what_was_put_in),
        TEST(no_object_of_a_dense_heap_is_sparse),
        TEST(without_a_shadow_all_is_in_tables),
        TEST(objects_from_before_the_shadow_are_found),
        TEST(only_addresses_of_a_process_are_held),
        TEST(what_fits_in_a_word_is_in_no_table),
        TEST(an_object_takes_at_most_16_bytes),
        TEST(an_object_at_random_distance_takes_at_most_16_bytes),
        TEST(sparse_heaps_keep_apart),
        TEST(a_limit_holds_and_what_is_beyond_is_refused),
        TEST(a_limit_holds_for_sparse_objects),
        TEST(a_piece_is_not_measured_if_there_is_no_memory_for_it),
        TEST(turns_do_not_run_into_the_next_heap),
        TEST(a_shadow_that_is_off_is_found),
        TEST(threads_do_not_disturb_each_others_objects),
        TEST(a_reset_in_the_midst_of_things_leaves_all_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
