/* cflags: -fno-builtin */
/* libbump.c: an allocator for tests that allocate in signal handlers, where the C library's may not
 * be called. It moves a pointer through a pool; only the latest block can be reused. Each block has
 * a header. It also represents any allocator that is not the C library's and lacks
 * malloc_usable_size. */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define POOL_BYTES ((size_t)1 << 32)

static _Atomic(unsigned char *) pool;
static _Atomic size_t used;

struct head {
    size_t size_bytes;
    // Bounds in the pool, including header and alignment, in units of 16 bytes.
    uint32_t began, ended;
};
_Static_assert(sizeof(struct head) == 16, "what memalign leaves in front of a block");

static unsigned char *
start(void)
{
    unsigned char *none = NULL;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *p = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    if (!atomic_compare_exchange_strong(&pool, &none, p))
        munmap(p, POOL_BYTES);
    return atomic_load(&pool);
}

/* The functions of this file call this one instead of each other, because calls of each other would
 * lead to the preloaded library. */
static void *
take(size_t align, size_t size_bytes)
{
    unsigned char *base = atomic_load(&pool);
    size_t whole, off, began;
    struct head head;

    if (base == NULL)
        base = start();
    if (base == NULL || size_bytes > POOL_BYTES / 2) {
        errno = ENOMEM;
        return NULL;
    }
    // The header in front of the block needs another unit of alignment.
    align = align < 16 ? 16 : align;
    whole = (size_bytes + 15) / 16 * 16 + align;
    began = atomic_fetch_add(&used, whole);
    if (began + whole > POOL_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    off = (began + 16 + align - 1) / align * align;
    head = (struct head){size_bytes, (uint32_t)(began / 16), (uint32_t)((began + whole) / 16)};
    memcpy(base + off - sizeof head, &head, sizeof head);
    return base + off;
}

void *
malloc(size_t size_bytes)
{
    return take(16, size_bytes);
}

void *
memalign(size_t align, size_t size_bytes)
{
    return take(align, size_bytes);
}

void *
calloc(size_t count, size_t each_bytes)
{
    size_t size_bytes;
    void *p;

    if (__builtin_mul_overflow(count, each_bytes, &size_bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    p = take(16, size_bytes);
    return p != NULL ? memset(p, 0, size_bytes) : NULL;
}

void
free(void *p)
{
    struct head head;
    size_t ended;

    if (p == NULL)
        return;
    memcpy(&head, (unsigned char *)p - sizeof head, sizeof head);
    ended = (size_t)head.ended * 16;
    atomic_compare_exchange_strong(&used, &ended, (size_t)head.began * 16);
}

void *
realloc(void *p, size_t size_bytes)
{
    void *q = take(16, size_bytes);
    size_t old_bytes;

    if (p == NULL || q == NULL)
        return q;
    memcpy(&old_bytes, (unsigned char *)p - sizeof(struct head), sizeof old_bytes);
    memcpy(q, p, old_bytes < size_bytes ? old_bytes : size_bytes);
    return q;
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
