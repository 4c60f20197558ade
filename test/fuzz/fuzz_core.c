/* fuzz_core.c: read any bytes as a core dump: by the ELF reader, the search for the record, the
 * ledger, the explanation of addresses, the search for pointers, and a profile in memory. Reads
 * must stay in the input (sanitizers), blocks must be in order, and a block must be found by its
 * address.
 *
 * The corpus has dumps of either word size, and a dump with a record, so that the ledger is
 * reached; `annotated` also has two annotated blocks, and `vectors` has notes of vector
 * registers. */
/* covers: memory.c elf_core.c find_record.c blocks.c place.c module_end.c scan.c reach.c */
/* covers: memory_profile.c birth.c check_blocks.c glibc_heap.c inherited.c annotated_leaves.c */
/* covers: annotated_stacks.c block_sizes.c abort_cause.c saved_registers.c pointers.c */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "image/blocks.h"
#include "image/check_blocks.h"
#include "image/elf_core.h"
#include "image/examined.h"
#include "image/glibc_heap.h"
#include "image/memory_profile.h"
#include "image/place.h"
#include "image/pointers.h"
#include "image/reach.h"
#include "refused.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
read_recorded(struct examined *e)
{
    static const uint64_t looked_at[] = {0, 8, 0x10004, 0x100000, 0x5000010, 0x5000053, 0x7fffffff,
                                         UINT64_MAX};

    struct abort_cause cause;
    struct pointers pointers;
    struct reached reached;
    struct birth birth;
    uint64_t missing;
    struct strbuf file = {0};
    struct err err;

    if (memory_profile(&e->memory, &e->record, &file, &missing, &err) == 0 &&
        file.length < DISK_DATA_OFF)
        abort();
    strbuf_release(&file);
    blocks_read(&e->memory, &e->record, &e->arena, &e->blocks);
    block_sizes_infer(&e->memory, &e->raw, true, &e->blocks);
    for (size_t i = 0; i < e->blocks.count; i++) {
        const struct block *b = &e->blocks.v[i];

        if (i > 0 && b->address < b[-1].address)
            abort();
        if (blocks_before(&e->blocks, b->address) < b)
            abort();
        place_of(e, b->address + b->size_bytes);
        birth_find(e, b, &e->arena, &birth);
    }
    for (size_t i = 0; i < countof(looked_at); i++)
        place_of(e, looked_at[i]);
    e->memory.signal.number = 6;
    abort_cause_find(e, &e->arena, &cause);
    if (cause.kind != ABORT_UNKNOWN && cause.block.address == 0)
        abort();
    reach_find(e, &e->arena, &reached);
    pointers_find(e, 0x5000000, 0x5000100, &e->arena, &pointers);
    for (size_t i = 0; i < e->blocks.count; i++)
        if (reached.of[i] >= REACH_KINDS)
            abort();
    if (pointers.count > pointers.found)
        abort();
}

/* Examine the process as if it had been forked and its profile's tables were missing. */
static void
inherit(struct examined *e)
{
    size_t own = e->blocks.count;

    e->inherited.forked = true;
    e->raw.arena = &e->arena;
    inherited_read(e);
    if (e->blocks.count < own || e->blocks.count - own > e->inherited.count)
        abort();
    for (size_t i = 1; i < e->blocks.count; i++)
        if (e->blocks.v[i].address < e->blocks.v[i - 1].address)
            abort();
}

/* Search for damage, both by the allocator's words and as if the first word of each region led to
 * the list of annotated blocks. */
static void
core_check(struct examined *e)
{
    struct checked checked;

    check_blocks(e, &e->arena, &checked);
    for (size_t i = 0; i < e->memory.region_count && i < 10; i++) {
        e->record.annotated = e->memory.regions[i].start;
        e->record.annotation_bytes = 64 + 16 * (uint32_t)i;
        e->record.guard_bytes = 8;
        check_blocks(e, &e->arena, &checked);
        for (size_t k = 0; k < checked.count; k++)
            if (checked.v[k].written_count > CHECK_WRITTEN_BYTES)
                abort();
    }
}

/* Examine the dump as if the profile were gone: no block is lost or listed twice, and each has a
 * site. */
static void
carry(struct examined *e)
{
    size_t listed = e->blocks.count;
    uint32_t frames;
    struct err err;

    if (annotated_stacks_read(e, &frames, &err) != 0)
        return;
    if (e->blocks.count < listed)
        abort();
    for (size_t i = 0; i < e->blocks.count; i++)
        if (e->blocks.v[i].site == 0 ||
            (i > 0 && e->blocks.v[i].address < e->blocks.v[i - 1].address))
            abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct examined e = {0};
    struct err err = {""};
    unsigned char *copy = malloc(size + 1);
    struct core_origin origin;
    int result = REFUSED;

    memcpy(copy, data, size);
    if (elf_core_parse(copy, size, "core", &e.memory, &err) == 0) {
        for (size_t i = 0; i < e.memory.region_count && i < 100; i++) {
            char buffer[100];

            memory_read(&e.memory, e.memory.regions[i].end - 50, buffer, sizeof buffer);
        }
        if (record_find(&e.memory, &e.record, &err) == 0) {
            read_recorded(&e);
            inherit(&e);
            core_check(&e);
            carry(&e);
            result = 0;
        } else {
            record_find_origin(&e.memory, &origin);
            origin.usable = CORE_USABLE_GLIBC;
            e.record = record_of_child(&origin);
            inherit(&e);
        }
        e.memory.bytes = NULL;
        memory_close(&e.memory);
    } else if (err.text[0] == '\0') {
        abort();
    }
    arena_release(&e.arena);
    free(copy);
    return result;
}
