/* base.h: macros and types that every other file uses. Freestanding; recorder and tools include
 * it. */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x)    __builtin_expect(!!(x), 1)
#define unlikely(x)  __builtin_expect(!!(x), 0)
#define countof(a)   (sizeof(a) / sizeof((a)[0]))
#define HOT          __attribute__((hot))
#define COLD         __attribute__((cold, noinline))
#define NOINLINE     __attribute__((noinline))
#define INLINE       inline __attribute__((always_inline))
/* Keep P in a register, because the compiler must not compute P again from its operands. */
#define KEEP(p)      __asm__("" : "+r"(p))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))
#define EXPORT       __attribute__((visibility("default")))
#define UNUSED       __attribute__((unused))

/* Marks functions that read words of a live stack as raw memory. test/harness excludes them from
 * AddressSanitizer. */
#ifdef BASE_STACK_UNCHECKED
#define READS_STACK  __attribute__((no_sanitize_address))
#else
#define READS_STACK
#endif

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

/* Return X rounded up to a multiple of ALIGN, a power of two. */
static inline uint64_t
round_up(uint64_t x, uint64_t align)
{
    return (x + align - 1) & ~(align - 1);
}

/* Return X rounded down to a multiple of ALIGN, a power of two. */
static inline uint64_t
round_down(uint64_t x, uint64_t align)
{
    return x & ~(align - 1);
}

#endif
