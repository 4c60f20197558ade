/* test_glibc_heap.c: walks over glibc's heap in a dump. If this fails, a forked child's dump shows
 * blocks that its parent had freed, or lacks blocks, and blocks that only the missing ones
 * reference seem lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "build_core.h"

#include "image/elf_core.h"
#include "image/glibc_heap.h"

/* Addresses of two pages of libc's variables, with the main arena in them, of the heap, and of a
 * large block. */
#define VARIABLES UINT64_C(0x20000)
#define ARENA (VARIABLES + 0x40)
#define HEAP UINT64_C(0x5000000)
#define MAPPED UINT64_C(0x7000000)

enum {
    PAGE = 4096,
    VARIABLES_BYTES = 2 * PAGE,
    FASTBINS = 16,
    TOP = 96,
    BINS = 112,
    NEXT = 2160,
    SYSTEM = 2184,
    USED = 1,
};

struct heap {
    uint64_t variables[VARIABLES_BYTES / 8];
    uint64_t chunks[PAGE / 8];
    uint64_t mapped[PAGE / 8];
    uint64_t at; // Address of the next chunk.
};

static void
put_arena(struct heap *h, uint32_t off, uint64_t value)
{
    h->variables[(ARENA - VARIABLES + off) / 8] = value;
}

/* Append a chunk of BYTES; FLAGS include whether the preceding chunk is in use. Return its
 * block. */
static uint64_t
put_chunk(struct heap *h, uint64_t bytes, uint64_t flags)
{
    uint64_t at = h->at;

    h->chunks[at / 8 + 1] = bytes | flags;
    h->at += bytes;
    return HEAP + at + 16;
}

static struct heap *
glibc_heap_new_heap(void)
{
    struct heap *h = calloc(1, sizeof *h);

    for (uint32_t i = 0; i < 127; i++) {
        put_arena(h, BINS + 16 * i, ARENA + BINS + 16 * i - 16);
        put_arena(h, BINS + 16 * i + 8, ARENA + BINS + 16 * i - 16);
    }
    put_arena(h, NEXT, ARENA);
    put_arena(h, SYSTEM, PAGE);
    return h;
}

/* Walk H and return the result. */
static struct glibc_heap
test_glibc_heap_walk(struct heap *h, struct arena *arena)
{
    struct build_core c = build_core_new(8, false, EM_X86_64);
    struct memory m = {0};
    struct glibc_heap found;
    struct strbuf files = {0};
    struct err err = {""};
    unsigned char *file;
    size_t size_bytes;

    put_arena(h, TOP, HEAP + h->at);
    h->chunks[h->at / 8 + 1] |= PAGE - h->at;
    build_core_memory(&c, VARIABLES, VARIABLES_BYTES, PF_R | PF_W, h->variables,
                      sizeof h->variables);
    build_core_memory(&c, HEAP, PAGE, PF_R | PF_W, h->chunks, sizeof h->chunks);
    build_core_memory(&c, MAPPED, PAGE, PF_R | PF_W, h->mapped, sizeof h->mapped);
    build_core_word(&c, &files, 1);
    build_core_word(&c, &files, PAGE);
    build_core_word(&c, &files, VARIABLES);
    build_core_word(&c, &files, VARIABLES + VARIABLES_BYTES);
    build_core_word(&c, &files, 0);
    strbuf_add(&files, "/lib/libc.so.6", sizeof "/lib/libc.so.6");
    build_core_note(&c, NT_FILE, files.text, files.length);
    file = build_core_finish(&c, &size_bytes);
    assert_int_equal(elf_core_parse(file, size_bytes, "core", &m, &err), 0);
    glibc_heap_read_chunks(&m, arena, &found);
    m.bytes = NULL;
    memory_close(&m);
    strbuf_release(&files);
    free(file);
    free(h);
    return found;
}

/* Check that FOUND has one extent, whose chunks follow each other to its end, with KINDS, and then
 * a mapped chunk. */
static void
check_chunks(const struct glibc_heap *found, const enum glibc_chunk_kind *kinds, size_t count)
{
    uint64_t at = HEAP;

    assert_int_equal(found->extent_count, 1);
    assert_int_equal(found->extents[0].start, HEAP);
    assert_int_equal(found->extents[0].end, HEAP + PAGE);
    assert_true(found->extents[0].is_main);
    assert_int_equal(found->extents[0].first_chunk, 0);
    assert_int_equal(found->extents[0].chunk_count, count);
    assert_int_equal(found->chunk_count, count + 1);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found->chunks[i].kind, kinds[i]);
        assert_int_equal(found->chunks[i].address, at);
        at += found->chunks[i].size_bytes;
    }
    assert_int_equal(at, HEAP + PAGE);
    assert_int_equal(found->chunks[count].kind, GLIBC_MAPPED);
    assert_int_equal(found->chunks[count].address, MAPPED);
}

