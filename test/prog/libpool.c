/* libpool.c: an allocator over a private pool, with names other than malloc's for malloc, calloc,
 * realloc, memalign and free; pool_calloc calls pool_alloc. Memory is never reused. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { HEAD_BYTES = 16 };

static _Alignas(64) unsigned char pool[1 << 16];
static size_t used;

void *pool_alloc(size_t size_bytes);
void *pool_calloc(size_t count, size_t each_bytes);
void *pool_realloc(void *p, size_t size_bytes);
void *pool_memalign(size_t align, size_t size_bytes);
void pool_free(void *p);

void *
pool_memalign(size_t align, size_t size_bytes)
{
    size_t at = (used + HEAD_BYTES + align - 1) & ~(align - 1);

    if (size_bytes > sizeof pool - at)
        return NULL;
    used = at + size_bytes;
    memcpy(pool + at - sizeof size_bytes, &size_bytes, sizeof size_bytes);
    return pool + at;
}

__attribute__((noinline)) void *
pool_alloc(size_t size_bytes)
{
    return pool_memalign(16, size_bytes);
}

void *
pool_calloc(size_t count, size_t each_bytes)
{
    return pool_alloc(count * each_bytes);
}

void *
pool_realloc(void *p, size_t size_bytes)
{
    void *q = size_bytes != 0 ? pool_memalign(16, size_bytes) : NULL;
    size_t old_bytes;

    if (p != NULL && q != NULL) {
        memcpy(&old_bytes, (unsigned char *)p - sizeof old_bytes, sizeof old_bytes);
        memcpy(q, p, old_bytes < size_bytes ? old_bytes : size_bytes);
    }
    return q;
}

void
pool_free(void *p)
{
    (void)p;
}
