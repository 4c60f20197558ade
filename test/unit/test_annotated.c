/* cflags: -Isrc/embedded */
/* test_annotated.c: find annotated blocks in memory, refuse candidates for the right reason, and
 * blame the right block for damage. The embedded allocator writes half of the blocks; the test
 * itself writes the others, in the layouts of other processors. */
#define HEAPTAP_EMBEDDED_POOL_BYTES 65536
#define HEAPTAP_EMBEDDED_FRAMES 3
#define HEAPTAP_EMBEDDED_CLOCK() (++clock_now)
#define HEAPTAP_EMBEDDED_THREAD() thread_now

static unsigned long clock_now, thread_now;

// The reader has a struct of the same name.
#define annotation written_annotation
#include "heaptap_embedded.c"
#undef annotation

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "layout/annotated_profile.h"
#include "layout/map_file.h"
#include "profile/profile_valid.h"

struct image {
    uint8_t *v;
    size_t size;
};

static size_t
read_image(void *arg, uint64_t off, void *to, size_t bytes)
{
    const struct image *image = arg;

    if (off >= image->size)
        return 0;
    if (bytes > image->size - off)
        bytes = image->size - (size_t)off;
    memcpy(to, image->v + off, bytes);
    return bytes;
}

static struct memory_part test_part;
static struct byte_source test_source;
static struct image test_image;

/* Search the SIZE bytes at V. *BASE is their address in the process; BASE is NULL if it is
 * unknown. */
static struct annotated_memory
find_in(const void *v, size_t size, const uint64_t *base)
{
    struct annotated_options options = {.kind = -1};
    struct annotated_memory m;

    // The copy has exactly this size, so that a sanitizer catches reads beyond it.
    free(test_image.v);
    test_image = (struct image){malloc(size + 1), size};
    memcpy(test_image.v, v, size);
    test_source = (struct byte_source){.read = read_image, .arg = &test_image, .size = size};
    test_part = (struct memory_part){.name = "image",
                                     .source = &test_source,
                                     .size = size,
                                     .base = base != NULL ? *base : 0,
                                     .base_known = base != NULL};
    annotated_find(&test_part, 1, &options, &m);
    return m;
}

static struct annotated_memory
find_in_pool(void)
{
    uint64_t base = (uintptr_t)pool.bytes;

    return find_in(pool.bytes, sizeof pool.bytes, &base);
}

static int
empty_pool(void **state_of_test)
{
    (void)state_of_test;
    memset(&state, 0, sizeof state);
    memset(pool.bytes, 0, sizeof pool.bytes);
    pool_is_ready = 0;
    return 0;
}

static uint64_t
refusals(const struct annotated_memory *m)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < REFUSALS; i++)
        sum += m->refused[i];
    return sum;
}

/* If this fails, heaptap rawdump shows other sizes, places or callers than the program had. */
static void
blocks_of_the_embedded_allocator_are_found_as_they_are(void **s)
{
    const uint64_t *frames;
    struct annotated_memory m;
    char *a, *b, *c;

    (void)s;
    a = heaptap_embedded_malloc(100);
    b = heaptap_embedded_memalign(1024, 7);
    c = heaptap_embedded_malloc(0);
    m = find_in_pool();
    assert_int_equal(m.count, 3);
    assert_int_equal(refusals(&m), 0);
    assert_int_equal(m.kind, ANNOTATION_64_LITTLE);
    assert_int_equal(m.bytes, 107);
    assert_int_equal(annotated_address(&m, &m.v[0]), (uintptr_t)a);
    assert_int_equal(m.v[0].size, 100);
    assert_int_equal(annotated_address(&m, &m.v[1]), (uintptr_t)b);
    assert_int_equal(m.v[1].size, 7);
    assert_int_equal(annotated_address(&m, &m.v[2]), (uintptr_t)c);
    assert_int_equal(m.v[2].size, 0);
    assert_int_equal(annotated_stack(&m, m.v[0].stack, &frames), 1);
    assert_true(frames[0] != 0);
    annotated_release(&m);
    heaptap_embedded_free(a);
    heaptap_embedded_free(b);
    heaptap_embedded_free(c);
    m = find_in_pool();
    assert_int_equal(m.count + refusals(&m), 0);
    annotated_release(&m);
}

