/* reach.h: reachability of blocks. */
#ifndef IMAGE_REACH_H
#define IMAGE_REACH_H

#include "image/scan.h"

/* Reachability of a block, strongest first. */
enum reach {
    REACH_YES = 0,  // A variable points to the block, or a block reachable from one does.
    REACH_STACK,    // Only words of stacks and registers lead to the block.
    REACH_MAPPED,   // Only memory that the program has mapped past malloc leads to the block.
    REACH_THROUGH,  // Only a block that is REACH_NONE leads to this block, which is lost with it.
    REACH_NONE,     // No pointer leads to the block.
    REACH_KINDS,
};

/* Return true if a block with HOW is lost. */
static inline bool
reach_is_lost(uint8_t how)
{
    return how == REACH_NONE || how == REACH_THROUGH;
}

struct reached {
    uint8_t *of; // By block: enum reach.
    uint64_t scanned_bytes; // Size of all roots, without registers.
    // By block: index plus 1 of the REACH_NONE block with which a REACH_THROUGH block is lost. If
    // there are several, it has the lowest address.
    uint32_t *with;
};

/* Find the reachability of E's blocks and store it in *RET. Memory is from ARENA. */
void reach_find(const struct examined *e, struct arena *arena, struct reached *ret);

#endif
