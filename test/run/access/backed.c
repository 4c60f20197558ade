/* backed.c: shrink a block of 464 bytes with a write to 448 in its place, and write to it again.
 * Then let it back a heap, so that it is not malloc's, and return it to malloc: it counts as a new
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
