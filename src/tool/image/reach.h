/* reach.h: reachability of blocks. */
#ifndef IMAGE_REACH_H
#define IMAGE_REACH_H

#include "image/scan.h"

/* Reachability of a block, strongest first. */
enum reach {
    REACH_YES = 0,  // From a variable, a stack, a register, or a block reachable from one.
    REACH_MAPPED,   // Only from memory that the program has mapped past malloc.
    REACH_THROUGH,  // Only from a block that is REACH_NONE, and lost with it.
    REACH_NONE,     // From nowhere.
    REACH_KINDS,
};

struct reached {
    uint8_t *of; // By block: enum reach.
    struct {
        uint64_t blocks, bytes;
    } sums[REACH_KINDS];
    uint64_t scanned_bytes; // Size of all roots, without registers.
};

/* Find the reachability of E's blocks and store it in *RET. Memory is from ARENA. */
void reach_find(const struct examined *e, struct arena *arena, struct reached *ret);

#endif
