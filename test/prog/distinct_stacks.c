/* cflags: -O1 -fno-optimize-sibling-calls */
/* distinct_stacks.c: a known number of distinct stacks, each with one block.
 *
 *     distinct_stacks COUNT
 *
 * Stack number I has 24 calls; each bit of I selects one of two call sites. An even I ends in
 * leaf_small (24 bytes), an odd one in leaf_middle (100 bytes). Each block is freed at once. At the
 * end leaf_last allocates 3000 bytes, which stay live. COUNT is at most 2^24. */
#include <stdlib.h>

enum { DEPTH = 24, OTHER_CALL = 1 << 30 };

__attribute__((noinline)) static void *
leaf_small(void)
{
    void *p = malloc(24);

    __asm__ volatile("" ::: "memory");
    return p;
}

__attribute__((noinline)) static void *
leaf_middle(void)
{
    void *p = malloc(100);

    __asm__ volatile("" ::: "memory");
    return p;
}

__attribute__((noinline)) static void *
leaf_last(void)
{
    void *p = malloc(3000);

    __asm__ volatile("" ::: "memory");
    return p;
}

/* One call for each bit of PATH, from either of two places. */
__attribute__((noinline)) static void *
descend(unsigned path, int depth, unsigned leaf)
{
    void *p;

    if (depth == 0)
        return leaf == 0 ? leaf_small() : leaf == 1 ? leaf_middle() : leaf_last();
    if (path & 1)
        p = descend(path >> 1, depth - 1, leaf);
    else
        p = descend(path >> 1 | OTHER_CALL, depth - 1, leaf); // Otherwise the calls are merged.
    __asm__ volatile("" ::: "memory");
    return p;
}

/* Return the bits of I in reverse: then consecutive stacks share their outer calls. */
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
        free(descend(reversed(i), DEPTH, i & 1));
    return descend(reversed(0), DEPTH, 2) == NULL;
}
