/* behind.h: the allocator behind us, that is, the next definition of each function in link order.
 */
#ifndef ALLOCATOR_BEHIND_H
#define ALLOCATOR_BEHIND_H

#include <sys/types.h>

#include "base/atomics.h"
#include "base/base.h"

typedef void *alloc_fn(size_t);
typedef void *calloc_fn(size_t, size_t);
typedef void *realloc_fn(void *, size_t);
typedef void *reallocarray_fn(void *, size_t, size_t);
typedef void free_fn(void *);
typedef int posix_memalign_fn(void **, size_t, size_t);
typedef void *memalign_fn(size_t, size_t);
typedef size_t usable_fn(void *);
typedef int dlclose_fn(void *);
typedef pid_t fork_fn(void);
struct link_map;

/* Functions of link order. */
struct next {
    alloc_fn *malloc;
    calloc_fn *calloc;
    realloc_fn *realloc;
    reallocarray_fn *reallocarray;
    free_fn *free;
    posix_memalign_fn *posix_memalign;
    memalign_fn *aligned_alloc;
    memalign_fn *memalign;
    alloc_fn *valloc;
    alloc_fn *pvalloc;
    usable_fn *malloc_usable_size;
    dlclose_fn *dlclose;
    fork_fn *fork, *async_fork; // The latter is _Fork.
    // For those of other signatures: where to jump to.
    void *dlopen, *dlmopen, *dlsym, *dlvsym;
};

/* C++'s operators by their mangled names, whether they take an alignment, and the version that
 * references to them have. */
#define BEHIND_OPERATORS(X)                                                                        \
    X(_Znwm, false, "GLIBCXX_3.4")                                                                 \
    X(_Znam, false, "GLIBCXX_3.4")                                                                 \
    X(_ZnwmRKSt9nothrow_t, false, "GLIBCXX_3.4")                                                   \
    X(_ZnamRKSt9nothrow_t, false, "GLIBCXX_3.4")                                                   \
    X(_ZnwmSt11align_val_t, true, "CXXABI_1.3.11")                                                 \
    X(_ZnamSt11align_val_t, true, "CXXABI_1.3.11")                                                 \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t, true, "CXXABI_1.3.11")                                   \
    X(_ZnamSt11align_val_tRKSt9nothrow_t, true, "CXXABI_1.3.11")                                   \
    X(_ZdlPv, false, "GLIBCXX_3.4")                                                                \
    X(_ZdaPv, false, "GLIBCXX_3.4")                                                                \
    X(_ZdlPvm, false, "CXXABI_1.3.9")                                                              \
    X(_ZdaPvm, false, "CXXABI_1.3.9")                                                              \
    X(_ZdlPvRKSt9nothrow_t, false, "GLIBCXX_3.4")                                                  \
    X(_ZdaPvRKSt9nothrow_t, false, "GLIBCXX_3.4")                                                  \
    X(_ZdlPvSt11align_val_t, true, "CXXABI_1.3.11")                                                \
    X(_ZdaPvSt11align_val_t, true, "CXXABI_1.3.11")                                                \
    X(_ZdlPvmSt11align_val_t, true, "CXXABI_1.3.11")                                               \
    X(_ZdaPvmSt11align_val_t, true, "CXXABI_1.3.11")                                               \
    X(_ZdlPvSt11align_val_tRKSt9nothrow_t, true, "CXXABI_1.3.11")                                  \
    X(_ZdaPvSt11align_val_tRKSt9nothrow_t, true, "CXXABI_1.3.11")

#define BEHIND_OPERATOR_ID(name, aligned, version) BEHIND_##name,
enum behind_operator_id { BEHIND_OPERATORS(BEHIND_OPERATOR_ID) BEHIND_OPERATOR_COUNT };

struct behind_operator {
    void *function; // NULL = nobody has it, or behind_resolve has not run.
    // Not 0: it is the C++ library's own, without alignment, and does nothing but call our malloc
    // or free as long as that succeeds.
    uint8_t plain;
    uint8_t is_allocators; // Not 0: it is of the same object as malloc, and none of libc's.
};

/* Constants of the process once behind_resolve has run. */
extern struct behind_operator behind_operators[BEHIND_OPERATOR_COUNT];

/* Find all of them; does nothing the second time. Signal-safe, and any number of threads may be
 * the first. */
void behind_resolve(void);

/* What was found; NULL for what nobody has. */
const struct next *behind_functions(void);

/* May functions of that allocator call one another by names that lead to us? */
bool behind_calls_back(void);

/* malloc_usable_size, once behind_usable_mode has told that it may be asked. */
size_t behind_usable(const void *p);

/* The I-th of the objects other than libc that the allocator behind us is made of; NULL behind the
 * last. I is less than BEHIND_PARTS. */
enum { BEHIND_PARTS = 12 };
const struct link_map *behind_part(uint32_t i);

/* libc's own object, if it is glibc's; else NULL. Is all of the allocator behind us its own? */
const struct link_map *behind_libc(void);
bool behind_is_libc(void);

/* How may sizes be asked for: an enum usable_mode. */
uint32_t behind_usable_mode(void);

/* Does malloc lead to us, for everybody who calls it by name? */
bool behind_is_ours(void);

/* Is the allocator behind us that of a sanitizer's run-time library? */
bool behind_is_sanitizer(void);

/* The function NAME behind us, if the program was started with a definition of it, else NULL.
 * Signal-safe. */
void *behind_symbol(const char *name);

/* The same, found once and kept in *CACHE. */
static inline void *
behind_cached(void **cache, const char *name)
{
    void *f = load_acquire(cache);

    if (f == NULL) {
        f = behind_symbol(name);
        store_release(cache, f);
    }
    return f;
}

#endif
