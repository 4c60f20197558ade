/* descend.h: allocate a block below a stack that a number selects, to make a profile's tables
 * grow. */
#ifndef DESCEND_H
#define DESCEND_H

#include <stdlib.h>

enum { OTHER_CALL = 1 << 30 };

/* Allocate the block at the end of the stack. */
typedef void *leaf_fn(void);

/* Return the block of LEAF, below DEPTH calls. Each of the DEPTH low bits of BITS selects between
 * two call sites. */
__attribute__((noinline)) static void *
descend(unsigned bits, int depth, leaf_fn *leaf)
{
    void *p;

    if (depth == 0)
        p = leaf();
    else if (bits & 1)
        p = descend(bits >> 1, depth - 1, leaf);
    else
        // OTHER_CALL keeps the compiler from merging the two calls.
        p = descend(bits >> 1 | OTHER_CALL, depth - 1, leaf);
    __asm__ volatile("" : : : "memory");
    return p;
}

/* Define a leaf function NAME, which allocates BYTES. */
#define LEAF(name, bytes)                                                                          \
    __attribute__((noinline)) static void *name(void)                                              \
    {                                                                                              \
        void *p = malloc(bytes);                                                                   \
                                                                                                   \
        __asm__ volatile("" : : : "memory");                                                       \
        return p;                                                                                  \
    }

#endif
