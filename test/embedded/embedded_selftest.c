/* embedded_selftest.c: compare the embedded allocator with a list of the expected blocks, and test
 * it with random overflows, on any target.
 *
 * The program includes the allocator's source, so that it can inspect the pool and renew it after
 * damage. It prints "ok - NAME" and "not ok - NAME", and the trials as "# 199 of 200: past the end,
 * 8 bytes". test/run/embedded/embedded.sh builds it for 64 and 32 bits, for both byte orders and
 * without an operating system, with and without guards. So the only library function that it needs
 * is printf. */
#ifndef HEAPTAP_EMBEDDED_POOL_BYTES
#define HEAPTAP_EMBEDDED_POOL_BYTES (96 * 1024)
#endif

#include "heaptap_embedded.c"

#include <stdio.h>

enum { BLOCKS = 120, STEPS = 6000, TRIALS = 200, SIZE_MAX_TRIED = 600 };

struct known {
    unsigned char *block;
    size_t size, alignment;
    unsigned char fill;
};

static struct known known[BLOCKS];
static uint32_t seed = 1;
static int failures;

static uint32_t
embedded_selftest_random_below(uint32_t end)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % end;
}

static void
embedded_selftest_report_collection(int is_right, const char *what)
{
    printf("%s - %s\n", is_right ? "ok" : "not ok", what);
    failures += !is_right;
}

static void
start_anew(void)
{
    static const struct known nothing;
    unsigned char *s = (unsigned char *)&state;

    for (size_t i = 0; i < sizeof state; i++)
        s[i] = 0;
    for (size_t i = 0; i < sizeof pool.bytes; i++)
        pool.bytes[i] = 0;
    pool_is_ready = 0;
    for (unsigned i = 0; i < BLOCKS; i++)
        known[i] = nothing;
}

static void
embedded_selftest_fill(struct known *k)
{
    k->fill = (unsigned char)embedded_selftest_random_below(256);
    for (size_t i = 0; i < k->size; i++)
        k->block[i] = k->fill;
}

static int
is_filled(const struct known *k, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (k->block[i] != k->fill)
            return 0;
    return 1;
}

static int
is_zero(const unsigned char *p, size_t size)
{
    while (size > 0 && *p == 0)
        p++, size--;
    return size == 0;
}

/* Return true if entry K matches the block in address, contents and size. */
static int
is_as_known(const struct known *k)
{
    return (uintptr_t)k->block % k->alignment == 0 && is_filled(k, k->size) &&
           heaptap_embedded_malloc_usable_size(k->block) == k->size;
}

static int
new_block(struct known *k)
{
    void *aligned = NULL;
    int right = 1;

    k->size = embedded_selftest_random_below(SIZE_MAX_TRIED);
    k->alignment = ALIGN;
    switch (embedded_selftest_random_below(5)) {
    case 0:
        k->block = heaptap_embedded_calloc(k->size, 1);
        right = k->block == NULL || is_zero(k->block, k->size);
        break;
    case 1:
        k->alignment = (size_t)1 << (3 + embedded_selftest_random_below(7));
        k->block = heaptap_embedded_memalign(k->alignment, k->size);
        break;
    case 2:
        k->alignment = (size_t)WORD << embedded_selftest_random_below(6);
        right = heaptap_embedded_posix_memalign(&aligned, k->alignment, k->size) == 0;
        k->block = aligned;
        break;
    case 3:
        k->block = heaptap_embedded_realloc(NULL, k->size);
        break;
    default:
        k->block = heaptap_embedded_malloc(k->size);
    }
    if (k->block != NULL)
        embedded_selftest_fill(k);
    return right && k->block != NULL;
}

static int
resize_block(struct known *k)
{
    size_t size = 1 + embedded_selftest_random_below(SIZE_MAX_TRIED),
           kept = size < k->size ? size : k->size;
    unsigned char *to = heaptap_embedded_realloc(k->block, size);

    if (to == NULL)
        return 0;
    k->block = to;
    k->size = size;
    k->alignment = ALIGN;
    if (!is_filled(k, kept))
        return 0;
    embedded_selftest_fill(k);
    return 1;
}

