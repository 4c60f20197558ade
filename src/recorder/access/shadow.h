/* shadow.h: the counters of memory; see shadow.c. Any thread may call these at any time. */
#ifndef ACCESS_SHADOW_H
#define ACCESS_SHADOW_H

#include "base/base.h"

/* How memory is mapped to counters, a constant of the process from shadow_start on. Where what
 * belongs to address A begins: ((A & -granule) >> scale) + base. A granule has 8 bytes. */
struct shadow {
    uint64_t granule_bytes; // A power of two; 0 = there are no counters yet.
    uint32_t granule_shift, scale;
    uint64_t low, high; // Addresses in [low, high) have counters.
    bool exact;         // All code adds to counters atomically.
};

extern struct shadow shadow;

/* What instrumented code adds to an address to come to its counter. */
extern uintptr_t __memprof_shadow_memory_dynamic_address; // NOLINT: the compiler's name

/* Have counters for granules of GRANULE_BYTES (8, 16 or 64); the first call decides. Ends the
 * process, with a message, if there is no room for them, or if somebody else has decided
 * otherwise: there is code in it that is about to write to counters which are not there. */
void shadow_start(uint32_t granule_bytes);

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

    return (uint64_t *)((granule >> shadow.scale) + __memprof_shadow_memory_dynamic_address);
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

/* Count an access to each 8-byte word that [P, P + SIZE_BYTES) touches. */
void shadow_count(const void *p, uint64_t size_bytes);

#endif
