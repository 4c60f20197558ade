/* cflags: -fno-optimize-sibling-calls */
/* libs: -Wl,-z,separate-code,-z,max-page-size=0x200000 */
/* holes.c: a program whose segments are 2 MiB apart, so that code and unwind tables are in mappings
 * with holes between them. `inner` allocates 10 bytes 7 times, below `middle` and main. These keep
 * values in registers and have no frame pointer, so `inner` cannot be unwound without the
 * tables. */
#include <stdlib.h>

static void *volatile kept;

__attribute__((noinline, noclone)) static int
inner(int n)
{
    volatile char room[40] = {0};

    kept = malloc(10);
    return n + room[n];
}

__attribute__((noinline, noclone)) static int
middle(int n)
{
    volatile char room[72] = {0};

    return inner(n) + room[n];
}

int
main(void)
{
    int sum = 0;

    for (int i = 0; i < 7; i++)
        sum += middle(i);
    return sum != 21;
}
