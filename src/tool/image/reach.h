/* reach.h: reachability of blocks. */
#ifndef IMAGE_REACH_H
#define IMAGE_REACH_H

#include "image/scan.h"

/* Reachability of a block, strongest first. */
enum reach {
    // A variable, a stack or a register points to the block, or a block reachable from one does.
    REACH_YES = 0,
    REACH_MAPPED,   // Only memory that the program has mapped past malloc leads to the block.
    REACH_THROUGH,  // Only a block that is REACH_NONE leads to this block, which is lost with it.
    REACH_NONE,     // No pointer leads to the block.
    REACH_KINDS,
};

struct reached {
    uint8_t *of; // By block: enum reach.
    uint64_t scanned_bytes; // Size of all roots, without registers.
};

/* Find the reachability of E's blocks and store it in *RET. Memory is from ARENA. */
void reach_find(const struct examined *e, struct arena *arena, struct reached *ret);

#endif
