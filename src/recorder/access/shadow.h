/* shadow.h: the counters of memory; see shadow.c. Thread-safe and async-signal-safe. */
#ifndef ACCESS_SHADOW_H
#define ACCESS_SHADOW_H

#include "base/atomics.h"
#include "base/base.h"
#include "platform/arch_x86_64.h"

/* The mapping from memory to counters, constant after shadow_start. The counter of address A has 8
 * bytes, at ((A & -granule) >> scale) + base. */
struct shadow {
    uint64_t granule_bytes; // A power of two; 0 = there are no counters.
    uint32_t granule_shift, scale;
    uint64_t low, high; // Addresses in [low, high) have counters.
    uint64_t base;      // The value that instrumented code adds to a scaled address.
    bool separate;      // A counter has two halves: reads in the lower, writes in the upper.
    bool atomic;        // The counting functions add atomically if there are several threads.
    bool exact;         // All code adds atomically.
};

enum shadow_access { SHADOW_READ, SHADOW_WRITE };

extern struct shadow shadow __attribute__((visibility("hidden"))); // Hidden, so that code reads it
                                                                   // directly.

/* Offset from a scaled address to its counter. Instrumented code reads it. */
extern uintptr_t __memprof_shadow_memory_dynamic_address; // NOLINT: the compiler's name

/* Defined by glibc: true if no thread was ever started, or if all but one have ended. Weak, because
 * other libcs lack it. */
extern const char __libc_single_threaded __attribute__((weak)); // NOLINT: libc's name

/* Create the counters for granules of GRANULE_BYTES (8, 16 or 64); SEPARATE if reads and writes are
 * counted separately. The first call decides. If there is no room, or if the first call decided
 * otherwise, end the process with a message: the calling code would write to counters that do not
 * exist or have another meaning. */
void shadow_start(uint32_t granule_bytes, bool separate);

/* End the process as shadow_start does, with a message that states the reason WHY. */
_Noreturn void shadow_fails(const char *why);

static inline bool
shadow_has(uintptr_t address, uint64_t size_bytes)
{
    return address >= shadow.low && size_bytes <= shadow.high - address && address < shadow.high;
}

/* Return the address of the counter for the granule at ADDRESS, which must have a counter. */
static inline uint64_t *
shadow_counter(uintptr_t address)
{
    uintptr_t granule = round_down(address, shadow.granule_bytes);

    return (uint64_t *)((granule >> shadow.scale) + shadow.base);
}

/* Return the number of granules that [P, P + SIZE_BYTES) overlaps. */
static inline uint64_t
shadow_granules(uintptr_t p, uint64_t size_bytes)
{
    return size_bytes == 0 ? 0
                           : ((p + size_bytes - 1) >> shadow.granule_shift) -
                                 (p >> shadow.granule_shift) + 1;
}

/* Set the counters of [P, P + SIZE_BYTES) to zero. */
void shadow_clear(uintptr_t p, uint64_t size_bytes);

/* Count an access of KIND to each 8-byte word that overlaps [P, P + SIZE_BYTES). */
void shadow_count(const void *p, uint64_t size_bytes, enum shadow_access kind);

/* Return true if additions must be atomic at present. */
static INLINE bool
shadow_is_atomic(void)
{
    return unlikely(shadow.atomic) &&
           !(&__libc_single_threaded != NULL && load_relaxed(&__libc_single_threaded) != 0);
}

/* --- One access ------------------------------------------------------------------------------- */

/* A half with at least this value is close to overflow. */
#define SHADOW_HALF_NEAR_END UINT32_C(0xfff00000)

static inline uint32_t *
shadow_half(const uint64_t *counter, enum shadow_access kind)
{
    return (uint32_t *)(uintptr_t)counter + (kind == SHADOW_WRITE);
}

/* Add N to HALF atomically, and record a carry when it overflows. Use this when counts must be
 * exact, or when HALF is close to overflow. */
void shadow_add_to_half(uint32_t *half, uint32_t n);

/* Count an access of KIND at ADDRESS. */
static INLINE void
shadow_count_one(uintptr_t address, enum shadow_access kind)
{
    uint64_t *counter;
    uint32_t *half;

    if (unlikely(address - shadow.low >= shadow.high - shadow.low))
        return;
    counter = shadow_counter(address);
    if (!shadow.separate) {
        if (shadow_is_atomic())
            add_relaxed(counter, UINT64_C(1));
        else
            bump(counter);
        return;
    }
    half = shadow_half(counter, kind);
    if (shadow_is_atomic() || unlikely(load_relaxed(half) >= SHADOW_HALF_NEAR_END))
        shadow_add_to_half(half, 1);
    else
        arch_add(half, 1);
}

#endif
