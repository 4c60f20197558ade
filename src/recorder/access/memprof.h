/* memprof.h: the functions that code built with -fmemory-profile calls, and the ones that heaptap
 * cc adds. The names are prescribed by the compiler. */
#ifndef ACCESS_MEMPROF_H
#define ACCESS_MEMPROF_H

#include "base/base.h"

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

/* Called by each object file when it is loaded, before its constructors. Objects built by heaptap
 * cc first call a function whose name gives their granule size. */
void __memprof_init(void);
void __memprof_version_mismatch_check_v1(void);

/* X(name, bytes, reads and writes separate, exact with threads). */
#define GRANULES_OF(X, bytes)                                                                      \
    X(bytes, bytes, false, 0)                                                                      \
    X(bytes##_exact, bytes, false, 1)                                                              \
    X(bytes##_apart, bytes, true, 0)                                                               \
    X(bytes##_apart_exact, bytes, true, 1)
#define GRANULES(X)    \
    GRANULES_OF(X, 8)  \
    GRANULES_OF(X, 16) \
    GRANULES_OF(X, 64)

#define GRANULE_PROTOTYPE(name, bytes, separate, exact) void __heaptap_granule_##name(void);
GRANULES(GRANULE_PROTOTYPE)
#undef GRANULE_PROTOTYPE

/* Called by each object file with accesses that the compiler does not instrument: structures passed
 * by value (with gcc also structures returned and __builtin_memcpy), the reads of atomic
 * operations, assembler statements and intrinsics. */
void __heaptap_structures_by_value(void);
void __heaptap_atomic_operations(void);
void __heaptap_assembler(void);

/* Replace the copying and filling that the compiler otherwise generates inline. */
void *__memprof_memcpy(void *to, const void *from, size_t size_bytes);
void *__memprof_memmove(void *to, const void *from, size_t size_bytes);
void *__memprof_memset(void *to, int c, size_t size_bytes);

/* Count an access at ADDRESS; called with -mllvm -memprof-use-callbacks. */
void __memprof_load(uintptr_t address);
void __memprof_store(uintptr_t address);

// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

#endif
