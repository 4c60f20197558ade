/* blocks.h: blocks of a process, from the recorder's ledger in its memory. */
#ifndef IMAGE_BLOCKS_H
#define IMAGE_BLOCKS_H

#include "format/core_record.h"
#include "image/memory.h"
#include "profile/raw.h"

enum block_flags {
    BLOCK_HOOKED = 1 << 0,  // The block comes from a hooked allocator, not from malloc.
    BLOCK_SAMPLE = 1 << 1,  // The block represents others; `mode` is its recording mode.
    BLOCK_ROUNDED_UP = 1 << 2,
    BLOCK_BACKING = 1 << 3, // The block backs a heap of the program.
    // Only the allocator has the size: malloc_usable_size minus slack_bytes.
    BLOCK_UNSIZED = 1 << 4,
    // The allocator's word in front of the block, which has its size, was overwritten. size_bytes
    // is 0.
    BLOCK_CORRUPTED = 1 << 5,
    BLOCK_GUESSED = 1 << 6, // size_bytes is an estimate from the counters of the block's site.
    // A forked child's block that was allocated before the child began to record. size_bytes is an
    // upper bound.
    BLOCK_INHERITED = 1 << 7,
};

struct block {
    uint64_t address;
    uint64_t size_bytes; // Requested.
    uint32_t site;       // Id in the profile's file.
    uint16_t mode;       // Index into PHASES, for BLOCK_SAMPLE.
    uint8_t slack_bytes;
    uint8_t flags; // enum block_flags
};

struct blocks {
    struct block *v; // By address.
    size_t count, capacity;
    size_t damaged, unsized; // Number of blocks with these flags.
    // Number of leaves that a dump lacks; each covers 2^24 bytes of address space.
    size_t missing_leaves, leaves;
    struct core_leaf *ledger; // The `leaves` leaves that exist, by span.
};

/* Read the blocks of record R in M into *RET, whose memory is from ARENA. */
void blocks_read(const struct memory *m, const struct core_record *r, struct arena *arena,
                 struct blocks *ret);

/* Append BLOCK. Call blocks_sort after the last block. */
void blocks_add(struct blocks *b, struct arena *arena, struct block block);

/* Sort B by address and drop duplicates. */
void blocks_sort(struct blocks *b);

/* Return the last block that begins at ADDRESS or before it; NULL if there is none. */
const struct block *blocks_before(const struct blocks *b, uint64_t address);

/* Return the least number of bytes that B occupies: at least 1. */
static inline uint64_t
block_extent(const struct block *b)
{
    return b->size_bytes != 0 ? b->size_bytes : 1;
}

/* Return true if ADDRESS lies in block B. */
static inline bool
block_has(const struct block *b, uint64_t address)
{
    return address - b->address < block_extent(b);
}

/* Store the birth of BLOCK, its number among the blocks of its thread modulo 256, in *RET. Searches
 * the side tables if the block's leaf does not have it. Return false if it is missing. */
bool blocks_birth(const struct memory *m, const struct core_record *r, const struct blocks *b,
                  const struct block *block, uint8_t *ret);

/* A freed block whose entry is still in the ledger. */
struct ended_block {
    uint64_t address;
    uint32_t site; // Site of the allocation; 0 = unknown.
};

enum { BLOCKS_LOOK_BACK_BYTES = 1 << 20 };

/* Find the block with the highest address among those that began at ADDRESS or less than
 * LIMIT_BYTES before it. Return false if there is none, or if that block is live. */
bool blocks_ended_before(const struct memory *m, const struct core_record *r,
                         const struct blocks *b, uint64_t address, uint64_t limit_bytes,
                         struct ended_block *ret);

/* --- block_sizes.c: sizes of blocks whose sizes only their allocator stores. */

/* Infer the sizes of B's blocks that are BLOCK_UNSIZED from RAW, the profile of M's process.
 * Inexact ones become BLOCK_GUESSED. CONSISTENT: RAW counts exactly the blocks that were live when
 * M was read. Blocks of a site without counters in RAW stay BLOCK_UNSIZED. */
void block_sizes_infer(const struct memory *m, const struct raw_file *raw, bool consistent,
                       struct blocks *b);

#endif
