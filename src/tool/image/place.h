/* place.h: target of an address. */
#ifndef IMAGE_PLACE_H
#define IMAGE_PLACE_H

#include "image/examined.h"

enum place_kind {
    PLACE_NOWHERE, // The process had no memory there.
    PLACE_NULL,    // Close to zero: a member of an object at NULL.
    PLACE_BLOCK,   // In a block.
    PLACE_BEHIND,  // The address is just behind the end of a block, and in no other block.
    PLACE_ENDED,   // The address is behind the beginning of a freed block, and in no live block.
    PLACE_STACK,   // On a thread's stack.
    PLACE_BELOW_STACK, // The address is just below a stack, where the stack cannot grow.
    PLACE_MODULE,  // The address is in a program or library, variables included.
    PLACE_OTHER,   // In memory of unknown use.
};

struct place {
    enum place_kind kind;
    // BLOCK, BEHIND: the block. ENDED: the live block in front, or NULL.
    const struct block *block;
    struct ended_block ended;              // ENDED
    const struct memory_thread *thread;    // STACK, BELOW_STACK
    const struct memory_mapping *mapping;  // MODULE
    const struct memory_region *region;    // NULL if NOWHERE.
    // BLOCK, ENDED: distance from the beginning of the block. BEHIND: distance from its end.
    // MODULE: distance from the first byte of the file.
    uint64_t off;
};

/* Return the nearest block in front of the block at ADDRESS, live or freed, in the same memory. Its
 * address is 0 if there is none. */
struct ended_block place_in_front(const struct examined *e, uint64_t address);

/* Return the place of ADDRESS. */
struct place place_of(const struct examined *e, uint64_t address);

#endif
