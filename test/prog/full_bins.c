/* full_bins.c: a heap of glibc with free chunks in nearly all bins.
 *
 * Allocates ten blocks of each of many sizes, a block of 700 bytes behind each, and frees the ten.
 * Prints the number of blocks of 700 bytes and "ready", and waits for a line. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    EACH = 10, BLOCKS_MOST = 2000,
    BYTES_LEAST = 24, BYTES_MOST = 1 << 20, KEPT_BYTES = 700, BYTES_LARGE = 1 << 22,
};

// Distances between bins, each from a size on.
static const struct {
    size_t from, step;
} steps[] = {{163840, 262144}, {45056, 32768}, {10752, 4096}, {3072, 512}, {1024, 64}, {0, 16}};

static void *volatile kept;

static size_t
next_size(size_t bytes)
{
    size_t i = 0;

    while (bytes < steps[i].from)
        i++;
    return bytes + steps[i].step;
}

int
main(void)
{
    static void *blocks[BLOCKS_MOST];
    unsigned count = 0;

    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    for (size_t bytes = BYTES_LEAST; bytes < BYTES_MOST; bytes = next_size(bytes))
        for (int i = 0; i < EACH; i++) {
            blocks[count++] = malloc(bytes);
            kept = malloc(KEPT_BYTES);
        }
    for (unsigned i = 0; i < count; i++)
        free(blocks[i]);
    // A large block merges chunks in fastbins, and moves all others into their bins.
    kept = malloc(BYTES_LARGE);
    printf("%u\nready\n", count);
    fflush(stdout);
    getchar();
    return 0;
}
