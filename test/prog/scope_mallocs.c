/* cflags: -fno-builtin */
/* scope_mallocs.c: allocate and free 1,000 blocks of 100 bytes in `mallocs`. */
#include "scope.h"

NOINLINE static void
mallocs(void)
{
    for (int i = 0; i < 1000; i++)
        free(kept(malloc(100)));
    __asm__ volatile("");
}

int
main(void)
{
    mallocs();
    return 0;
}
