/* layered.c: allocate 100 blocks each by malloc (10 bytes), calloc (2 of 20), realloc (one block
 * that grows from 1 byte to 100) and memalign (30), and free all of them. The status is 6. */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

enum { TIMES = 100 };

static void *volatile blocks[TIMES];

static void
free_all(void)
{
    for (int i = 0; i < TIMES; i++)
        free(blocks[i]);
}

static void __attribute__((noinline))
by_malloc(void)
{
    for (int i = 0; i < TIMES; i++)
        blocks[i] = malloc(10);
    free_all();
}

static void __attribute__((noinline))
by_calloc(void)
{
    for (int i = 0; i < TIMES; i++)
        blocks[i] = calloc(2, 20);
    free_all();
}

static void __attribute__((noinline))
by_realloc(void)
{
    unsigned char *p = NULL;

    for (int i = 1; i <= TIMES; i++) {
        p = realloc(p, (size_t)i);
        p[i - 1] = (unsigned char)i;
    }
    for (int i = 1; i <= TIMES; i++)
        if (p[i - 1] != i)
            abort();
    free(p);
}

static void __attribute__((noinline))
by_memalign(void)
{
    for (int i = 0; i < TIMES; i++)
        if (((uintptr_t)(blocks[i] = memalign(64, 30)) & 63) != 0)
            abort();
    free_all();
}

int
main(void)
{
    by_malloc();
    by_calloc();
    by_realloc();
    by_memalign();
    return 6;
}
