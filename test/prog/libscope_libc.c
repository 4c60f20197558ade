/* cflags: -fno-builtin */
/* libs: -ldl */
/* libscope_libc.c: a plug-in in C that calls libc's allocator directly, bypassing any library in
 * front of it.
 *
 *     internal   by libc's other names; 10 blocks of 30 bytes, one stays, in libc_blocks
 *     next       the next malloc behind the library, by dlsym; likewise
 *     handle     malloc of libc's handle, by dlsym; likewise */
#include "scope_libc.h"

SHOWN void
next(void)
{
    libc_blocks(dlsym(RTLD_NEXT, "malloc"), dlsym(RTLD_NEXT, "free"));
}
