/* libuse.c: a library that writes to a given block 9 times, and 11 times to a block of 176 bytes
 * that it allocates. */
#include <stdlib.h>

void lib_use(volatile char *p);

static void *volatile kept;

void
lib_use(volatile char *p)
{
    volatile char *own;

    for (int i = 0; i < 9; i++)
        p[0] = 1;
    kept = malloc(176);
    own = kept;
    for (int i = 0; i < 11; i++)
        own[i] = 1;
}
