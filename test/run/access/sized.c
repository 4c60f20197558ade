/* sized.c: an allocator that alone knows the size of its blocks, which come from a pool that only
 * grows. It must not be called with foreign or freed blocks: such a call ends the process. So does
 * any query of a size once `asking_is_over` is set. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { POOL_BYTES = 64 << 20, HEAD_BYTES = 16 };

static unsigned char pool[POOL_BYTES] __attribute__((aligned(4096)));
static size_t used;
int asking_is_over;

/* The functions of this file call this one instead of each other, because calls of each other would
 * lead to another allocator. */
static void *
take(size_t align, size_t size_bytes)
{
    size_t began, off;

    align = align < 16 ? 16 : align;
    size_bytes = (size_bytes + 15) / 16 * 16;
    if (size_bytes > POOL_BYTES || align > POOL_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    began = __atomic_fetch_add(&used, size_bytes + align + HEAD_BYTES, __ATOMIC_RELAXED);
    off = (began + HEAD_BYTES + align - 1) / align * align;
    if (off + size_bytes > POOL_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(pool + off - sizeof size_bytes, &size_bytes, sizeof size_bytes);
    return pool + off;
}

static size_t
size_of(const void *p)
{
    size_t size_bytes;

    memcpy(&size_bytes, (const unsigned char *)p - sizeof size_bytes, sizeof size_bytes);
    return size_bytes;
}

size_t
malloc_usable_size(void *p)
{
    bool is_own = (uintptr_t)p - (uintptr_t)pool < sizeof pool;

    if (asking_is_over || (p != NULL && !is_own))
        abort();
    return p != NULL ? size_of(p) : 0;
}

void *
malloc(size_t size_bytes)
{
    return take(16, size_bytes);
}

void *
calloc(size_t count, size_t each_bytes)
{
    size_t size_bytes;

    if (__builtin_mul_overflow(count, each_bytes, &size_bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return take(16, size_bytes); // No memory is reused.
}

void
free(void *p)
{
    (void)p;
}

void *
realloc(void *p, size_t size_bytes)
{
    void *q = take(16, size_bytes);

    if (p != NULL && q != NULL)
        memcpy(q, p, size_of(p) < size_bytes ? size_of(p) : size_bytes);
    return q;
}

void *
memalign(size_t align, size_t size_bytes)
{
    return take(align, size_bytes);
}

void *
aligned_alloc(size_t align, size_t size_bytes)
{
    return take(align, size_bytes);
}

int
posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    void *p = take(align, size_bytes);

    if (p == NULL)
        return ENOMEM;
    *ret_p = p;
    return 0;
}
