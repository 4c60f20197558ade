/* foreign.c: known events for other allocators. The test links it with different allocators,
 * compiled as C or, to use the operators, as C++.
 *
 *     take      1000 blocks, i % 100 + 1 bytes: 50500 bytes; of each 100 the first 40 freed
 *     turn      500 pairs, 64 bytes: 32000 bytes, all freed, all temporary
 *     resize    200 blocks of 10 reallocated to 5000: 400 allocations, 1002000 bytes, 200 live
 *
 * Prints the result of malloc_usable_size for malloc(100), which identifies the allocator. With
 * NO_USABLE_SIZE, for an allocator without that function, it prints nothing. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __cplusplus
#include <new>
#define GET(n)  operator new(n)
#define PUT(p)  operator delete(p)
#else
#define GET(n)  malloc(n)
#define PUT(p)  free(p)
#endif

#ifdef NO_USABLE_SIZE
#define USABLE(p) ((size_t)0)
#else
#define USABLE(p) malloc_usable_size(p)
#endif

#define OWN __attribute__((noinline, noclone))

static void *blocks[1000];

OWN static void
take(void)
{
    for (int i = 0; i < 1000; i++)
        blocks[i] = GET((size_t)(i % 100 + 1));
    for (int i = 0; i < 1000; i++)
        if (i % 100 < 40)
            PUT(blocks[i]);
}

OWN static void
turn(void)
{
    for (int i = 0; i < 500; i++) {
        void *volatile p = GET(64);

        PUT(p);
    }
}

OWN static void
resize(void)
{
    for (int i = 0; i < 200; i++) {
        void *volatile p = malloc(10);

        p = realloc(p, 5000);
    }
}

int
main(void)
{
    char text[64];
    int length;

    take();
    turn();
    resize();
    length = snprintf(text, sizeof text, "usable %zu\n", USABLE(blocks[99]));
    return write(1, text, (size_t)length) != length;
}