/* If this fails, `core --block` and `rawdump` report the age or the thread of another block. */
static void
a_block_says_when_and_by_whom_it_was_allocated(void **s)
{
    struct annotation_shape shape;
    struct annotated_memory m;
    struct annotation a;
    uint8_t *first, *second;

    (void)s;
    clock_now = 40;
    thread_now = 7;
    first = heaptap_embedded_malloc(100);
    thread_now = UINT64_C(8) << 32;
    second = heaptap_embedded_memalign(256, 10);
    m = find_in_pool();
    assert_int_equal(m.count, 2);
    assert_true(m.v[0].has_birth && m.v[0].has_thread);
    assert_int_equal(m.v[0].birth, 41);
    assert_int_equal(m.v[0].thread, 7);
    assert_int_equal(m.v[1].birth, 42);
    assert_int_equal(m.v[1].thread, UINT64_C(8) << 32);
    annotated_release(&m);

    assert_true(annotation_in_front(pool.bytes, (size_t)(first - pool.bytes), (uintptr_t)first,
                                    &shape, &a));
    assert_int_equal(a.thread, 7);
    assert_int_equal(a.size, 100);
    assert_true(annotation_in_front(second - 300, 300, (uintptr_t)second, &shape, &a));
    assert_int_equal(a.birth, 42);
    assert_true(shape.padded);
}

/* If this fails, the user's bytes, or a copy of an annotation, are read as the annotation of a
 * block. */
static void
nothing_but_a_whole_annotation_is_in_front_of_a_block(void **s)
{
    struct annotation_shape shape;
    struct annotation a;
    uint8_t *block, *copy = malloc(4096);
    size_t count;

    (void)s;
    block = heaptap_embedded_malloc(100);
    count = (size_t)(block - pool.bytes);
    memcpy(copy, pool.bytes, count);
    assert_false(annotation_in_front(copy, count, (uintptr_t)copy + count, &shape, &a));
    assert_true(annotation_in_front(copy, count, (uintptr_t)block, &shape, &a));
    assert_false(annotation_in_front(copy, 40, (uintptr_t)block, &shape, &a));
    assert_false(annotation_in_front(copy, 0, (uintptr_t)block, &shape, &a));
    for (size_t i = count - sizeof(struct written_annotation); i < count; i++) {
        copy[i] ^= 0x10;
        assert_false(annotation_in_front(copy, count, (uintptr_t)block, &shape, &a));
        copy[i] ^= 0x10;
    }
    heaptap_embedded_free(block);
    assert_false(annotation_in_front(pool.bytes, count, (uintptr_t)block, &shape, &a));
    free(copy);
}

/* If this fails, a buffer with a copy of the heap doubles the memory that a program seems to
 * hold. */
static void
a_copy_of_a_block_is_refused_as_one(void **s)
{
    uint8_t *both = malloc(2 * sizeof pool.bytes + 3);
    uint64_t base = (uintptr_t)pool.bytes;
    struct annotated_memory m;

    (void)s;
    heaptap_embedded_malloc(50);
    heaptap_embedded_malloc(60);
    memcpy(both, pool.bytes, sizeof pool.bytes);
    memset(both + sizeof pool.bytes, 0, 3);
    memcpy(both + sizeof pool.bytes + 3, pool.bytes, sizeof pool.bytes);
    m = find_in(both, 2 * sizeof pool.bytes + 3, &base);
    assert_int_equal(m.count, 2);
    assert_int_equal(m.refused[REFUSED_COPY], 2);
    assert_int_equal(refusals(&m), 2);
    annotated_release(&m);
    free(both);
}

/* If this fails, a dump without an address shows nothing, or a dump with a wrong address shows
 * blocks at false addresses. */
static void
where_an_image_lay_follows_from_its_blocks(void **s)
{
    uint64_t base = (uintptr_t)pool.bytes, wrong = base + 4096;
    struct annotated_memory m;

    (void)s;
    heaptap_embedded_malloc(50);
    heaptap_embedded_malloc(60);
    m = find_in(pool.bytes, sizeof pool.bytes, NULL);
    assert_int_equal(m.count, 2);
    assert_int_equal((uint32_t)test_part.base, (uint32_t)base);
    assert_false(annotated_base_is_whole(&m, 0));
    annotated_release(&m);
    m = find_in_pool();
    assert_true(annotated_base_is_whole(&m, 0));
    annotated_release(&m);
    m = find_in(pool.bytes, sizeof pool.bytes, &wrong);
    assert_int_equal(m.count, 0);
    assert_int_equal(test_part.stated_count, 2);
    assert_int_equal(test_part.stated_base, (uint32_t)base);
    annotated_release(&m);
}

