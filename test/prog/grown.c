/* grown.c: a stack that allocates a block of 10,000 bytes in each hundredth of a second, for eleven
 * seconds. With the argument "free", it frees them all at its end. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 1100, SIZE_BYTES = 10000, PAUSE_US = 10000 };

static void *blocks[BLOCKS];

__attribute__((noinline)) static void
grow(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(SIZE_BYTES);
        *(volatile char *)blocks[i] = 1;
        usleep(PAUSE_US);
    }
    __asm__ volatile("" ::: "memory"); // Prevents a tail call.
}

int
main(int argc, char **argv)
{
    grow();
    if (argc > 1 && strcmp(argv[1], "free") == 0)
        for (int i = 0; i < BLOCKS; i++)
            free(blocks[i]);
    return 0;
}
