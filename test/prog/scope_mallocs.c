/* cflags: -fno-builtin */
/* scope_mallocs.c: 1,000 blocks of 100 bytes, ended, in `mallocs`. */
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
