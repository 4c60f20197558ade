/* abort_cause.h: find why glibc's allocator aborted, and the block it was called with. */
#ifndef IMAGE_ABORT_CAUSE_H
#define IMAGE_ABORT_CAUSE_H

#include "image/examined.h"

enum abort_kind {
    ABORT_UNKNOWN,     // The message does not lead to a block.
    ABORT_OVERFLOWED,  // The word behind the block was overwritten: its owner wrote past its end.
    ABORT_OVERWRITTEN, // The word in front of the block was overwritten.
    ABORT_FREED_TWICE, // The block was free already.
    ABORT_EITHER,      // It was free already, or its owner wrote past its end.
};

enum abort_call {
    ABORT_IN_FREE, // In free(), or in a call that the message does not name.
    ABORT_IN_REALLOC,
    ABORT_IN_MALLOC, // The block is not an argument: it lies in front of unused memory.
};

struct abort_cause {
    const char *message; // glibc's message without its newline; NULL = none.
    enum abort_kind kind;
    enum abort_call call;
    struct ended_block block; // Its site is 0 if not known. UNKNOWN: not set.
    struct ended_block front; // OVERWRITTEN: the block in front of it; address 0 = none.
};

/* Find why the process of E, a dump, aborted. Strings are from ARENA. */
void abort_cause_find(const struct examined *e, struct arena *arena, struct abort_cause *ret);

#endif
