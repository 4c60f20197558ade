/* cflags: -fno-builtin */
/* libs: -ldl */
/* libscope_libc.c: a plug-in in C that calls libc's own allocator, past whatever is in front of it.
 *
 *     internal   by libc's other names; 10 blocks of 30 bytes, of which 1 stays, in libc_blocks
 *     next       the next malloc behind the library, by dlsym; likewise
 *     handle     malloc of libc's handle, by dlsym; likewise
 */
#include "scope_libc.h"

SHOWN void
next(void)
{
    libc_blocks(dlsym(RTLD_NEXT, "malloc"), dlsym(RTLD_NEXT, "free"));
}
