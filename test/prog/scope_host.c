/* cflags: -fno-builtin */
/* libs: -ldl -Wl,-rpath,$ORIGIN */
/* scope_host.c: a host in C, so that no object in the program's scope has operators. */
#include "scope_host.h"

static void *
host_own(const char *function)
{
    return NULL;
}

NOINLINE static void *
host_makes(void)
{
    return kept(malloc(200));
}
