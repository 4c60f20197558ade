/* test_annotating.c: if this fails, rawdump and core cannot read the recorder's annotations, damage
 * goes unnoticed, or a foreign pointer is taken for a block. The writer is compared with the reader
 * of src/tool/layout, which was written for other writers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "annotation/annotated_map.c"
#include "annotation/annotation_form.c"
#include "layout/annotation.h"
#include "platform/sys.c"

static _Alignas(64) unsigned char memory[8192];
static uint64_t random_state = 7;

static uint64_t
random_word(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return random_state >> 20;
}

/* Write an annotated block with random facts; return its address. */
static unsigned char *
write_random(struct annotation_facts *facts, uint64_t *frames, bool padded)
{
    unsigned char *block = memory + 4096 + random_word() % 4 * 16;

    for (uint32_t i = 0; i < ANNOTATION_FRAMES_MAX; i++)
        frames[i] = random_word() | 1;
    *facts = (struct annotation_facts){
        .size_bytes = random_word() % 1000,
        .padding_bytes = padded ? 16 + random_word() % 8 * 16 : 0,
        .birth_ns = random_word(),
        .tid = random_word(),
        .frame_count = (uint32_t)(random_word() % (annotation_form.places + 1)),
    };
    memset(memory, (int)random_word(), sizeof memory);
    memcpy(annotation_places(block), frames, facts->frame_count * sizeof *frames);
    annotation_write(block, facts);
    return block;
}

/* If this fails, dumps of annotated programs show other blocks, sizes, stacks, ages or threads. */
static void
what_is_written_is_what_the_reader_reads(void **unused)
{
    uint64_t frames[ANNOTATION_FRAMES_MAX];
    struct annotation_facts facts;
    struct annotation_shape shape;
    struct annotation got;

    (void)unused;
    for (int i = 0; i < 3000; i++) {
        unsigned char *block;

        annotation_choose(1 + random_word() % 300, random_word() % 300);
        assert_int_equal(annotation_form.head_bytes % 16, 0);
        assert_true(annotation_form.head_bytes >= CORE_ANNOTATED_GRANULE);
        block = write_random(&facts, frames, i % 2 != 0);
        assert_true(annotation_in_front(memory, (size_t)(block - memory), (uintptr_t)block, &shape,
                                        &got));
        assert_int_equal(shape.bytes, annotation_form.head_bytes);
        assert_int_equal(shape.guard_bytes, annotation_form.guard_bytes);
        assert_true(shape.has_birth && shape.has_thread && shape.padded == (i % 2 != 0));
        assert_int_equal(got.size, facts.size_bytes);
        assert_int_equal(got.birth, facts.birth_ns);
        assert_int_equal(got.thread, facts.tid);
        assert_int_equal(got.padding, facts.padding_bytes);
        assert_int_equal(got.frame_count, facts.frame_count);
        assert_memory_equal(got.frames, frames, facts.frame_count * sizeof *frames);
        assert_int_equal(annotation_guard(block + facts.size_bytes, shape.guard_bytes),
                         shape.guard_bytes);
        assert_int_equal(annotation_size(block), facts.size_bytes);
        assert_int_equal(annotation_padding(block), facts.padding_bytes);
        assert_false(annotation_is_corrupted(annotation_validate(block)));
    }
}

/* If this fails, a write out of bounds goes unnoticed. */
static void
each_byte_that_changes_is_damage(void **unused)
{
    uint64_t frames[ANNOTATION_FRAMES_MAX];
    struct annotation_facts facts;

    (void)unused;
    annotation_choose(15, 8);
    for (int padded = 0; padded < 2; padded++) {
        unsigned char *block = write_random(&facts, frames, padded != 0);
        unsigned char *begin = block - annotation_form.head_bytes;
        unsigned char *end = block + facts.size_bytes + annotation_form.guard_bytes;

        for (unsigned char *at = begin; at < end; at++) {
            bool own = at >= block && at < block + facts.size_bytes;

            *at ^= 0x20;
            assert_int_equal(annotation_is_corrupted(annotation_validate(block)), !own);
            *at ^= 0x20;
        }
        *begin ^= 1;
        assert_false(annotation_validate(block).begins);
        assert_true(annotation_validate(block).ends);
        *begin ^= 1;
        block[-1] ^= 1;
        assert_true(annotation_validate(block).begins);
        assert_false(annotation_validate(block).ends);
        block[-1] ^= 1;
        block[facts.size_bytes + 3] ^= 1;
        assert_int_equal(annotation_validate(block).guard_changed, 3);
    }
}

