/* operators.c: the C++ operators, for libcounter_operators.so. It is used with real allocators some
 * of whose operators do not call malloc (jemalloc, tcmalloc, mimalloc).
 *
 * If an operator calls malloc or free, counter.c has counted these calls, as the thread's counts
 * show. This library replaces libstdc++'s operators, and only the executable's take precedence, so
 * use it only for programs without other replacements. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "counter.h"

/* One type for all forms, whose arguments are at most three words in registers. */
typedef void *new_fn(size_t, uintptr_t, uintptr_t);
typedef void delete_fn(void *, uintptr_t, uintptr_t);

#define NEW(name)                                                                                  \
    new_fn name;                                                                                   \
    void *name(size_t n, uintptr_t b, uintptr_t c)                                                 \
    {                                                                                              \
        new_fn *f = (new_fn *)dlsym(RTLD_NEXT, #name);                                             \
        uint64_t before = counter_seen.allocations;                                                \
        void *p = f(n, b, c);                                                                      \
                                                                                                   \
        if (counter_seen.allocations == before)                                                    \
            counter_allocated(p);                                                                  \
        return p;                                                                                  \
    }

#define DELETE(name)                                                                               \
    delete_fn name;                                                                                \
    void name(void *p, uintptr_t b, uintptr_t c)                                                   \
    {                                                                                              \
        delete_fn *f = (delete_fn *)dlsym(RTLD_NEXT, #name);                                       \
        uint64_t before = counter_seen.frees;                                                      \
                                                                                                   \
        f(p, b, c);                                                                                \
        if (p != NULL && counter_seen.frees == before)                                             \
            counter_freed();                                                                       \
    }

NEW(_Znwm)
NEW(_Znam)
NEW(_ZnwmRKSt9nothrow_t)
NEW(_ZnamRKSt9nothrow_t)
NEW(_ZnwmSt11align_val_t)
NEW(_ZnamSt11align_val_t)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm)
DELETE(_ZdaPvm)
DELETE(_ZdlPvRKSt9nothrow_t)
DELETE(_ZdaPvRKSt9nothrow_t)
DELETE(_ZdlPvSt11align_val_t)
DELETE(_ZdaPvSt11align_val_t)
DELETE(_ZdlPvmSt11align_val_t)
DELETE(_ZdaPvmSt11align_val_t)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t)
