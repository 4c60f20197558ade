/* cflags: -O0 -g3 */
/* article.c: the three-function example of the article "Roll your own memory profiling".
 *
 * main calls a(2) twice and b(3) once; a allocates as much as its argument and calls b with
 * the same; b allocates as much as its argument. Nothing is freed. Innermost first, the sites
 * are
 *
 *     b <- a <- main    2 blocks  4 bytes
 *     a <- main         2 blocks  4 bytes
 *     b <- main         1 block   3 bytes
 *
 * 5 blocks and 11 bytes in all, which are also live at the end and the peak. */
#include <stdlib.h>

static void *volatile kept;

static void
b(size_t size_bytes)
{
    kept = malloc(size_bytes);
}

static void
a(size_t size_bytes)
{
    kept = malloc(size_bytes);
    b(size_bytes);
}

int
main(void)
{
    for (int i = 0; i < 2; i++)
        a(2);
    b(3);
    return 0;
}
