/* cflags: -fno-builtin -rdynamic */
/* libs: -ldl -Wl,-rpath,$ORIGIN */
/* scope_libc.c: a program in C that calls libc's allocator directly. */
#include "scope_libc.h"

#include "scope_host.h"

static void *
host_own(const char *function)
{
    return dlsym(RTLD_DEFAULT, function);
}

NOINLINE static void *
host_makes(void)
{
    return kept(__libc_malloc(200));
}
