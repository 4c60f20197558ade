/* real_glibc.c: the real allocator in a static executable with glibc.
 *
 * glibc defines malloc and its relatives (except reallocarray) in one object. If a program has
 * another malloc, the recorder must not pull in that object, because the linker would find two
 * definitions. So all functions are weak references, which pull nothing in, except the four that
 * every allocator has. In glibc all others exist if those four come from glibc. */
#include "allocator/real_static.h"

#include <errno.h>

#include "platform/state.h"

#define WEAK __attribute__((weak))

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names
WEAK posix_memalign_fn __real_posix_memalign;
WEAK memalign_fn __real_aligned_alloc, __real_memalign;
WEAK alloc_fn __real_valloc, __real_pvalloc;
WEAK usable_fn __real_malloc_usable_size;
WEAK alloc_fn __libc_malloc, __libc_pvalloc; // In glibc's object.
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

static void *
real_no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

int
linked_posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    return __real_posix_memalign != NULL ? __real_posix_memalign(ret_p, align, size_bytes) : ENOMEM;
}

void *
linked_aligned_alloc(size_t align, size_t size_bytes)
{
    return __real_aligned_alloc != NULL ? __real_aligned_alloc(align, size_bytes)
                                        : real_no_memory();
}

void *
linked_memalign(size_t align, size_t size_bytes)
{
    return __real_memalign != NULL ? __real_memalign(align, size_bytes) : real_no_memory();
}

void *
linked_valloc(size_t size_bytes)
{
    return __real_valloc != NULL ? __real_valloc(size_bytes) : real_no_memory();
}

void *
linked_pvalloc(size_t size_bytes)
{
    return __real_pvalloc != NULL ? __real_pvalloc(size_bytes) : real_no_memory();
}

size_t
linked_usable(void *p)
{
    return __real_malloc_usable_size != NULL ? __real_malloc_usable_size(p) : 0;
}

uint32_t
linked_usable_mode(void)
{
    if (__real_malloc_usable_size == NULL)
        return USABLE_NONE;
    return __libc_pvalloc != NULL && __libc_malloc == __real_malloc ? USABLE_GLIBC : USABLE_CALL;
}
