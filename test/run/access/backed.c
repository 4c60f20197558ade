/* backed.c: a block of 464 bytes with a write, which shrinks in its place to 448, where it has
 * another. Then it backs a heap, as if malloc had never handed it out, and is malloc's again: a new
 * block of 448 bytes, which gets 3 writes. */
#include <stdlib.h>

#include "heaptap/heaptap.h"

static void *volatile kept;

int
main(void)
{
    heaptap_heap *heap = heaptap_heap_create("backed", 0);
    volatile char *p;

    kept = malloc(464);
    p = kept;
    p[0] = 1;
    kept = realloc(kept, 448);
    if (kept != p)
        return 1;
    p[0] = 1;
    heaptap_backing(heap, kept, 448);
    heaptap_backing_end(heap, kept);
    for (int i = 0; i < 3; i++)
        p[0] = 1;
    free(kept);
    return 0;
}