/* If this fails, a program that contains the letters of the mark seems to have blocks that it never
 * allocated. Every program with the allocator contains them. */
static void
text_with_the_letters_is_no_block(void **s)
{
    static const char text[] = "HeaP HeaP\xa0 HeaPProF HeaP\xa1\x01 the letters alone HeaP";
    struct annotated_memory m = find_in(text, sizeof text - 1, NULL);

    (void)s;
    assert_int_equal(m.count, 0);
    assert_int_equal(m.refused[REFUSED_NOT_ONE], 4);
    assert_int_equal(m.refused[REFUSED_CUT_OFF], 1);
    assert_int_equal(refusals(&m), 5);
    annotated_release(&m);
}

/* If this fails, an incomplete dump loses its last block, or does not say that it is incomplete. */
static void
a_block_that_the_end_cuts_off_is_counted_and_said_so(void **s)
{
    uint64_t base = (uintptr_t)pool.bytes;
    char *block = heaptap_embedded_malloc(5000);
    size_t until = (size_t)((uintptr_t)block - (uintptr_t)pool.bytes);
    struct annotated_memory m = find_in(pool.bytes, until + 100, &base);

    (void)s;
    assert_int_equal(m.count, 1);
    assert_int_equal(m.cut_off, 1);
    assert_int_equal(m.corruption_count, 0);
    annotated_release(&m);
    m = find_in(pool.bytes, until - 1, &base);
    assert_int_equal(m.count, 0);
    assert_int_equal(m.refused[REFUSED_CUT_OFF], 1);
    annotated_release(&m);
}

/* If this fails, blocks whose free bypassed the allocator count twice, together with the blocks
 * that replaced them. */
static void
a_block_inside_of_another_is_refused(void **s)
{
    uint64_t base = (uintptr_t)pool.bytes;
    char *outer = heaptap_embedded_malloc(4000);
    struct annotated_memory m;
    struct written_annotation *inner;

    (void)s;
    inner = (struct written_annotation *)(void *)(outer + 1600);
    write_annotation(inner, 8, 0, (uintptr_t[FRAMES]){1});
    m = find_in(pool.bytes, sizeof pool.bytes, &base);
    assert_int_equal(m.count, 1);
    assert_int_equal(m.v[0].size, 4000);
    assert_int_equal(m.refused[REFUSED_INSIDE], 1);
    annotated_release(&m);
}

/* If this fails, the owner of an innocent block is blamed for an overflow, or no owner is
 * blamed. */
static void
damage_names_the_block_that_it_came_from(void **s)
{
    char *a, *b, *c;
    struct annotated_memory m;

    (void)s;
    a = heaptap_embedded_malloc(100);
    b = heaptap_embedded_malloc(100);
    c = heaptap_embedded_malloc(100);
    a[101] = 'x'; // The overflow skips a byte of the guard.
    c[-1] = 'y';
    m = find_in_pool();
    assert_int_equal(m.count, 3);
    assert_int_equal(m.corruption_count, 2);
    assert_int_equal(m.corruptions[0].kind, CORRUPTION_PAST_END);
    assert_int_equal(annotated_address(&m, &m.corruptions[0].block), (uintptr_t)a);
    assert_int_equal(m.corruptions[0].block.guard_changed, 1);
    assert_int_equal(m.corruptions[1].kind, CORRUPTION_BEFORE_START);
    assert_int_equal(annotated_address(&m, &m.corruptions[1].block), (uintptr_t)c);
    assert_int_equal(m.corruptions[1].front, 2);
    annotated_release(&m);
    // Overwrite the annotation of b after its mark, like an overflow of a.
    memset(b - sizeof(struct written_annotation) + 24, 'z', 8);
    m = find_in_pool();
    assert_int_equal(m.corruptions[1].kind, CORRUPTION_OVERWRITTEN);
    assert_int_equal(annotated_address(&m, &m.corruptions[1].block), (uintptr_t)b);
    assert_int_equal(m.corruptions[1].front, 1);
    assert_int_equal(m.refused[REFUSED_CORRUPTED] + m.refused[REFUSED_COPY], 1);
    annotated_release(&m);
    // The mark is overwritten as well, so only the end of the annotation is left.
    memset(b - sizeof(struct written_annotation), 'z', 4);
    m = find_in_pool();
    assert_int_equal(m.corruptions[1].kind, CORRUPTION_OVERWRITTEN);
    assert_int_equal(annotated_address(&m, &m.corruptions[1].block), (uintptr_t)b);
    assert_int_equal(m.corruptions[1].block.head_bytes, 0);
    assert_int_equal(m.corruptions[1].front, 1);
    annotated_release(&m);
}

