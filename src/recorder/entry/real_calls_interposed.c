/* real_calls_interposed.c: defines the functions that the recorder calls, before and after they are
 * resolved. */
#include "entry/entry.h"

#include <errno.h>
#include <string.h>

#include "access/counted_objects.h"
#include "annotator/annotate_real.h"
#include "base/atomics.h"

static alloc_fn first_malloc, first_valloc, first_pvalloc;
static calloc_fn first_calloc;
static realloc_fn first_realloc;
static reallocarray_fn first_reallocarray;
static free_fn first_free;
static posix_memalign_fn first_posix_memalign;
static memalign_fn first_memalign, first_aligned_alloc;
static usable_fn first_usable;
static dlclose_fn first_dlclose;
static fork_fn first_fork, first_async_fork;

// This is a macro, because clang does not accept a constant object as an initializer.
#define NOTHING_YET                                                                                \
    {.malloc = first_malloc,                                                                       \
     .calloc = first_calloc,                                                                       \
     .realloc = first_realloc,                                                                     \
     .reallocarray = first_reallocarray,                                                           \
     .free = first_free,                                                                           \
     .posix_memalign = first_posix_memalign,                                                       \
     .aligned_alloc = first_aligned_alloc,                                                         \
     .memalign = first_memalign,                                                                   \
     .valloc = first_valloc,                                                                       \
     .pvalloc = first_pvalloc,                                                                     \
     .malloc_usable_size = first_usable,                                                           \
     .dlclose = first_dlclose,                                                                     \
     .fork = first_fork,                                                                           \
     .async_fork = first_async_fork}

static const struct real_allocator nothing_yet = NOTHING_YET;
struct real_allocator real = NOTHING_YET;
static uint32_t resolved; // Atomic.

/* Return a copy of *FOUND. Replace functions that do not exist by the members of `nothing_yet`. */
static struct real_allocator
completed(const struct real_allocator *found)
{
    struct real_allocator n = *found;

    static_assert(sizeof n % sizeof(void *) == 0, "members are pointers");
    for (size_t i = 0; i < sizeof n / sizeof(void *); i++) {
        void *member;

        memcpy(&member, (const char *)&n + i * sizeof member, sizeof member);
        if (member == NULL)
            memcpy((char *)&n + i * sizeof member,
                   (const char *)&nothing_yet + i * sizeof member, sizeof member);
    }
    return n;
}

COLD void
real_calls_resolve(void)
{
    struct real_allocator n;

    if (load_acquire(&resolved))
        return;
    n = completed(real_functions());
    if (real_calls_back())
        guarded_next_in_front(&n);
    annotate_real_in_front(&n);
    if (load_acquire(&resolved))
        return;
    padded_in_front(&n);
    real = n;
    store_release(&resolved, 1u);
}

void
real_calls_end(void)
{
    check_end();
}

/* Define a function that resolves the next function and calls it, or fails if there is none. */
#define FIRST(type, name, member, parameters, arguments, failed)                                   \
    static type first_##name parameters                                                            \
    {                                                                                              \
        real_calls_resolve();                                                                      \
        if (real.member != first_##name)                                                           \
            return real.member arguments;                                                          \
        errno = ENOSYS;                                                                            \
        return failed;                                                                             \
    }

FIRST(void *, malloc, malloc, (size_t n), (n), NULL)
FIRST(void *, valloc, valloc, (size_t n), (n), NULL)
FIRST(void *, pvalloc, pvalloc, (size_t n), (n), NULL)
FIRST(void *, calloc, calloc, (size_t n, size_t each), (n, each), NULL)
FIRST(void *, realloc, realloc, (void *p, size_t n), (p, n), NULL)
FIRST(void *, reallocarray, reallocarray, (void *p, size_t n, size_t each), (p, n, each), NULL)
FIRST(int, posix_memalign, posix_memalign, (void **ret_p, size_t align, size_t n),
      (ret_p, align, n), ENOSYS)
FIRST(void *, memalign, memalign, (size_t align, size_t n), (align, n), NULL)
FIRST(void *, aligned_alloc, aligned_alloc, (size_t align, size_t n), (align, n), NULL)
FIRST(size_t, usable, malloc_usable_size, (void *p), (p), 0)
FIRST(int, dlclose, dlclose, (void *handle), (handle), -1)
FIRST(pid_t, fork, fork, (void), (), -1)
FIRST(pid_t, async_fork, async_fork, (void), (), -1)

static void
first_free(void *p)
{
    real_calls_resolve();
    if (real.free != first_free)
        real.free(p);
}
