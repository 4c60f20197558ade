/* heap_memory.c: objects of one heaptap heap.
 *
 *     heap_memory SIZE COUNT [STRIDE [RUN GAP]]
 *
 * The objects begin STRIDE bytes apart; by default they are adjacent. A gap of GAP bytes follows
 * every RUN objects.
 *
 * Prints how many bytes the process has grown by with COUNT objects of SIZE bytes, then frees every
 * second object. The objects have no memory, so all growth is the recorder's. */
#include <stdio.h>
#include <stdlib.h>

#include "heaptap/heaptap.h"

static char *const base = (char *)0x600000000000;

static long
resident_bytes(void)
{
    long pages = 0, ignored;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f == NULL || fscanf(f, "%ld %ld", &ignored, &pages) != 2)
        abort();
    fclose(f);
    return pages * 4096;
}

int
main(int argc, char **argv)
{
    long size = argc > 2 ? atol(argv[1]) : 4, count = argc > 2 ? atol(argv[2]) : 1000, before;
    long stride = argc > 3 ? atol(argv[3]) : size, run = argc > 5 ? atol(argv[4]) : count;
    long gap = argc > 5 ? atol(argv[5]) : 0;
    heaptap_heap *heap = heaptap_heap_create("objects", 0);

    setvbuf(stdout, NULL, _IONBF, 0); // stdio must have no live block at the end.
    resident_bytes();
    before = resident_bytes();
    for (long i = 0; i < count; i++)
        heaptap_alloc(heap, base + i * stride + i / run * gap, 1, (size_t)size);
    printf("%ld\n", resident_bytes() - before);
    for (long i = 0; i < count; i += 2)
        heaptap_free(heap, base + i * stride + i / run * gap);
    return 0;
}
