/* cflags: -fno-builtin */
/* peak_holders.c: allocate up to a known peak with known holders.
 *
 *     step                              live bytes
 *     first: 100 blocks of 1000         100000
 *     second: 50 blocks of 2000         200000
 *     half of first freed               150000
 *     tie: 25 blocks of 2000, freed     200000, which is no new peak
 *     grown: malloc 100, realloc 60100  210100  <- the peak, one step of realloc
 *     half of second freed              160100
 *     last: 40 blocks of 500            180100
 *
 * At the peak, first has 50 blocks with 50000 bytes, second 50 with 100000, grown 1 with 60100, and
 * tie and last none. The sum is 210100, because the reallocated block counts with its new size
 * only. 180100 bytes are live at the end. */
#include <stdlib.h>

static void *blocks_first[100], *blocks_second[50], *blocks_tie[25], *blocks_last[40];
static void *volatile block_grown; // Volatile, so that the call of realloc is no tail call.

__attribute__((noinline)) static void
first(void)
{
    for (int i = 0; i < 100; i++)
        blocks_first[i] = malloc(1000);
}

__attribute__((noinline)) static void
second(void)
{
    for (int i = 0; i < 50; i++)
        blocks_second[i] = malloc(2000);
}

__attribute__((noinline)) static void
tie(void)
{
    for (int i = 0; i < 25; i++)
        blocks_tie[i] = malloc(2000);
    for (int i = 0; i < 25; i++)
        free(blocks_tie[i]);
}

__attribute__((noinline)) static void
grown(void)
{
    block_grown = malloc(100);
    block_grown = realloc(block_grown, 60100);
}

__attribute__((noinline)) static void
last(void)
{
    for (int i = 0; i < 40; i++)
        blocks_last[i] = malloc(500);
}

int
main(void)
{
    first();
    second();
    for (int i = 0; i < 50; i++)
        free(blocks_first[i]);
    tie();
    grown();
    for (int i = 0; i < 25; i++)
        free(blocks_second[i]);
    last();
    return 0;
}
