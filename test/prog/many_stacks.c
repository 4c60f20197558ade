/* cflags: -O1 -fno-optimize-sibling-calls */
/* many_stacks.c: allocate COUNT blocks of 100 bytes, each from a new stack, and after each a block
 * of 10 bytes from one place; free 31 in 32.
 *
 *     many_stacks COUNT
 *
 * Prints nothing. A limit on the recorder's memory must not change the sums. */
#include <stdlib.h>

enum { DEPTH = 22, OTHER_CALL = 1 << 30 };

static void *volatile block;

/* Make one call for each bit of PATH, which selects between two call sites. */
__attribute__((noinline)) static void
descend(unsigned path, int depth)
{
    if (depth == 0) {
        block = malloc(100);
        return;
    }
    if (path & 1)
        descend(path >> 1, depth - 1);
    else
        // Otherwise the compiler would merge the two calls.
        descend(path >> 1 | OTHER_CALL, depth - 1);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void
known(void)
{
    block = malloc(10);
    __asm__ volatile("" ::: "memory");
}

int
main(int argc, char **argv)
{
    unsigned count = argc > 1 ? (unsigned)atol(argv[1]) : 1000;

    for (unsigned i = 0; i < count; i++) {
        descend(i, DEPTH);
        if (i % 32 != 0)
            free(block);
        known();
        if (i % 32 != 0)
            free(block);
    }
    return 0;
}
