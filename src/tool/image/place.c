/* place.c: find the target of an address.
 *
 * Blocks come first, because the ledger is certain about them; then the ranges that the kernel
 * reports. Variables that start as zeros lie in anonymous memory behind the other variables of a
 * module. So a range that follows a module without a gap counts as a part of the module, up to its
 * end. */
#include "image/place.h"

#include <string.h>

#include "image/module_end.h"

enum { NULL_BYTES = 64 << 10, REAL_BYTES = 4096, BELOW_BYTES = 1 << 20 };

// Number of bytes to search for an ended block in front of an address without memory.
enum { GONE_BYTES = 256 << 20 };

/* Return the thread whose stack pointer lies in REGION, or NULL. */
static const struct memory_thread *
thread_on(const struct memory *m, const struct memory_region *region)
{
    for (size_t i = 0; i < m->thread_count; i++)
        if (m->threads[i].sp >= region->start && m->threads[i].sp < region->end)
            return &m->threads[i];
    return NULL;
}

/* Return the thread whose stack begins a little above ADDRESS, or NULL. ADDRESS is in a guard page
 * or in no memory. */
static const struct memory_thread *
thread_above(const struct memory *m, uint64_t address)
{
    for (size_t i = 0; i < m->thread_count; i++) {
        uint64_t sp = m->threads[i].sp;

        // The stack pointer may lie below the stack as well, or close to its end.
        if ((sp > address ? sp - address : address - sp) < BELOW_BYTES)
            return &m->threads[i];
    }
    return NULL;
}

/* Return the mapping that contains ADDRESS in REGION, or whose module has ADDRESS among its
 * variables; NULL if there is none. */
static const struct memory_mapping *
mapping_of(const struct examined *e, const struct memory_region *region, uint64_t address)
{
    const struct memory *m = &e->memory;
    const struct memory_mapping *mapping = memory_mapping_at(m, region->start);

    if (mapping == NULL && region->start > 0)
        mapping = memory_mapping_at(m, region->start - 1);
    if (mapping != NULL && address >= mapping->end && address >= module_end(e, mapping))
        return NULL;
    return mapping;
}

static uint64_t
module_off(const struct memory *m, const struct memory_mapping *mapping, uint64_t address)
{
    uint64_t start = mapping->start - mapping->file_off;

    // A library may be mapped more than once. The last mapping of its first byte in front of
    // ADDRESS counts.
    for (size_t i = 0; i < m->mapping_count && m->mappings[i].start <= address; i++)
        if (m->mappings[i].file_off == 0 && strcmp(m->mappings[i].path, mapping->path) == 0)
            start = m->mappings[i].start;
    return address - start;
}

/* Return the place of an address that is in no block. */
static struct place
beside_blocks(const struct examined *e, uint64_t address)
{
    const struct memory *m = &e->memory;
    struct place p = {.region = memory_region_at(m, address)};

    if (address < NULL_BYTES) {
        p.kind = PLACE_NULL;
    } else if (p.region == NULL || (p.region->access & MEMORY_READ) == 0) {
        p.thread = thread_above(m, address);
        p.kind = p.thread != NULL ? PLACE_BELOW_STACK : PLACE_NOWHERE;
    } else if ((p.thread = thread_on(m, p.region)) != NULL) {
        p.kind = PLACE_STACK;
    } else if (m->first_stack - p.region->start < p.region->end - p.region->start) {
        // The first thread runs on another stack, or its registers are unknown.
        p.kind = PLACE_STACK;
        p.thread = memory_first_thread(m);
    } else if ((p.mapping = mapping_of(e, p.region, address)) != NULL) {
        p.kind = PLACE_MODULE;
        p.off = module_off(m, p.mapping, address);
    } else {
        p.kind = PLACE_OTHER;
    }
    return p;
}

/* Find the freed block that ADDRESS was in. It must be in REGION. If REGION is NULL, it must be in
 * memory that the allocator has unmapped, with no region between the block and ADDRESS. */
static bool
ended_before(const struct examined *e, const struct memory_region *region, uint64_t address,
             struct ended_block *ret)
{
    const struct memory *m = &e->memory;
    uint64_t start = 0, limit = region != NULL ? BLOCKS_LOOK_BACK_BYTES : GONE_BYTES;

    for (size_t i = 0; i < m->region_count && m->regions[i].start <= address; i++)
        start = region != NULL ? m->regions[i].start : m->regions[i].end;
    // A stack overflow is the better explanation.
    if (region == NULL && thread_above(m, address) != NULL)
        return false;
    return blocks_ended_before(m, &e->record, &e->blocks, address, limit, ret) &&
           ret->address >= start;
}

struct place
place_of(const struct examined *e, uint64_t address)
{
    const struct block *block = blocks_before(&e->blocks, address);
    struct place p = {.region = memory_region_at(&e->memory, address)};
    uint64_t behind;

    if (block != NULL && block_has(block, address))
        return (struct place){.kind = PLACE_BLOCK,
                              .block = block,
                              .region = p.region,
                              .off = address - block->address};
    if (ended_before(e, p.region, address, &p.ended)) {
        p.kind = PLACE_ENDED;
        p.block = block;
        p.off = address - p.ended.address;
        if (e->stacks_carried)
            p.ended.site = 0;
        return p;
    }
    behind = block != NULL ? address - block->address - block_extent(block) : UINT64_MAX;
    if (behind < REAL_BYTES)
        return (struct place){
            .kind = PLACE_BEHIND, .block = block, .region = p.region, .off = behind};
    return beside_blocks(e, address);
}

struct ended_block
place_in_front(const struct examined *e, uint64_t address)
{
    const struct memory *m = &e->memory;
    const struct block *b = blocks_before(&e->blocks, address - 1);
    struct ended_block ended;

    if (blocks_ended_before(m, &e->record, &e->blocks, address - 1, BLOCKS_LOOK_BACK_BYTES,
                            &ended) &&
        (b == NULL || ended.address > b->address)) {
        if (e->stacks_carried)
            ended.site = 0;
        return ended;
    }
    if (b == NULL || memory_region_at(m, b->address) != memory_region_at(m, address))
        return (struct ended_block){0};
    return (struct ended_block){b->address, b->site};
}
