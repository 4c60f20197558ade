/* cflags: -fno-builtin */
/* libs: -ldl */
/* libscope_libc.c: a plug-in in C that calls libc's allocator directly and so bypasses all
 * libraries before libc. Each case allocates 10 blocks of 30 bytes in libc_blocks and frees all but
 * one.
 *
 *     internal   by libc's other names
 *     next       by dlsym(RTLD_NEXT), which finds the malloc after this library
 *     handle     by dlsym with libc's handle */
#include "scope_libc.h"

SHOWN void
next(void)
{
    libc_blocks(dlsym(RTLD_NEXT, "malloc"), dlsym(RTLD_NEXT, "free"));
}