/* If this fails, a freed block is shown as live, or a block that could not be resized is lost. */
static void
a_cleared_annotation_is_found_no_more_and_can_be_restored(void **unused)
{
    uint64_t frames[ANNOTATION_FRAMES_MAX];
    struct annotation_facts facts;
    struct annotation_shape shape;
    struct annotation got;
    unsigned char *block;

    (void)unused;
    annotation_choose(3, 4);
    block = write_random(&facts, frames, false);
    annotation_clear(block);
    assert_memory_equal(block - annotation_form.head_bytes, "\0\0\0\0", 4);
    assert_memory_equal(block - 4, "FreE", 4);
    assert_false(annotation_in_front(memory, (size_t)(block - memory), (uintptr_t)block, &shape,
                                     &got));
    annotation_restore(block);
    assert_true(annotation_in_front(memory, (size_t)(block - memory), (uintptr_t)block, &shape,
                                    &got));
}

/* If this fails, free reads in front of a foreign pointer, or passes our block on unchanged. */
static void
the_map_knows_which_addresses_are_blocks(void **unused)
{
    unsigned char *p = memory + 128 + 40;

    (void)unused;
    assert_int_equal(annotated_at(p), 0);
    assert_int_equal(annotated_ends(p), ANNOTATED_NOT);
    assert_true(annotated_reserve(p));
    assert_false(annotated_reserve(p + 1));
    assert_false(annotated_reserve((void *)(UINT64_C(1) << 60)));
    annotated_begins(p, true);
    assert_int_equal(annotated_at(p) & CORE_ANNOTATED_PADDED, CORE_ANNOTATED_PADDED);
    for (int i = -40; i < 24; i++)
        if (i != 0)
            assert_int_equal(annotated_ends(p + i), ANNOTATED_NOT);
    assert_int_equal(annotated_ends(p), ANNOTATED_ENDED);
    assert_int_equal(annotated_ends(p), ANNOTATED_NOT);
    assert_true(annotated_at(p) != 0); // A second free is recognised
    annotated_clear_freed(p);
    assert_int_equal(annotated_at(p), 0); // until another allocator's block begins at the address.
}

/* If this fails, a block is freed while a reader examines it, or is never freed. */
static void
whoever_looks_gives_back_what_its_owner_has_left(void **unused)
{
    unsigned char *p = memory + 1024;

    (void)unused;
    assert_true(annotated_reserve(p));
    annotated_begins(p, false);
    assert_true(annotated_look(p));
    assert_false(annotated_look(p));
    assert_false(annotated_takes(p));
    assert_false(annotated_looked(p)); // The owner has kept the block.
    assert_true(annotated_look(p));
    assert_int_equal(annotated_ends(p), ANNOTATED_LEFT);
    assert_false(annotated_look(p));
    assert_true(annotated_looked(p));
    annotated_begins(p, false);
    assert_true(annotated_takes(p));
    assert_int_equal(annotated_at(p) & CORE_ANNOTATED_LIVE, 0);
    annotated_begins(p, false);
    assert_true(annotated_reports(p));
    assert_false(annotated_reports(p));
    annotated_begins(p, false);
    assert_true(annotated_reports(p)); // Another block at the same address.
    annotated_ends(p);
}

/* If this fails, a pass over the heap skips blocks, or never ends. */
static void
a_pass_meets_each_block_once_in_order(void **unused)
{
    unsigned char *block[4] = {memory + 64, memory + 64 + 80, memory + 4000, memory + 8128};
    uintptr_t at = 0, next = 1;
    size_t met = 0;

    (void)unused;
    for (size_t i = 0; i < 4; i++) {
        assert_true(annotated_reserve(block[i]));
        annotated_begins(block[i], false);
    }
    while (next != 0) {
        void *p = annotated_next(at, 4096, &next);

        if (p != NULL)
            assert_ptr_equal(p, block[met++]);
        at = next;
    }
    assert_int_equal(met, 4);
    assert_ptr_equal(annotated_before(block[2], 8192), block[1]);
    assert_ptr_equal(annotated_before(block[1], 8192), block[0]);
    assert_null(annotated_before(block[2], 1024));
    for (size_t i = 0; i < 4; i++)
        annotated_ends(block[i]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_what_the_reader_reads),
        cmocka_unit_test(each_byte_that_changes_is_damage),
        cmocka_unit_test(a_cleared_annotation_is_found_no_more_and_can_be_restored),
        cmocka_unit_test(the_map_knows_which_addresses_are_blocks),
        cmocka_unit_test(whoever_looks_gives_back_what_its_owner_has_left),
        cmocka_unit_test(a_pass_meets_each_block_once_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
