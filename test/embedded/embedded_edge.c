/* embedded_edge.c: a check in steps, where a step begins in the last block of the heap.
 *
 * The real allocator allocates from the front of its memory, so the last block borders on unused
 * memory. That memory looks like ends of annotations, which the check must ignore. The program
 * prints the number of damages found by two steps and, with a damaged block, by a third: "0 0
 * 1". */
#include <stddef.h>

static union {
    unsigned char bytes[8192];
    double number;
    void *pointer;
} memory
#if defined(__GNUC__)
    __attribute__((aligned(16)))
#endif
    ;
static size_t used;

static void *
embedded_edge_give(size_t size)
{
    void *p = memory.bytes + used;

    used += (size + 15) / 16 * 16;
    return p;
}

static void
embedded_edge_take_back(void *p)
{
    size_t at = (size_t)((unsigned char *)p - memory.bytes);

    if (at < used)
        used = at;
}

#define HEAPTAP_EMBEDDED_REAL_MALLOC(n) embedded_edge_give(n)
#define HEAPTAP_EMBEDDED_REAL_FREE(p) embedded_edge_take_back(p)

#include "heaptap_embedded.c"

#include <stdio.h>

enum { STEP = 4096 };

int
main(void)
{
    unsigned char *first, *second, *last;
    size_t before, found;

    for (size_t i = 0; i < sizeof memory.bytes; i++)
        memory.bytes[i] = (unsigned char)mark_end[i % 4];
    first = heaptap_embedded_malloc(100);
    second = heaptap_embedded_malloc(100);
    before = heaptap_embedded_check_next(1, NULL, NULL);
    heaptap_embedded_free(first);
    heaptap_embedded_free(second);
    // The block covers the two freed ones, so the next step would begin inside it. It does not end
    // on a word boundary.
    last = heaptap_embedded_malloc(601);
    found = heaptap_embedded_check_next(STEP, NULL, NULL);
    last[601] ^= 1;
    printf("%d %d %d\n", (int)before, (int)found,
           (int)heaptap_embedded_check_next(STEP, NULL, NULL));
    return 0;
}
