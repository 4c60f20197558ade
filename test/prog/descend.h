/* descend.h: a block below a stack that a number selects, to make a profile's tables grow. */
#ifndef DESCEND_H
#define DESCEND_H

#include <stdlib.h>

enum { OTHER_CALL = 1 << 30 };

static void *volatile block;

/* One call for each bit of BITS, from either of two places. */
__attribute__((noinline)) static void
descend(unsigned bits, int depth)
{
    if (depth == 0) {
        block = malloc(16);
        free(block);
        return;
    }
    if (bits & 1)
        descend(bits >> 1, depth - 1);
    else
        descend(bits >> 1 | OTHER_CALL, depth - 1); // Otherwise the two calls would be merged.
    __asm__ volatile("" : : : "memory");
}

#endif
