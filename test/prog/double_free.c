/* double_free.c: free one block twice, and print "survived" if that has no consequence.
 *
 *     double_free ALIGNMENT SIZE [NEW]
 *
 * With NEW it reallocates the freed block to NEW bytes instead. It prints whether byte 20 is kept.
 *
 * The block comes from posix_memalign or, with ALIGNMENT 0, from malloc at a multiple of 64. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char *
survives(const char *p)
{
    return p == NULL ? "nothing" : p[20] == 1 ? "the byte" : "another byte";
}

int
main(int argc, char **argv)
{
    size_t alignment = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    size_t size_bytes = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;
    void *volatile p = NULL;
    void *aligned = NULL;

    if (alignment != 0 && posix_memalign(&aligned, alignment, size_bytes) != 0)
        return 2;
    p = aligned;
    while (alignment == 0 && (p == NULL || (uintptr_t)p % 64 != 0))
        p = malloc(size_bytes);
    if (argc > 3)
        ((char *)p)[20] = 1;
    free(p);
    if (argc > 3)
        puts(survives(realloc(p, strtoul(argv[3], NULL, 10))));
    else
        free(p);
    puts("survived");
    return 0;
}
