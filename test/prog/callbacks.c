/* cflags: -fno-builtin */
/* callbacks.c: allocations below functions of the C library that call back.
 *
 * qsort sorts 64 elements in reverse order; each comparison allocates and frees 8 bytes. bsearch
 * searches for 16 keys; each comparison allocates and frees 24 bytes. The program prints the
 * numbers of comparisons as "qsort N bsearch M". So `compare` has exactly N allocations, on stacks
 * compare <- ... qsort ... <- main, and `compare_key` has exactly M. qsort itself may allocate, in
 * another function. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int sorted, searched;

__attribute__((noinline)) static int
compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    free(malloc(8));
    sorted++;
    return (x > y) - (x < y);
}

__attribute__((noinline)) static int
compare_key(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    free(malloc(24));
    searched++;
    return (x > y) - (x < y);
}

int
main(void)
{
    int v[64], found = 0;
    char text[64];
    int length;

    for (int i = 0; i < 64; i++)
        v[i] = 64 - i;
    qsort(v, 64, sizeof *v, compare);
    for (int key = 1; key <= 16; key++)
        found += bsearch(&key, v, 64, sizeof *v, compare_key) != NULL;
    length = snprintf(text, sizeof text, "qsort %d bsearch %d\n", sorted, searched);
    return write(1, text, (size_t)length) != length || found != 16;
}
