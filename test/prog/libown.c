/* libown.c: an allocator over one static array, with names other than malloc's. Blocks are 8 bytes
 * apart and have no header, so a read in front of a block hits another block. It also has a wrapper
 * around malloc. */
/* cflags: -fno-builtin -fno-optimize-sibling-calls */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 16 << 20 };

static unsigned char room[ROOM] __attribute__((aligned(4096)));
static size_t used;

void *
own_aligned(size_t align, size_t size)
{
    size_t start = (used + align - 1) & ~(align - 1);

    if (size > ROOM - start)
        return NULL;
    used = start + (size ? size : 1);
    return room + start;
}

void *
own_malloc(size_t size)
{
    return own_aligned(8, size);
}

void *
own_calloc(size_t count, size_t size)
{
    return own_aligned(8, count * size); // The array is zero, and no block is reused.
}

void *
own_realloc(void *p, size_t size)
{
    unsigned char *q = own_aligned(8, size);
    size_t most = p ? (size_t)(room + ROOM - (unsigned char *)p) : 0;

    if (q != NULL && p != NULL)
        memmove(q, p, size < most ? size : most);
    return q;
}

int
own_posix(void **ret, size_t align, size_t size)
{
    *ret = own_aligned(align, size);
    return *ret ? 0 : 12;
}

char *
own_strdup(const char *text)
{
    char *p = own_aligned(1, strlen(text) + 1);

    return p ? strcpy(p, text) : NULL;
}

void
own_free(void *p)
{
    (void)p;
}

void *
own_wrap(size_t size)
{
    return malloc(size);
}

void
own_unwrap(void *p)
{
    free(p);
}
