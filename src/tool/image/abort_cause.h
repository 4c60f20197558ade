/* abort_cause.h: find why glibc's allocator aborted, and the block that it was called with. */
#ifndef IMAGE_ABORT_CAUSE_H
#define IMAGE_ABORT_CAUSE_H

#include "image/examined.h"

enum abort_kind {
    ABORT_UNKNOWN,     // The message does not lead to a block.
    ABORT_OVERFLOWED,  // The user of the block wrote past its end.
    ABORT_OVERWRITTEN, // The word in front of the block was overwritten.
    ABORT_FREED_TWICE, // The block was already free.
    ABORT_EITHER,      // Either FREED_TWICE or OVERFLOWED.
};

enum abort_call {
    ABORT_IN_FREE, // In free(), or in a call that the message does not name.
    ABORT_IN_REALLOC,
    ABORT_IN_MALLOC, // No block was passed: `block` precedes unused memory.
};

struct abort_cause {
    const char *message; // glibc's message without its newline; NULL = none.
    enum abort_kind kind;
    enum abort_call call;
    struct ended_block block; // Its site is 0 if unknown. Unset if kind is ABORT_UNKNOWN.
    struct ended_block front; // ABORT_OVERWRITTEN: the preceding block; address 0 = none.
};

/* Find why the process of E, a dump, aborted, and store it in *RET. Strings are from ARENA. */
void abort_cause_find(const struct examined *e, struct arena *arena, struct abort_cause *ret);

#endif
