/* place.h: target of an address. */
#ifndef IMAGE_PLACE_H
#define IMAGE_PLACE_H

#include "image/examined.h"

enum place_kind {
    PLACE_NOWHERE, // The process had no memory there.
    PLACE_NULL,    // Close to zero: a member of an object at NULL.
    PLACE_BLOCK,   // In a block.
    PLACE_BEHIND,  // In no block, but just behind the end of one.
    PLACE_ENDED,   // In no block, but behind the beginning of a freed block.
    PLACE_STACK,   // On a thread's stack.
    PLACE_BELOW_STACK, // Just below a stack, where it cannot grow.
    PLACE_MODULE,  // In a program or library, its variables included.
    PLACE_OTHER,   // In memory of unknown use.
};

struct place {
    enum place_kind kind;
    const struct block *block;             // BLOCK, BEHIND; ENDED: live block in front, or NULL.
    struct ended_block ended;              // ENDED
    const struct memory_thread *thread;    // STACK, BELOW_STACK
    const struct memory_mapping *mapping;  // MODULE
    const struct memory_region *region;    // NULL if NOWHERE.
    uint64_t off; // Distance from the beginning of the block; BEHIND: from its end; MODULE: from
                  // the first byte of the file.
};

/* Return the nearest block in front of the block at ADDRESS, live or freed, in the same memory. Its
 * address is 0 if there is none. */
struct ended_block place_in_front(const struct examined *e, uint64_t address);

/* Return the place of ADDRESS. */
struct place place_of(const struct examined *e, uint64_t address);

#endif
