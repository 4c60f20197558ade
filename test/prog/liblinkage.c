/* cflags: -fno-builtin -fno-optimize-sibling-calls */
/* liblinkage.c: the other side of linkage.c: a library, and a plug-in. Also linked into static
 * executables, unchanged. */
#include <stdlib.h>

void *library_alloc(size_t size_bytes);
void library_free(void *p);

void *
library_alloc(size_t size_bytes)
{
    return malloc(size_bytes);
}

void
library_free(void *p)
{
    free(p);
}
