/* descend.h: a block below a stack that a number selects, to make a profile's tables grow. */
#ifndef DESCEND_H
#define DESCEND_H

#include <stdlib.h>

enum { OTHER_CALL = 1 << 30 };

/* Allocates the block at the end of the stack. */
typedef void *leaf_fn(void);

/* Return the block of LEAF, below one call for each of the DEPTH low bits of BITS, from either of
 * two places. */
__attribute__((noinline)) static void *
descend(unsigned bits, int depth, leaf_fn *leaf)
{
    void *p;

    if (depth == 0)
        p = leaf();
    else if (bits & 1)
        p = descend(bits >> 1, depth - 1, leaf);
    else
        p = descend(bits >> 1 | OTHER_CALL, depth - 1, leaf); // Otherwise the calls are merged.
    __asm__ volatile("" : : : "memory");
    return p;
}

/* Define the leaf NAME of blocks of BYTES. */
#define LEAF(name, bytes)                                                                          \
    __attribute__((noinline)) static void *name(void)                                              \
    {                                                                                              \
        void *p = malloc(bytes);                                                                   \
                                                                                                   \
        __asm__ volatile("" : : : "memory");                                                       \
        return p;                                                                                  \
    }

#endif
