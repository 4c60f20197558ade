/* blocks.h: the blocks that a process has, by the recorder's ledger in its memory. */
#ifndef IMAGE_BLOCKS_H
#define IMAGE_BLOCKS_H

#include "format/core_record.h"
#include "image/memory.h"

enum block_flags {
    BLOCK_HOOKED = 1 << 0,  // Of a hooked allocator: not malloc's.
    BLOCK_SAMPLE = 1 << 1,  // It stands for others; `way` says how it was chosen.
    BLOCK_ROUNDED_UP = 1 << 2,
    BLOCK_BACKING = 1 << 3, // One of the program's own heaps makes its blocks from it.
    // size_bytes is not known but as what malloc_usable_size would have said, minus slack_bytes.
    BLOCK_UNSIZED = 1 << 4,
    // The allocator's word in front of it, which tells its size, makes no sense: something has
    // written over it. size_bytes is 0.
    BLOCK_DAMAGED = 1 << 5,
    BLOCK_GUESSED = 1 << 6, // size_bytes is the mean of its site's.
    // Of a forked child: it was there before the child recorded. size_bytes is an upper bound.
    BLOCK_INHERITED = 1 << 7,
};

struct block {
    uint64_t address;
    uint64_t size_bytes; // Requested.
    uint32_t site;       // As in the profile's file.
    uint16_t way;        // Of a sample: index into PHASES.
    uint8_t slack_bytes;
    uint8_t flags; // enum block_flags
};

struct blocks {
    struct block *v; // By address.
    size_t count, capacity;
    size_t damaged, unsized; // How many have these flags.
    // Parts of the ledger that are not there, each for 2^24 bytes of address space.
    size_t missing_leaves, leaves;
    struct core_leaf *ledger; // Those that are there, by span.
};

/* Read the blocks of record R in M into *RET, whose memory is from ARENA. */
void blocks_read(const struct memory *m, const struct core_record *r, struct arena *arena,
                 struct blocks *ret);

/* Append BLOCK; blocks_settle is to follow. */
void blocks_add(struct blocks *b, struct arena *arena, struct block block);

/* Put B into the order of addresses again, and drop what is there twice. */
void blocks_settle(struct blocks *b);

/* The last block that begins at ADDRESS or before it; NULL if there is none. */
const struct block *blocks_before(const struct blocks *b, uint64_t address);

/* The bytes that a block takes for sure: at least 1. */
static inline uint64_t
block_extent(const struct block *b)
{
    return b->size_bytes != 0 ? b->size_bytes : 1;
}

/* Whether ADDRESS lies in block B. */
static inline bool
block_has(const struct block *b, uint64_t address)
{
    return address - b->address < block_extent(b);
}

/* The number of BLOCK among those of its thread, modulo 256, from the ledger in M; false if that is
 * not there. Looks through the side tables if BLOCK is in one of those. */
bool blocks_birth(const struct memory *m, const struct core_record *r, const struct blocks *b,
                  const struct block *block, uint8_t *ret);

/* A block that has ended, of which the ledger still knows where it began. */
struct ended_block {
    uint64_t address;
    uint32_t site; // Where it had been allocated; 0 = not known.
};

enum { BLOCKS_LOOK_BACK_BYTES = 1 << 20 };

/* The last block that began at ADDRESS or less than LIMIT_BYTES before it and has ended, with no
 * other that has begun between it and ADDRESS; false if there is none. */
bool blocks_ended_before(const struct memory *m, const struct core_record *r,
                         const struct blocks *b, uint64_t address, uint64_t limit_bytes,
                         struct ended_block *ret);

#endif
