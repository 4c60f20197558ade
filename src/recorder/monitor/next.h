/* next.h: the allocator behind us, that is, the next definition of each function in link order. */
#ifndef MONITOR_NEXT_H
#define MONITOR_NEXT_H

#include <sys/types.h>

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

/* Never NULL. Before next_resolve has run they lead to it; one that nobody has fails. */
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

extern struct next next;

/* C++'s operators by their mangled names, whether they take an alignment, and the version that
 * references to them have. */
#define NEXT_OPERATORS(X)                                                                          \
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

#define NEXT_OPERATOR_ID(name, aligned, version) NEXT_##name,
enum next_operator_id { NEXT_OPERATORS(NEXT_OPERATOR_ID) NEXT_OPERATOR_COUNT };

struct next_operator {
    void *function; // NULL = nobody has it, or next_resolve has not run.
    // Not 0: it is the C++ library's own, without alignment, and does nothing but call our malloc
    // or free as long as that succeeds.
    uint8_t plain;
};

/* Constants of the process once next_resolve has run. */
extern struct next_operator next_operators[NEXT_OPERATOR_COUNT];

/* Find all of them; does nothing the second time. Signal-safe, and any number of threads may be
 * the first. */
void next_resolve(void);

/* The object that has the allocator behind us. */
const struct link_map *next_allocator(void);

/* libc's own object, if it is glibc's; else NULL. Is its allocator the one behind us? */
const struct link_map *next_libc(void);
bool next_is_libc(void);

/* How may sizes be asked for: an enum usable_mode. */
uint32_t next_usable_mode(void);

/* Is the allocator behind us that of a sanitizer's run-time library? */
bool next_is_sanitizer(void);

/* Another function behind us, of which the program was started with a definition; NULL if not.
 * Signal-safe. */
void *next_symbol(const char *name);

#endif