/* If this fails, a block whose owner wrote before its start is missing in the sums of a dump. */
static void
a_block_with_an_underflow_is_still_a_block(void **s)
{
    (void)s;
    for (size_t written = 1; written <= 8; written++) {
        struct annotated_memory m;
        char *b;

        empty_pool(NULL);
        heaptap_embedded_malloc(100);
        b = heaptap_embedded_malloc(30);
        heaptap_embedded_malloc(7);
        memset(b - written, 'y', written);
        m = find_in_pool();
        assert_int_equal(m.count, 3);
        assert_int_equal(m.bytes, 137);
        assert_int_equal(m.v[1].size, 30);
        assert_int_equal(refusals(&m), 0);
        assert_int_equal(m.corruption_count, 1);
        assert_int_equal(m.corruptions[0].kind, CORRUPTION_BEFORE_START);
        assert_int_equal(annotated_address(&m, &m.corruptions[0].block), (uintptr_t)b);
        assert_int_equal(m.corruptions[0].front, 1);
        annotated_release(&m);
        // The guard is corrupted as well, so only an intact checksum proves that this is a block.
        b[30] = 'x';
        m = find_in_pool();
        assert_int_equal(m.count, written <= 4 ? 3 : 2);
        assert_int_equal(refusals(&m), written <= 4 ? 0 : 1);
        annotated_release(&m);
    }
}

/* If this fails, a block alone in its image is not counted after an underflow, or not shown as
 * damaged. */
static void
an_underflow_needs_no_block_in_front(void **s)
{
    struct annotated_memory m;
    char *a;

    (void)s;
    a = heaptap_embedded_malloc(100);
    heaptap_embedded_malloc(60);
    a[-1] = 'y';
    m = find_in_pool();
    assert_int_equal(m.count, 2);
    assert_int_equal(m.corruption_count, 1);
    assert_int_equal(m.corruptions[0].kind, CORRUPTION_BEFORE_START);
    assert_int_equal(m.corruptions[0].front, 0);
    annotated_release(&m);
}

/* --- Overflows at random ---------------------------------------------------------------------- */

enum { TRIALS = 200, BLOCKS = 20 };

static uint32_t seed = 7;

static uint32_t
annotated_random_below(uint32_t end)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % end;
}

enum where { PAST, BEFORE, INTO_FREED, ACROSS };

/* Build a heap of blocks and holes and write BYTES out of bounds of one block, at WHERE. Return
 * true if the reader names that block. */
static bool
names_the_culprit(enum where where, size_t bytes)
{
    struct annotated_memory m;
    size_t sizes[BLOCKS], i = 8 + annotated_random_below(4);
    unsigned char *blocks[BLOCKS], *at;
    bool right = false;

    empty_pool(NULL);
    for (size_t k = 0; k < BLOCKS; k++)
        blocks[k] = heaptap_embedded_malloc(sizes[k] = 1 + annotated_random_below(200));
    for (size_t k = 0; k < BLOCKS; k++)
        if ((where == INTO_FREED && k == i + 1) ||
            ((k < i || k > i + 2) && annotated_random_below(4) == 0))
            heaptap_embedded_free(blocks[k]);
    if (where == ACROSS)
        bytes = 2 * heaptap_embedded_overhead() + sizes[i + 1] + 40;
    at = where == BEFORE ? blocks[i] - bytes : blocks[i] + sizes[i];
    for (size_t k = 0; k < bytes; k++)
        at[k] = (unsigned char)annotated_random_below(256);
    m = find_in_pool();
    if (m.corruption_count > 0) {
        const struct annotated_corruption *d = &m.corruptions[0];
        const struct annotated_block *named =
            d->kind == CORRUPTION_OVERWRITTEN && d->front > 0 ? &m.v[d->front - 1] : &d->block;

        right = annotated_address(&m, named) == (uintptr_t)blocks[i];
    }
    annotated_release(&m);
    return right;
}

