/* tsan.h: the functions that code built by gcc with -fsanitize=thread calls. Names and types are
 * prescribed by the compiler. */
#ifndef ACCESS_TSAN_H
#define ACCESS_TSAN_H

#include "base/base.h"

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);

/* X(name, kind): functions that get the address of one access. */
#define TSAN_ACCESSES(X)                                                                           \
    X(__tsan_read1, SHADOW_READ)                                                                   \
    X(__tsan_read2, SHADOW_READ)                                                                   \
    X(__tsan_read4, SHADOW_READ)                                                                   \
    X(__tsan_read8, SHADOW_READ)                                                                   \
    X(__tsan_read16, SHADOW_READ)                                                                  \
    X(__tsan_write1, SHADOW_WRITE)                                                                 \
    X(__tsan_write2, SHADOW_WRITE)                                                                 \
    X(__tsan_write4, SHADOW_WRITE)                                                                 \
    X(__tsan_write8, SHADOW_WRITE)                                                                 \
    X(__tsan_write16, SHADOW_WRITE)                                                                \
    X(__tsan_volatile_read1, SHADOW_READ)                                                          \
    X(__tsan_volatile_read2, SHADOW_READ)                                                          \
    X(__tsan_volatile_read4, SHADOW_READ)                                                          \
    X(__tsan_volatile_read8, SHADOW_READ)                                                          \
    X(__tsan_volatile_read16, SHADOW_READ)                                                         \
    X(__tsan_volatile_write1, SHADOW_WRITE)                                                        \
    X(__tsan_volatile_write2, SHADOW_WRITE)                                                        \
    X(__tsan_volatile_write4, SHADOW_WRITE)                                                        \
    X(__tsan_volatile_write8, SHADOW_WRITE)                                                        \
    X(__tsan_volatile_write16, SHADOW_WRITE)                                                       \
    X(__tsan_vptr_read, SHADOW_READ)

#define TSAN_PROTOTYPE(name, kind) void name(uintptr_t address);
TSAN_ACCESSES(TSAN_PROTOTYPE)
#undef TSAN_PROTOTYPE

void __tsan_vptr_update(uintptr_t address, void *value);
void __tsan_read_range(uintptr_t address, size_t size_bytes);
void __tsan_write_range(uintptr_t address, size_t size_bytes);
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

/* X(bits, type): the sizes of atomic words. */
#define TSAN_ATOMICS(X) X(8, uint8_t) X(16, uint16_t) X(32, uint32_t) X(64, uint64_t)

#define TSAN_PROTOTYPES(bits, type)                                                                \
    type __tsan_atomic##bits##_load(const volatile type *p, int order);                            \
    void __tsan_atomic##bits##_store(volatile type *p, type v, int order);                         \
    type __tsan_atomic##bits##_exchange(volatile type *p, type v, int order);                      \
    type __tsan_atomic##bits##_fetch_add(volatile type *p, type v, int order);                     \
    type __tsan_atomic##bits##_fetch_sub(volatile type *p, type v, int order);                     \
    type __tsan_atomic##bits##_fetch_and(volatile type *p, type v, int order);                     \
    type __tsan_atomic##bits##_fetch_or(volatile type *p, type v, int order);                      \
    type __tsan_atomic##bits##_fetch_xor(volatile type *p, type v, int order);                     \
    type __tsan_atomic##bits##_fetch_nand(volatile type *p, type v, int order);                    \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *p, type *expected, type v,    \
                                                      int order, int failed_order);                \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *p, type *expected, type v,      \
                                                    int order, int failed_order);                  \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type v,       \
                                                    int order, int failed_order);
TSAN_ATOMICS(TSAN_PROTOTYPES)
#undef TSAN_PROTOTYPES

// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

#endif
