/* cflags: -fno-optimize-sibling-calls */
/* libplugin_one.c: loaded and unloaded by dlclose.c; allocates 10 bytes, two frames deep. */
#include <stdlib.h>

void *plugin(void);

__attribute__((noinline)) static void *
one_inner(void)
{
    void *volatile p = malloc(10);

    return p;
}

void *
plugin(void)
{
    void *volatile p = one_inner();

    return p;
}