/* If this fails, a dump blames another block for an overflow, or none. */
static void
a_dump_names_who_wrote_out_of_bounds(void **s)
{
    static const struct {
        enum where where;
        size_t bytes;
    } kinds[] = {{PAST, 1},        {PAST, 8},       {PAST, 64},       {BEFORE, 1}, {BEFORE, 8},
                 {BEFORE, 40},     {INTO_FREED, 1}, {INTO_FREED, 64}, {ACROSS, 0}};

    (void)s;
    for (size_t k = 0; k < countof(kinds); k++) {
        int named = 0;

        for (int i = 0; i < TRIALS; i++)
            named += names_the_culprit(kinds[k].where, kinds[k].bytes);
        print_message("%d of %d: kind %d, %zu bytes\n", named, TRIALS, kinds[k].where,
                      kinds[k].bytes);
        assert_true(named >= TRIALS * 95 / 100);
    }
}

/* --- Annotations written by the test ---------------------------------------------------------- */

static size_t
annotated_put_word(uint8_t *to, enum annotation_kind kind, uint64_t value)
{
    uint32_t bytes = annotation_word_bytes(kind);

    for (uint32_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * (annotation_is_big(kind) ? bytes - 1 - i : i));
    return bytes;
}

static uint32_t
mix_words(enum annotation_kind kind, uint32_t sum, uint64_t word)
{
    sum = mix(sum, (uint32_t)word);
    return annotation_word_bytes(kind) == 8 ? mix(sum, (uint32_t)(word >> 32)) : sum;
}

/* Write an annotated block of SIZE bytes with two frames to TO, as at address AT; return its
 * length. */
static size_t
put_block(uint8_t *to, enum annotation_kind kind, uint64_t at, uint64_t size)
{
    uint32_t sum = mix(0x50616548, (0xa0u | (uint32_t)kind) | 2u << 8 | 4u << 16);
    size_t n = 8;

    memcpy(to, "HeaP", 4);
    to[4] = (uint8_t)(0xa0 | kind);
    to[5] = 2;
    to[6] = 4;
    to[7] = 0;
    n += annotated_put_word(to + n, kind, size);
    n += annotated_put_word(to + n, kind, 0x1234);
    n += annotated_put_word(to + n, kind, 0x5678);
    sum = mix_words(kind, mix_words(kind, mix_words(kind, sum, size), 0x1234), 0x5678);
    annotated_put_word(to + n, annotation_is_big(kind) ? ANNOTATION_32_BIG : ANNOTATION_32_LITTLE,
                       sum + (uint32_t)(at + n + 8));
    memcpy(to + n + 4, "ProF", 4);
    memset(to + n + 8, 'u', size);
    memcpy(to + n + 8 + size, "TaiL", 4);
    return n + 12 + size;
}

/* If this fails, dumps of some processors show nothing, or numbers in the wrong byte order. */
static void
words_of_both_sizes_and_orders_are_read(void **s)
{
    (void)s;
    for (uint32_t kind = 0; kind < ANNOTATION_KINDS; kind++) {
        uint8_t bytes[256] = {0};
        uint64_t base = 0x20000000;
        size_t size = put_block(bytes + 16, (enum annotation_kind)kind, base + 16, 40);
        struct annotated_memory m = find_in(bytes, 16 + size, &base);
        const uint64_t *frames;

        assert_int_equal(m.count, 1);
        assert_int_equal(m.kind, kind);
        assert_int_equal(m.v[0].size, 40);
        assert_int_equal(m.v[0].guard_changed, 4);
        assert_int_equal(annotated_stack(&m, m.v[0].stack, &frames), 2);
        assert_int_equal(frames[0], 0x1234);
        assert_int_equal(frames[1], 0x5678);
        annotated_release(&m);
    }
}

/* If this fails, blocks at the border between two pieces of a read are missing or doubled. */
static void
a_block_is_found_wherever_it_lies(void **s)
{
    enum { BORDER = 1 << 20, SIZE = BORDER + 4096 };
    uint8_t *bytes = malloc(SIZE);
    uint64_t base = 0;

    (void)s;
    for (size_t at = BORDER - 70; at < BORDER + 20; at++) {
        struct annotated_memory m;

        memset(bytes, 0, SIZE);
        put_block(bytes + at, ANNOTATION_32_LITTLE, at, 3);
        m = find_in(bytes, SIZE, &base);
        assert_int_equal(m.count, 1);
        assert_int_equal(m.corruption_count + m.cut_off, 0);
        annotated_release(&m);
    }
    free(bytes);
}

