/* cflags: -fno-builtin */
/* libreplaced.c: a private malloc, calloc, realloc and free, without the other allocation
 * functions. It moves a pointer through a pool and stores the size in front of each block. Memory
 * is never reused. */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 16 };

static _Alignas(16) unsigned char pool[1 << 24];
static _Atomic size_t used;

void *
malloc(size_t size_bytes)
{
    size_t whole = ((size_bytes + 15) & ~(size_t)15) + HEAD_BYTES;
    size_t at = atomic_fetch_add(&used, whole);

    if (size_bytes > sizeof pool || at + whole > sizeof pool) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(pool + at, &size_bytes, sizeof size_bytes);
    return pool + at + HEAD_BYTES;
}

void *
calloc(size_t count, size_t each_bytes)
{
    return each_bytes != 0 && count > sizeof pool / each_bytes ? NULL : malloc(count * each_bytes);
}

void *
realloc(void *p, size_t size_bytes)
{
    void *q = malloc(size_bytes);
    size_t old_bytes;

    if (p != NULL && q != NULL) {
        memcpy(&old_bytes, (unsigned char *)p - HEAD_BYTES, sizeof old_bytes);
        memcpy(q, p, old_bytes < size_bytes ? old_bytes : size_bytes);
    }
    return q;
}

void
free(void *p)
{
    (void)p;
}