static int
marks_in_pool(void)
{
    int count = 0;

    for (size_t i = 0; i + 4 <= sizeof pool.bytes; i += 4)
        count += is_mark(pool.bytes + i, mark_begin) || is_mark(pool.bytes + i, mark_end);
    return count;
}

/* Return true if the statistics match the expected ones. */
static int
numbers_are_right(void)
{
    struct heaptap_embedded_stats s;
    size_t blocks = 0, bytes = 0;

    heaptap_embedded_get_stats(&s);
    for (unsigned i = 0; i < BLOCKS; i++) {
        blocks += known[i].block != NULL;
        bytes += known[i].block != NULL ? known[i].size : 0;
    }
    return s.live_blocks == blocks && s.live_bytes == bytes && s.damaged == 0 &&
           s.unknown_frees == 0 && s.failed == 0 && s.allocations - s.frees == blocks &&
           s.overhead_bytes == blocks * heaptap_embedded_overhead() && s.peak_bytes >= bytes;
}

static void
use_at_random(void)
{
    int right = 1, numbers = 1, whole = 1;
    size_t found = 0;

    start_anew();
    for (unsigned step = 0; step < STEPS; step++) {
        struct known *k = &known[embedded_selftest_random_below(BLOCKS)];

        if (k->block == NULL) {
            right &= new_block(k);
        } else if (embedded_selftest_random_below(3) == 0) {
            right &= resize_block(k);
        } else {
            right &= is_as_known(k);
            heaptap_embedded_free(k->block);
            k->block = NULL;
        }
        if (step % 500 == 0) {
            numbers &= numbers_are_right();
            found += heaptap_embedded_check(NULL, NULL);
        }
        found += heaptap_embedded_check_next(1000, NULL, NULL);
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        whole &= known[i].block == NULL || is_as_known(&known[i]);
        heaptap_embedded_free(known[i].block);
        known[i].block = NULL;
    }
    embedded_selftest_report_collection(
        right, "blocks are aligned, as large as asked for, and keep their contents");
    embedded_selftest_report_collection(whole, "nothing is overwritten");
    embedded_selftest_report_collection(numbers && numbers_are_right(),
                                        "the numbers are those of the blocks");
    embedded_selftest_report_collection(found == 0, "a heap in order has no damage");
    // All freed memory lost its marks, and the pool is one piece again.
    embedded_selftest_report_collection(marks_in_pool() == 0, "a freed block loses its marks");
    embedded_selftest_report_collection(pool_free != NULL && pool_free->size == sizeof pool.bytes &&
                          pool_free->next == NULL,
                                        "the pool is one piece in the end");
}

static void
refuse_the_impossible(void)
{
    void *p = &known, *q;
    struct heaptap_embedded_stats s;

    start_anew();
    embedded_selftest_report_collection(heaptap_embedded_malloc(SIZE_MAX) == NULL &&
             heaptap_embedded_malloc(SIZE_MAX - 64) == NULL &&
             heaptap_embedded_calloc(SIZE_MAX / 2, 3) == NULL &&
             heaptap_embedded_malloc(sizeof pool.bytes) == NULL,
                                        "a request that is too large returns no block");
    embedded_selftest_report_collection(heaptap_embedded_posix_memalign(&p, 24, 8) != 0 &&
                                            p == &known && heaptap_embedded_memalign(24, 8) == NULL,
                                        "an invalid alignment is refused");
    p = heaptap_embedded_malloc(40);
    q = heaptap_embedded_realloc(p, sizeof pool.bytes);
    embedded_selftest_report_collection(q == NULL && heaptap_embedded_malloc_usable_size(p) == 40,
                                        "a block that cannot grow stays as it was");
    embedded_selftest_report_collection(heaptap_embedded_realloc(p, 0) == NULL,
                                        "a block resized to 0 is freed");
    heaptap_embedded_free(p);
    heaptap_embedded_free((unsigned char *)pool.bytes + 32);
    // The memory in front of this address is unmapped.
    heaptap_embedded_free((void *)(uintptr_t)64);
    heaptap_embedded_get_stats(&s);
    embedded_selftest_report_collection(s.unknown_frees == 3 && s.live_blocks == 0,
                                        "a second free and wild ones are counted");
    embedded_selftest_report_collection(
        heaptap_embedded_malloc_usable_size((void *)(uintptr_t)64) == 0 &&
            heaptap_embedded_realloc((void *)(uintptr_t)64, 8) == NULL,
        "an address without a block has no size and cannot be moved");
}

