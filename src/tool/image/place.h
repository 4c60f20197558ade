/* place.h: what is at an address. */
#ifndef IMAGE_PLACE_H
#define IMAGE_PLACE_H

#include "image/examined.h"

enum place_kind {
    PLACE_NOWHERE, // The process had no memory there.
    PLACE_NULL,    // Close to zero: the member of an object at NULL.
    PLACE_BLOCK,   // In a block.
    PLACE_BEHIND,  // In no block, but little behind the end of one.
    PLACE_ENDED,   // Behind the beginning of a block that has ended, and in no other.
    PLACE_STACK,   // On a thread's stack.
    PLACE_BELOW_STACK, // Just below one, where it may not grow.
    PLACE_MODULE,  // In a program or library, its variables included.
    PLACE_OTHER,   // In memory of which no more is known.
};

struct place {
    enum place_kind kind;
    const struct block *block;             // BLOCK, BEHIND; of ENDED the live one before, or NULL.
    struct ended_block ended;              // ENDED
    const struct memory_thread *thread;    // STACK, BELOW_STACK
    const struct memory_mapping *mapping;  // MODULE
    const struct memory_region *region;    // NULL = NOWHERE.
    uint64_t off; // From the beginning of the block, of BEHIND from its end, of MODULE from that of
                  // the file's first byte.
};

/* The nearest block in front of the block at ADDRESS, live or freed, in the same memory; its
 * address is 0 if there is none. */
struct ended_block place_in_front(const struct examined *e, uint64_t address);

/* What is at ADDRESS. */
struct place place_of(const struct examined *e, uint64_t address);

#endif
