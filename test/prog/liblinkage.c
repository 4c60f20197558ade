/* cflags: -fno-builtin */
/* liblinkage.c: the other side of linkage.c: a library, a plug-in, and an allocator that is not
 * called malloc. Linked into static executables as it is.
 */
#include <stddef.h>
#include <stdlib.h>

static _Alignas(16) unsigned char pool[1 << 16];
static size_t used;

void *library_alloc(size_t size_bytes);
void library_free(void *p);
void *pool_alloc(size_t size_bytes);
void pool_free(void *p);

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

void *
pool_alloc(size_t size_bytes)
{
    void *p = pool + used;

    used += (size_bytes + 15) & ~(size_t)15;
    return used <= sizeof pool ? p : NULL;
}

void
pool_free(void *p)
{
    (void)p; // The pool ends with the program.
}
