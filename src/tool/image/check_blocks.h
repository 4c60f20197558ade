/* check_blocks.h: blocks whose bounds a write has crossed, found in the memory of a process. */
#ifndef IMAGE_CHECK_BLOCKS_H
#define IMAGE_CHECK_BLOCKS_H

#include "image/examined.h"

enum check_kind {
    CHECK_PAST_END = 1, // The user of the block wrote past its end.
    CHECK_BEFORE_START, // The user of the block wrote before its beginning.
    // The bytes in front of the block were overwritten, most likely from the block before it.
    CHECK_OVERWRITTEN,
};

enum { CHECK_WRITTEN_BYTES = 48 };

struct check_corruption {
    enum check_kind kind;
    // The corrupted block. `site` is 0 if the ledger does not list the block.
    struct block block;
    // OVERWRITTEN: the block in front. Other kinds: another block that the same write changed.
    // Address 0 = none.
    struct block neighbour;
    bool neighbour_freed;   // The neighbour was freed; its size is unknown.
    uint64_t at;            // Address of the first byte known to have changed.
    uint64_t known_bytes;   // Distance from `at` to the end of the last byte known to have changed.
    uint32_t written_count;
    uint8_t written[CHECK_WRITTEN_BYTES]; // The bytes from `at` on, as read.
};

struct checked {
    // True if blocks have annotations; false if only the allocator's words could be checked.
    bool annotated;
    bool possible;     // True if there was anything to check.
    uint64_t looked;   // Number of blocks that were checked.
    uint64_t unknown;  // Number of blocks whose memory is missing.
    uint64_t unmarked; // Blocks without an annotation in an annotated process.
    struct check_corruption *v; // By address.
    size_t count;
};

/* Check the blocks of E, whose record and blocks must have been read, and store the findings in
 * *RET. Memory is from ARENA. */
void check_blocks(const struct examined *e, struct arena *arena, struct checked *ret);

/* Return the block from which D was most likely written: D's block or its neighbour. */
const struct block *check_culprit(const struct check_corruption *d);

#endif
