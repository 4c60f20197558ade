/* usable_sizes.c: allocate blocks of 1 to 299 bytes, four times each. Print the number of blocks
 * whose malloc_usable_size exceeds the requested size by 8 bytes or more. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

static char *volatile block;

int
main(void)
{
    int wrong = 0;

    for (int round = 0; round < 4; round++)
        for (size_t i = 1; i < 300; i++) {
            block = malloc(i);
            wrong += malloc_usable_size(block) >= i + 8;
        }
    printf("%d\n", wrong);
    return 0;
}
