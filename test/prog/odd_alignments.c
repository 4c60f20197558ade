/* cflags: -O0 */
/* odd_alignments.c: request alignments other than powers of two from memalign and aligned_alloc.
 * Some allocators refuse them, others round them up.
 *
 * For each it prints "refused" and errno, or whether the address of the block is a multiple of
 * the next power of two. It writes a byte past the end of each block, into its slack, and frees
 * it. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 201 }; // Behind this size, every allocator leaves at least 8 bytes of slack.

typedef void *memalign_fn(size_t align, size_t size);

static void
ask(const char *name, memalign_fn *f, size_t align)
{
    size_t power = 1;
    char *p;

    while (power < align)
        power *= 2;
    errno = 0;
    p = f(align, SIZE);
    if (p == NULL) {
        printf("%s %zu: refused, errno %d\n", name, align, errno);
        return;
    }
    printf("%s %zu: %s\n", name, align, (uintptr_t)p % power == 0 ? "aligned" : "not aligned");
    p[SIZE] = 0x41;
    free(p);
}

int
main(void)
{
    static const size_t aligns[] = {0, 1, 3, 24, 100, 3000, 5000};

    for (size_t i = 0; i < sizeof aligns / sizeof *aligns; i++) {
        ask("memalign", memalign, aligns[i]);
        ask("aligned_alloc", aligned_alloc, aligns[i]);
    }
    return 0;
}
