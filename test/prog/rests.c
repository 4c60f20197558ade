/* rests.c: make bursts of small events with rests between them.
 *
 *     rests BURST REST_MS
 *
 * First allocates and frees BURST blocks of 64 bytes. Then allocates 90 blocks of 10,000 bytes,
 * rests REST_MS, frees them all, rests REST_MS, and allocates and frees a block of 5 bytes. Prints
 * nothing. */
#include <stdlib.h>
#include <time.h>

enum { BLOCKS = 90, BLOCK_BYTES = 10000 };

static void *volatile kept[BLOCKS];

int
main(int argc, char **argv)
{
    long burst = argc > 1 ? atol(argv[1]) : 0, rest_ms = argc > 2 ? atol(argv[2]) : 1000;
    struct timespec rest = {rest_ms / 1000, rest_ms % 1000 * 1000000};

    for (long i = 0; i < burst; i++) {
        kept[0] = malloc(64);
        free(kept[0]);
    }
    for (int i = 0; i < BLOCKS; i++)
        kept[i] = malloc(BLOCK_BYTES);
    nanosleep(&rest, NULL);
    for (int i = 0; i < BLOCKS; i++)
        free(kept[i]);
    nanosleep(&rest, NULL);
    kept[0] = malloc(5);
    free(kept[0]);
    return 0;
}