/* If this fails, blocks in use are missing, or free blocks are shown. */
static void
blocks_in_use_are_those_that_no_list_of_free_ones_has(void **unused)
{
    static const enum glibc_chunk_kind kinds[] = {
        GLIBC_CACHE, GLIBC_USED, GLIBC_CACHED, GLIBC_FASTBIN, GLIBC_FREE, GLIBC_USED, GLIBC_TOP,
    };
    struct heap *h = glibc_heap_new_heap();
    struct arena arena = {0};
    uint64_t cache, first, cached, fast, last;
    struct glibc_heap found;

    (void)unused;
    cache = put_chunk(h, 0x290, USED);
    first = put_chunk(h, 48, USED);
    cached = put_chunk(h, 32, USED);
    fast = put_chunk(h, 32, USED);
    put_chunk(h, 64, USED); // The flag in the next chunk shows that this chunk is free.
    last = put_chunk(h, 128, 0);
    h->chunks[h->at / 8 + 1] = USED;
    h->chunks[(cache - HEAP) / 8] = 1;                  // The cache's first list has one block,
    h->chunks[(cache - HEAP + 128) / 8] = cached;       // which is this block,
    h->chunks[(cached - HEAP) / 8] = cached >> 12;      // and it has no successor.
    h->chunks[(fast - HEAP) / 8] = fast >> 12;
    put_arena(h, FASTBINS, fast - 16);
    h->mapped[1] = PAGE | 2;
    found = test_glibc_heap_walk(h, &arena);
    assert_true(found.found);
    assert_true(found.whole);
    assert_int_equal(found.count, 3);
    assert_int_equal(found.v[0].address, first);
    assert_int_equal(found.v[0].usable_bytes, 40);
    assert_int_equal(found.v[1].address, last);
    assert_int_equal(found.v[1].usable_bytes, 120);
    assert_int_equal(found.v[2].address, MAPPED + 16);
    assert_int_equal(found.v[2].usable_bytes, PAGE - 16);
    check_chunks(&found, kinds, countof(kinds));
    arena_release(&arena);
}

/* If this fails, the remainder in front of an aligned block counts as a separate block. */
static void
an_aligned_block_with_its_own_mapping_begins_where_it_says(void **unused)
{
    struct heap *h = glibc_heap_new_heap();
    struct arena arena = {0};
    struct glibc_heap found;

    (void)unused;
    h->chunks[1] = USED;
    h->mapped[1] = PAGE | 2;
    h->mapped[496 / 8] = 496;
    h->mapped[496 / 8 + 1] = (PAGE - 496) | 2;
    found = test_glibc_heap_walk(h, &arena);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.v[0].address, MAPPED + 512);
    assert_int_equal(found.v[0].usable_bytes, PAGE - 512);
    arena_release(&arena);
}

/* If this fails, a walk that an overflow leads out of the heap counts as complete. */
static void
a_heap_that_was_overwritten_is_not_whole(void **unused)
{
    struct heap *h = glibc_heap_new_heap();
    struct arena arena = {0};
    struct glibc_heap found;

    (void)unused;
    put_chunk(h, 48, USED);
    put_chunk(h, 48, USED);
    h->chunks[48 / 8 + 1] = 0x4141414141414141;
    h->chunks[h->at / 8 + 1] = USED;
    found = test_glibc_heap_walk(h, &arena);
    assert_true(found.found);
    assert_false(found.whole);
    arena_release(&arena);
}

/* If this fails, blocks behind memory that the program took by sbrk are missing, and blocks that
 * only they reference seem lost; or words of that memory are taken for chunks. */
static void
a_heap_goes_on_behind_memory_that_the_program_took(void **unused)
{
    struct heap *h = glibc_heap_new_heap();
    struct arena arena = {0};
    struct glibc_heap found;
    uint64_t before, behind;

    (void)unused;
    before = put_chunk(h, 64, USED);
    put_chunk(h, 16, USED);
    put_chunk(h, 16, USED);
    // The program's memory begins like chunks, which lead nowhere.
    put_chunk(h, 48, USED);
    put_chunk(h, 48, USED);
    h->at += 160;
    behind = put_chunk(h, 96, USED);
    h->chunks[h->at / 8 + 1] = USED;
    found = test_glibc_heap_walk(h, &arena);
    assert_true(found.whole);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.v[0].address, before);
    assert_int_equal(found.v[1].address, behind);
    assert_int_equal(found.extent_count, 2);
    arena_release(&arena);
}

/* If this fails, arbitrary memory is taken for the allocator's, and a heap is invented. */
static void
without_an_arena_there_is_no_heap(void **unused)
{
    struct heap *h = glibc_heap_new_heap();
    struct arena arena = {0};
    struct glibc_heap found;

    (void)unused;
    put_arena(h, NEXT, VARIABLES);
    found = test_glibc_heap_walk(h, &arena);
    assert_false(found.found);
    assert_int_equal(found.count, 0);
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_in_use_are_those_that_no_list_of_free_ones_has),
        cmocka_unit_test(an_aligned_block_with_its_own_mapping_begins_where_it_says),
        cmocka_unit_test(a_heap_that_was_overwritten_is_not_whole),
        cmocka_unit_test(a_heap_goes_on_behind_memory_that_the_program_took),
        cmocka_unit_test(without_an_arena_there_is_no_heap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
