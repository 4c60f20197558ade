/* real_musl.c: the real allocator in a static executable with musl.
 *
 * In musl each function has a separate object, so weak references would pull nothing in. These are
 * strong.
 *
 * malloc_usable_size is musl's unless the program has its own, so it may be called only if malloc
 * is musl's. musl's malloc has no second name, but its code is close to __libc_malloc. */
#include "allocator/real_static.h"

#include <errno.h>

#include "platform/state.h"

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names
posix_memalign_fn __real_posix_memalign;
memalign_fn __real_aligned_alloc, __real_memalign;
alloc_fn __real_valloc;
usable_fn __real_malloc_usable_size;
extern __attribute__((weak)) alloc_fn __libc_malloc;
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

#define BESIDE_BYTES ((uintptr_t)64)

int
linked_posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    return __real_posix_memalign(ret_p, align, size_bytes);
}

void *
linked_aligned_alloc(size_t align, size_t size_bytes)
{
    return __real_aligned_alloc(align, size_bytes);
}

void *
linked_memalign(size_t align, size_t size_bytes)
{
    return __real_memalign(align, size_bytes);
}

void *
linked_valloc(size_t size_bytes)
{
    return __real_valloc(size_bytes);
}

/* Implement pvalloc, which musl lacks: always fail. Only a program that declares pvalloc itself can
 * call it. */
void *
linked_pvalloc(size_t size_bytes)
{
    (void)size_bytes;
    errno = ENOMEM;
    return NULL;
}

size_t
linked_usable(void *p)
{
    return __real_malloc_usable_size(p);
}

uint32_t
linked_usable_mode(void)
{
    uintptr_t away = (uintptr_t)__real_malloc - (uintptr_t)__libc_malloc + BESIDE_BYTES;

    return __libc_malloc != NULL && away <= 2 * BESIDE_BYTES ? USABLE_CALL : USABLE_NONE;
}
