/* real_calls_static.c: defines the functions that the recorder calls in a static executable. The
 * linker resolves them (real_static.c). */
#include "entry/entry.h"

#include <errno.h>

#include "access/counted_objects.h"
#include "allocator/real_static.h"

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names
fork_fn __real_fork, __real__Fork;
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

/* Fail: the recorder does not support objects that a static program loads (object_static.c). */
static int
linked_dlclose(void *handle)
{
    (void)handle;
    errno = ENOSYS;
    return -1;
}

struct real_allocator real = {
    .malloc = __real_malloc,
    .calloc = __real_calloc,
    .realloc = __real_realloc,
    .reallocarray = __real_reallocarray,
    .free = __real_free,
    .posix_memalign = linked_posix_memalign,
    .aligned_alloc = linked_aligned_alloc,
    .memalign = linked_memalign,
    .valloc = linked_valloc,
    .pvalloc = linked_pvalloc,
    .malloc_usable_size = linked_usable,
    .dlclose = linked_dlclose,
    .fork = __real_fork,
    .async_fork = __real__Fork,
};

void
real_calls_resolve(void)
{
    static bool resolved;

    real_resolve();
    if (real.calloc == __real_calloc && real_calls_back())
        guarded_next_in_front(&real);
    if (!resolved)
        padded_in_front(&real);
    resolved = true;
}

void
real_calls_end(void)
{
    // There are no annotated blocks.
}
