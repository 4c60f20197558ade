/* tsan.c: counts accesses in programs built by gcc.
 *
 * gcc cannot count accesses, but its race detection, -fsanitize=thread, makes each access call a
 * function. Linked with these functions instead of the race detector's, a program counts its
 * accesses, at the cost of one call per access. gcc inserts the calls early in the compilation, so
 * loops are not vectorised either.
 *
 * Atomic operations become calls that must perform the operation. All of them are sequentially
 * consistent. A read-modify-write counts as a read and as a write.
 *
 * gcc inserts no call for a structure that is passed by value or returned in memory, and none for
 * the instructions that replace __builtin_memcpy and similar functions. So granule_mark.h makes all
 * objects built by gcc call __heaptap_structures_by_value, which suppresses verdicts of "never". */
#include "access/tsan.h"

#include "access/shadow.h"
#include "base/atomics.h"

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

EXPORT void
__tsan_init(void)
{
}

EXPORT void
__tsan_func_entry(void *caller)
{
    (void)caller;
}

EXPORT void
__tsan_func_exit(void)
{
}

#define ACCESS(name, kind)                                                                         \
    EXPORT void name(uintptr_t address)                                                            \
    {                                                                                              \
        shadow_count_one(address, kind);                                                           \
    }
TSAN_ACCESSES(ACCESS)

EXPORT void
__tsan_vptr_update(uintptr_t address, void *value)
{
    (void)value;
    shadow_count_one(address, SHADOW_WRITE);
}

/* Count an access of any size. Count one access up to eight bytes, for example of a member of a
 * packed structure. A larger range is a copied structure or a vector. A call does not distinguish
 * the two, so count each word of the range, as for memcpy. */
static void
count_range(uintptr_t address, size_t size_bytes, enum shadow_access kind)
{
    if (size_bytes <= 8)
        shadow_count_one(address, kind);
    else
        shadow_count((const void *)address, size_bytes, kind);
}

EXPORT void
__tsan_read_range(uintptr_t address, size_t size_bytes)
{
    count_range(address, size_bytes, SHADOW_READ);
}

EXPORT void
__tsan_write_range(uintptr_t address, size_t size_bytes)
{
    count_range(address, size_bytes, SHADOW_WRITE);
}

EXPORT void
__tsan_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

EXPORT void
__tsan_atomic_signal_fence(int order)
{
    (void)order;
    signal_fence();
}

/* Count an operation that reads and writes. The read counts because the program may use the
 * value. */
static void
count_both(const volatile void *p)
{
    shadow_count_one((uintptr_t)p, SHADOW_READ);
    shadow_count_one((uintptr_t)p, SHADOW_WRITE);
}

#define FETCH(bits, type, operation)                                                               \
    EXPORT type __tsan_atomic##bits##_##operation(volatile type *p, type v, int order)             \
    {                                                                                              \
        (void)order;                                                                               \
        count_both(p);                                                                             \
        return __atomic_##operation(p, v, __ATOMIC_SEQ_CST);                                       \
    }

#define EXCHANGE(bits, type, strength)                                                             \
    EXPORT int __tsan_atomic##bits##_compare_exchange_##strength(                                  \
        volatile type *p, type *expected, type v, int order, int failed_order)                     \
    {                                                                                              \
        (void)order, (void)failed_order;                                                           \
        count_both(p);                                                                             \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST,                \
                                           __ATOMIC_SEQ_CST);                                      \
    }

#define ATOMICS(bits, type)                                                                        \
    EXPORT type __tsan_atomic##bits##_load(const volatile type *p, int order)                      \
    {                                                                                              \
        (void)order;                                                                               \
        shadow_count_one((uintptr_t)p, SHADOW_READ);                                               \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    EXPORT void __tsan_atomic##bits##_store(volatile type *p, type v, int order)                   \
    {                                                                                              \
        (void)order;                                                                               \
        shadow_count_one((uintptr_t)p, SHADOW_WRITE);                                              \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                              \
    EXPORT type __tsan_atomic##bits##_exchange(volatile type *p, type v, int order)                \
    {                                                                                              \
        (void)order;                                                                               \
        count_both(p);                                                                             \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                        \
    }                                                                                              \
    FETCH(bits, type, fetch_add)                                                                   \
    FETCH(bits, type, fetch_sub)                                                                   \
    FETCH(bits, type, fetch_and)                                                                   \
    FETCH(bits, type, fetch_or)                                                                    \
    FETCH(bits, type, fetch_xor)                                                                   \
    FETCH(bits, type, fetch_nand)                                                                  \
    EXCHANGE(bits, type, strong)                                                                   \
    EXCHANGE(bits, type, weak)                                                                     \
    EXPORT type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected,        \
                                                           type v, int order, int failed_order)    \
    {                                                                                              \
        (void)order, (void)failed_order;                                                           \
        count_both(p);                                                                             \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);   \
        return expected;                                                                           \
    }
TSAN_ATOMICS(ATOMICS)

// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
