/* cflags: -fno-builtin -fno-optimize-sibling-calls */
/* liblinkage.c: the library, and the plug-in, that linkage.c calls. Static executables contain it
 * unchanged. */
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
