/* binned.c: a known number of blocks of each size, some of them freed, for the size bins. The sizes
 * are on both sides of the limit for exact bins. Nothing else is allocated. */
#include <stdlib.h>

enum { BLOCKS_MAX = 300 };

static const struct {
    size_t size_bytes;
    size_t blocks, freed;
} cases[] = {
    {0, 3, 1}, {1, 5, 0}, {24, 300, 299}, {204, 100, 49}, {1024, 7, 7}, {1025, 2, 1}, {70000, 4, 2},
};

int
main(void)
{
    void *blocks[BLOCKS_MAX];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < cases[i].blocks; k++)
            blocks[k] = malloc(cases[i].size_bytes);
        for (size_t k = 0; k < cases[i].freed; k++)
            free(blocks[k]);
    }
    return 0;
}
