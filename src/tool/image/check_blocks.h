/* check_blocks.h: which blocks of a process somebody has written out of, by its memory. */
#ifndef IMAGE_CHECK_BLOCKS_H
#define IMAGE_CHECK_BLOCKS_H

#include "image/examined.h"

enum check_kind {
    CHECK_PAST_END = 1, // Whoever has the block wrote past its end.
    CHECK_BEFORE_START, // Whoever has the block wrote before its beginning.
    CHECK_OVERWRITTEN,  // What stands in front of the block was written over, most likely by
                        // whoever has the block before it.
};

enum { CHECK_WRITTEN_BYTES = 48 };

struct check_damage {
    enum check_kind kind;
    struct block block;     // Its site is 0 if the ledger does not know it.
    struct block neighbour; // Of OVERWRITTEN the one in front, else one that was written to as
                            // well; address 0 = there is none.
    uint64_t at;            // The first byte that is known to have changed.
    uint64_t known_bytes;   // From there to the last one that is known to have.
    uint32_t written_count;
    uint8_t written[CHECK_WRITTEN_BYTES]; // What is there now.
};

struct checked {
    bool annotated;    // Else only the allocator's own words could be looked at.
    bool possible;     // False: not even these.
    uint64_t looked;   // So many blocks could be judged,
    uint64_t unknown;  // and so many not: their memory is not there.
    uint64_t unmarked; // Blocks without an annotation in an annotated process.
    struct check_damage *v; // By address.
    size_t count;
};

/* Look at the blocks of E, whose record and blocks have been read; memory is from ARENA. */
void check_blocks(const struct examined *e, struct arena *arena, struct checked *ret);

/* Whose doing D most likely is: its block or the neighbour. */
const struct block *check_culprit(const struct check_damage *d);

#endif
