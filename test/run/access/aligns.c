/* aligns.c: call functions with an alignment argument, also with invalid ones, and print the
 * results and whether the block is aligned. The output is the same whether accesses are counted or
 * not. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept;

static void
say(const char *function, size_t align, void *p, int error)
{
    int power = align != 0 && (align & (align - 1)) == 0;

    kept = p;
    printf("%s %zu: %s", function, align, kept != NULL ? "a block" : "none");
    if (kept == NULL)
        printf(", %d", error);
    else if (power && (uintptr_t)kept % align != 0)
        printf(", which is not aligned");
    printf("\n");
    free(kept);
}

int
main(void)
{
    static const size_t aligns[] = {0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 100, 128, 4096, 4104};

    for (size_t i = 0; i < sizeof aligns / sizeof aligns[0]; i++) {
        void *p = NULL;
        int error = posix_memalign(&p, aligns[i], 100);

        say("posix_memalign", aligns[i], p, error);
        p = aligned_alloc(aligns[i], 192);
        say("aligned_alloc", aligns[i], p, errno);
        p = memalign(aligns[i], 192);
        say("memalign", aligns[i], p, errno);
    }
    return 0;
}
