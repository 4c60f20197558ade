/* reach.h: which blocks are reachable. */
#ifndef IMAGE_REACH_H
#define IMAGE_REACH_H

#include "image/scan.h"

/* How a block is kept, the strongest first. */
enum reach {
    REACH_YES = 0,  // From a variable, a stack, a register, or a block reachable from one.
    REACH_MAPPED,   // Only from memory that the program has mapped past malloc.
    REACH_THROUGH,  // Only through a block of the next kind, and lost with it.
    REACH_NONE,     // From nowhere.
    REACH_KINDS,
};

struct reached {
    uint8_t *of; // By block: enum reach.
    struct {
        uint64_t blocks, bytes;
    } sums[REACH_KINDS];
    uint64_t scanned_bytes; // Size of all roots, registers not counted.
};

/* Find out how the blocks of E can be reached, and store it in *RET. Memory is from ARENA. */
void reach_find(const struct examined *e, struct arena *arena, struct reached *ret);

#endif
