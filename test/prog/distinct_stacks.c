/* cflags: -O1 -fno-optimize-sibling-calls */
/* distinct_stacks.c: a known number of distinct stacks, each with one block.
 *
 *     distinct_stacks COUNT
 *
 * Stack number I has 24 calls; each bit of I selects between two call sites. With an even I, the
 * innermost function is leaf_small (24 bytes); with an odd one, leaf_middle (100 bytes). Each block
 * is freed at once. At the end, leaf_last allocates 3000 bytes, which stay live. COUNT is at most
 * 2^24. */
#include <stdlib.h>

#include "descend.h"

enum { DEPTH = 24 };

LEAF(leaf_small, 24)
LEAF(leaf_middle, 100)
LEAF(leaf_last, 3000)

/* Return the bits of I in reverse, so that consecutive stacks share their outer calls. */
static unsigned
reversed(unsigned i)
{
    unsigned result = 0;

    for (int bit = 0; bit < DEPTH; bit++)
        result |= (i >> bit & 1) << (DEPTH - 1 - bit);
    return result;
}

int
main(int argc, char **argv)
{
    unsigned count = argc > 1 ? (unsigned)atol(argv[1]) : 1000;

    for (unsigned i = 0; i < count; i++)
        free(descend(reversed(i), DEPTH, i & 1 ? leaf_middle : leaf_small));
    return descend(reversed(0), DEPTH, leaf_last) == NULL;
}
