/* cflags: -fno-builtin */
/* libs: -ldl -Wl,-rpath,$ORIGIN */
/* scope_weak.c: a program in C that has weak references. */
#include "scope_weak.h"

#include "scope_host.h"

static void *
host_own(const char *function)
{
    return strcmp(function, "weak") == 0 ? (void *)weak : NULL;
}

static void *
host_makes(void)
{
    return kept(malloc(200));
}
