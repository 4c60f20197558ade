/* cflags: -fno-builtin */
/* libscope_asks.c: an allocator on top of libc's, with a mark and the size in the 16 bytes in front
 * of each block. It ends the program when it gets a foreign block, even if only for its size. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>

#include "scope.h"

enum { HEAD_BYTES = 16 };

struct head {
    size_t size;
    uint32_t front; // Offset of this block in libc's block.
    uint32_t mark;
};
_Static_assert(sizeof(struct head) == HEAD_BYTES, "blocks are aligned as libc's are");

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static uint32_t
mark_of(const void *p)
{
    return (uint32_t)((uintptr_t)p >> 4) ^ 0xb10cb10c;
}

static struct head
head_of(const void *p)
{
    struct head head;

    memcpy(&head, (const char *)p - HEAD_BYTES, sizeof head);
    if (head.mark != mark_of(p)) {
        say("this block is not mine\n");
        abort();
    }
    return head;
}

/* Return the block of SIZE bytes at BASE + FRONT. BASE is libc's block; if it is NULL, return
 * NULL. */
static void *
block_in(char *base, size_t front, size_t size)
{
    struct head head = {size, (uint32_t)front, 0};
    char *p = base + front;

    if (base == NULL)
        return NULL;
    head.mark = mark_of(p);
    memcpy(p - sizeof head, &head, sizeof head);
    return p;
}

static int
is_too_much(size_t size, size_t front)
{
    if (size <= PTRDIFF_MAX - front)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *
memalign(size_t align, size_t size)
{
    size_t front = align < HEAD_BYTES ? HEAD_BYTES : align;

    return is_too_much(size, front) ? NULL
                                    : block_in(__libc_memalign(front, size + front), front, size);
}

void *
aligned_alloc(size_t align, size_t size)
{
    return memalign(align, size);
}

int
posix_memalign(void **ret_p, size_t align, size_t size)
{
    void *p = memalign(align, size);

    if (p == NULL)
        return ENOMEM;
    *ret_p = p;
    return 0;
}

void *
malloc(size_t size)
{
    return is_too_much(size, HEAD_BYTES)
               ? NULL
               : block_in(__libc_malloc(size + HEAD_BYTES), HEAD_BYTES, size);
}

void *
calloc(size_t count, size_t each)
{
    size_t size;

    if (__builtin_mul_overflow(count, each, &size))
        size = SIZE_MAX;
    return is_too_much(size, HEAD_BYTES)
               ? NULL
               : block_in(__libc_calloc(1, size + HEAD_BYTES), HEAD_BYTES, size);
}

void
free(void *p)
{
    if (p != NULL)
        __libc_free((char *)p - head_of(p).front);
}

void *
realloc(void *p, size_t size)
{
    struct head old;
    void *q;

    if (p == NULL)
        return malloc(size);
    old = head_of(p);
    if (is_too_much(size, HEAD_BYTES))
        return NULL;
    if (old.front == HEAD_BYTES)
        return block_in(__libc_realloc((char *)p - HEAD_BYTES, size + HEAD_BYTES), HEAD_BYTES,
                        size);
    q = malloc(size);
    if (q == NULL)
        return NULL;
    memcpy(q, p, old.size < size ? old.size : size);
    free(p);
    return q;
}

size_t
malloc_usable_size(void *p)
{
    return p != NULL ? head_of(p).size : 0;
}
