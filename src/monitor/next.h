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

/* Never NULL, except reallocarray on a libc without it. Before next_resolve has run they lead to
 * it. */
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
};

extern struct next next;

/* Find all of them; does nothing the second time. */
void next_resolve(void);

/* Is F, the next operator new or delete without alignment, the C++ library's own, which does
 * nothing but call our malloc or free, as long as that succeeds? */
bool next_is_plain_operator(const void *f);

/* Resolved, and how may sizes be asked for: an enum usable_mode. */
uint32_t next_usable_mode(void);

/* Resolved: is the allocator behind us that of a sanitizer's run-time library? */
bool next_is_sanitizer(void);

/* The next definition of NAME as seen from our place in link order or, failing that, from the
 * object that contains CALLER (a C++ library loaded by dlopen has its own libstdc++). NULL if
 * there is none. */
void *next_symbol(const char *name, uint64_t caller);

/* True if P came from the small memory that serves dlsym while it is looking for malloc: never
 * free it. */
bool next_is_boot(const void *p);

/* The size asked for when P, for which next_is_boot holds, was given out. */
size_t next_boot_size(const void *p);

#endif