/* --- Overflows -------------------------------------------------------------------------------- */

struct verdict {
    const void *named; // The culprit that the first report names.
    size_t reports;
};

static void
note(void *arg, const struct heaptap_embedded_damage *d)
{
    struct verdict *v = arg;

    if (v->reports++ == 0)
        v->named = d->kind == HEAPTAP_EMBEDDED_OVERWRITTEN ? d->front.address : d->block.address;
}

static void
scribble(unsigned char *at, size_t size)
{
    while (size-- > 0)
        *at++ = (unsigned char)embedded_selftest_random_below(256);
}

/* Fill the heap with blocks and holes; return the index of a block with neighbours on both
 * sides. */
static unsigned
make_heap(void)
{
    start_anew();
    for (unsigned i = 0; i < 24; i++) {
        known[i].size = 1 + embedded_selftest_random_below(200);
        known[i].block = heaptap_embedded_malloc(known[i].size);
        embedded_selftest_fill(&known[i]);
    }
    for (unsigned i = 0; i < 24; i++)
        if (embedded_selftest_random_below(4) == 0) {
            heaptap_embedded_free(known[i].block);
            known[i].block = NULL;
        }
    return 8 + embedded_selftest_random_below(8);
}

static struct known *
need_block(unsigned i)
{
    if (known[i].block == NULL) {
        known[i].block = heaptap_embedded_malloc(known[i].size);
        embedded_selftest_fill(&known[i]);
    }
    return &known[i];
}

enum where { PAST, BEFORE, INTO_FREED, ACROSS };

/* Make one overflow. Return true if a check, or the free of the next block, names the culprit. */
static int
try_one(enum where where, size_t bytes)
{
    unsigned i = make_heap();
    struct known *culprit = need_block(i);
    struct verdict v = {NULL, 0};

    if (where == INTO_FREED && known[i + 1].block != NULL) {
        heaptap_embedded_free(known[i + 1].block);
        known[i + 1].block = NULL;
    }
    if (where == ACROSS)
        bytes = sizeof(struct annotation) * 2 + GUARD * 2 + known[i + 1].size + 40;
    if (where == BEFORE)
        scribble(culprit->block - bytes, bytes);
    else
        scribble(culprit->block + culprit->size, bytes);
    heaptap_embedded_check(note, &v);
    return v.named == culprit->block;
}

static void
try_all(enum where where, size_t bytes, const char *what)
{
    int named = 0;

    for (int i = 0; i < TRIALS; i++)
        named += try_one(where, bytes);
    printf("# %d of %d: %s, %d bytes\n", named, TRIALS, what, (int)bytes);
    // A block whose annotation is overwritten entirely cannot be named.
    if (GUARD > 0 && (where != BEFORE || bytes + 8 <= sizeof(struct annotation)))
        embedded_selftest_report_collection(named >= TRIALS * 95 / 100, what);
}

static void
overflow_at_random(void)
{
    static const size_t sizes[] = {1, 8, 64};

    for (int i = 0; i < 3; i++)
        try_all(PAST, sizes[i], "past the end");
    for (int i = 0; i < 3; i++)
        try_all(BEFORE, sizes[i], "before the start");
    for (int i = 0; i < 3; i++)
        try_all(INTO_FREED, sizes[i], "past the end, into a freed block");
    try_all(ACROSS, 0, "across two blocks");
}

int
main(void)
{
    printf("# words of %d bytes, %s, %d return addresses, %d guard bytes, %d bytes of overhead\n",
           (int)WORD, IS_BIG ? "big-endian" : "little-endian", (int)FRAMES, (int)GUARD,
           (int)heaptap_embedded_overhead());
    use_at_random();
    refuse_the_impossible();
    overflow_at_random();
    printf("1..done\n");
    return failures > 0;
}
