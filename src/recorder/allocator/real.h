/* real.h: the real allocator: for each function, the next definition in link order. */
#ifndef ALLOCATOR_REAL_H
#define ALLOCATOR_REAL_H

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

/* The real allocator: for each function, the next definition in link order. */
struct real_allocator {
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
    fork_fn *fork, *async_fork; // async_fork is _Fork.
    // Addresses of functions that the recorder jumps to without calling them.
    void *dlopen, *dlmopen, *dlsym, *dlvsym;
};

/* C++'s operators: the mangled name, true if the operator has an alignment parameter, and the
 * symbol version in references to it. */
#define REAL_OPERATORS(X)                                                                          \
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

#define REAL_OPERATOR_ID(name, aligned, version) REAL_##name,
enum real_cxx_operator_id { REAL_OPERATORS(REAL_OPERATOR_ID) REAL_OPERATOR_COUNT };

struct real_cxx_operator {
    void *function; // NULL = it does not exist, or real_resolve has not run.
    // Not 0: the operator belongs to the C++ library and has no alignment parameter. Unless malloc
    // fails, it does nothing but call the recorder's malloc or free.
    uint8_t plain;
    uint8_t is_allocators; // Not 0: the object that defines malloc, other than libc, also defines
                           // this operator.
};

/* The operators, by id. Constant after real_resolve. */
extern struct real_cxx_operator real_cxx_operators[REAL_OPERATOR_COUNT];

/* Resolve all functions of the real allocator. Has no effect when called again. Async-signal-safe
 * and thread-safe. */
void real_resolve(void);

/* Return the resolved functions; a function that does not exist is NULL. */
const struct real_allocator *real_functions(void);

/* Return true if functions of the real allocator may call one another by names that lead to the
 * recorder. */
bool real_calls_back(void);

/* Call the real malloc_usable_size. Requires that real_usable_mode permits it. */
size_t real_usable(const void *p);

/* Return object number I of those that define functions of the real allocator, without libc; NULL
 * after the last. I must be less than REAL_PARTS. */
enum { REAL_PARTS = 12 };
const struct link_map *real_part(uint32_t i);

/* real_libc: return libc's object if it is glibc's, else NULL. real_is_libc: return true if libc
 * defines all functions of the real allocator. */
const struct link_map *real_libc(void);
bool real_is_libc(void);

/* Methods of finding the requested size of a block when the program frees it. */
enum usable_mode {
    USABLE_NONE,  // The ledger's side table stores the size of each block.
    USABLE_CALL,  // malloc_usable_size.
    USABLE_GLIBC, // glibc's chunk has its size in the word before the block.
};

/* Return the method for sizes of blocks, an enum usable_mode. */
uint32_t real_usable_mode(void);

/* Return true if a call of malloc by name reaches the recorder from every object. */
bool real_is_ours(void);

/* Return true if the real allocator belongs to a sanitizer's run-time library. */
bool real_is_sanitizer(void);

/* Return the next definition of the function NAME; NULL if the program started without one.
 * Async-signal-safe. */
void *real_symbol(const char *name);

/* Like real_symbol, with the result cached in *CACHE. */
static inline void *
real_cached(void **cache, const char *name)
{
    void *f = load_acquire(cache);

    if (f == NULL) {
        f = real_symbol(name);
        store_release(cache, f);
    }
    return f;
}

#endif