/* If this fails, the fast search skips marks. */
static void
the_search_finds_what_a_plain_one_finds(void **s)
{
    uint8_t bytes[100 + 3];

    (void)s;
    for (size_t at = 0; at < 99; at++) {
        memset(bytes, 'H', sizeof bytes);
        memset(bytes + 100, 0, 3);
        memcpy(bytes + at, "HeaP", 4);
        for (size_t from = 0; from <= 100; from++)
            assert_int_equal(annotation_find(bytes, from, 100), from <= at ? at : 100);
    }
}

/* If this fails, a packed profile made from a dump cannot be written, or has other totals. */
static void
a_profile_of_what_was_found_keeps_its_promises(void **s)
{
    struct annotated_program program = {0};
    struct annotated_places places;
    struct annotated_memory m;
    struct profile *p;

    (void)s;
    for (size_t i = 0; i < 10; i++)
        heaptap_embedded_malloc(i * 100);
    m = find_in_pool();
    p = annotated_profile(&m, &program, "a dump", 1, &places);
    assert_true(profile_is_valid(p));
    assert_true(profile_is_writable(p));
    assert_int_equal(counters_live_blocks(&p->totals), 10);
    assert_int_equal(counters_live_bytes(&p->totals), 4500);
    assert_int_equal(p->totals.size_max, 900);
    // One stack, in three size classes.
    assert_int_equal(p->site_count, 3);
    assert_int_equal(p->sites[places.site_of[0]].node, p->sites[places.site_of[9]].node);
    profile_free(p);
    annotated_release(&m);
}

/* If this fails, --map gives no names, or takes columns of a map for names. */
static void
names_are_read_from_what_linkers_and_nm_print(void **s)
{
    static const char text[] = "00008130 T main\n"
                               "00008160 00000024 t start\n"
                               "00009000 D data\n"
                               "Memory Configuration\n"
                               " .text.handler\n"
                               "                0x00000000000081a0       0x1e /tmp/x.o\n"
                               "                0x00000000000081c1                reset\n"
                               "    armed   0x00008201   Thumb Code    36  main.o(.text)\n"
                               " .data 0x00008300 0x24 x.o\n";
    struct map_names names = {0};
    struct arena arena = {0};

    (void)s;
    map_file_parse(text, sizeof text - 1, &arena, &names);
    assert_int_equal(names.count, 5);
    assert_null(map_file_name(&names, 0x8000));
    assert_string_equal(map_file_name(&names, 0x8130), "main");
    assert_string_equal(map_file_name(&names, 0x815f), "main");
    assert_string_equal(map_file_name(&names, 0x8160), "start");
    assert_string_equal(map_file_name(&names, 0x81b0), "handler");
    assert_string_equal(map_file_name(&names, 0x81c8), "reset");
    assert_string_equal(map_file_name(&names, UINT64_MAX), "armed");
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(blocks_of_the_embedded_allocator_are_found_as_they_are, empty_pool),
        cmocka_unit_test_setup(a_block_says_when_and_by_whom_it_was_allocated, empty_pool),
        cmocka_unit_test_setup(nothing_but_a_whole_annotation_is_in_front_of_a_block, empty_pool),
        cmocka_unit_test_setup(a_copy_of_a_block_is_refused_as_one, empty_pool),
        cmocka_unit_test_setup(where_an_image_lay_follows_from_its_blocks, empty_pool),
        cmocka_unit_test_setup(text_with_the_letters_is_no_block, empty_pool),
        cmocka_unit_test_setup(a_block_that_the_end_cuts_off_is_counted_and_said_so, empty_pool),
        cmocka_unit_test_setup(a_block_inside_of_another_is_refused, empty_pool),
        cmocka_unit_test_setup(damage_names_the_block_that_it_came_from, empty_pool),
        cmocka_unit_test(a_block_with_an_underflow_is_still_a_block),
        cmocka_unit_test_setup(an_underflow_needs_no_block_in_front, empty_pool),
        cmocka_unit_test(a_dump_names_who_wrote_out_of_bounds),
        cmocka_unit_test(words_of_both_sizes_and_orders_are_read),
        cmocka_unit_test(a_block_is_found_wherever_it_lies),
        cmocka_unit_test(the_search_finds_what_a_plain_one_finds),
        cmocka_unit_test_setup(a_profile_of_what_was_found_keeps_its_promises, empty_pool),
        cmocka_unit_test(names_are_read_from_what_linkers_and_nm_print),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
