/* shadow.h: the counters of memory; see shadow.c. Any thread may call these at any time. */
#ifndef ACCESS_SHADOW_H
#define ACCESS_SHADOW_H

#include "base/atomics.h"
#include "base/base.h"
#include "platform/arch_x86_64.h"

/* How memory is mapped to counters, a constant of the process from shadow_start on. Where what
 * belongs to address A begins: ((A & -granule) >> scale) + base. A granule has 8 bytes. */
struct shadow {
    uint64_t granule_bytes; // A power of two; 0 = there are no counters yet.
    uint32_t granule_shift, scale;
    uint64_t low, high; // Addresses in [low, high) have counters.
    uint64_t base;      // As instrumented code has it.
    bool apart;         // A counter is two halves: reads, and above them writes.
    bool atomic;        // What is called to count adds atomically, if there are threads.
    bool exact;         // All code does.
};

enum shadow_access { SHADOW_READ, SHADOW_WRITE };

extern struct shadow shadow __attribute__((visibility("hidden"))); // Found without a table.

/* What instrumented code adds to an address to come to its counter. */
extern uintptr_t __memprof_shadow_memory_dynamic_address; // NOLINT: the compiler's name

/* glibc's: no thread was ever started, or all but one are gone. Weak, since others have none. */
extern const char __libc_single_threaded __attribute__((weak)); // NOLINT: libc's name

/* Have counters for granules of GRANULE_BYTES (8, 16 or 64), for reads and writes APART or not; the
 * first call decides. Ends the process, with a message, if there is no room for them, or if
 * somebody else has decided otherwise: there is code in it that is about to write to counters which
 * are not there, or which mean something else. */
void shadow_start(uint32_t granule_bytes, bool apart);

/* End the process, as shadow_start does, because WHY. */
_Noreturn void shadow_fails(const char *why);

static inline bool
shadow_has(uintptr_t address, uint64_t size_bytes)
{
    return address >= shadow.low && size_bytes <= shadow.high - address && address < shadow.high;
}

/* The counter of the granule at ADDRESS, which must have one. */
static inline uint64_t *
shadow_counter(uintptr_t address)
{
    uintptr_t granule = round_down(address, shadow.granule_bytes);

    return (uint64_t *)((granule >> shadow.scale) + shadow.base);
}

/* How many granules [P, P + SIZE_BYTES) has, in part at least. */
static inline uint64_t
shadow_granules(uintptr_t p, uint64_t size_bytes)
{
    return size_bytes == 0 ? 0
                           : ((p + size_bytes - 1) >> shadow.granule_shift) -
                                 (p >> shadow.granule_shift) + 1;
}

/* Set the counters of [P, P + SIZE_BYTES) to zero. */
void shadow_clear(uintptr_t p, uint64_t size_bytes);

/* Count an access of KIND to each 8-byte word that [P, P + SIZE_BYTES) touches. */
void shadow_count(const void *p, uint64_t size_bytes, enum shadow_access kind);

/* Whether to add atomically just now. */
static INLINE bool
shadow_is_atomic(void)
{
    return unlikely(shadow.atomic) &&
           !(&__libc_single_threaded != NULL && load_relaxed(&__libc_single_threaded) != 0);
}

/* --- One access ------------------------------------------------------------------------------- */

/* From so many on a half is close to its end. */
#define SHADOW_HALF_NEAR_END UINT32_C(0xfff00000)

static inline uint32_t *
shadow_half(const uint64_t *counter, enum shadow_access kind)
{
    return (uint32_t *)(uintptr_t)counter + (kind == SHADOW_WRITE);
}

/* Add N to HALF, which is to be exact or close to its end. */
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
    if (!shadow.apart) {
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
