/* heap_claims.h: records which instances have objects in one piece of the shadow.
 *
 * A piece has a few claims, and an object's word contains the number of one of them. A claim
 * combines the number of an instance and its count of resets, so resetting an instance makes all
 * its claims stale at once. Words of a stale claim are free slots. Before the number of a stale
 * claim is given to another instance, the claim is marked HEAP_CLAIM_BUSY and its words are wiped.
 *
 * All functions are thread-safe and async-signal-safe. */
#ifndef HEAPS_HEAP_CLAIMS_H
#define HEAPS_HEAP_CLAIMS_H

#include "base/atomics.h"
#include "base/base.h"
#include "heaps/heap_instance.h"

enum { HEAP_CLAIMS = 6 };

/* Values of a claim without an instance. BUSY: a thread is about to wipe the words of the claim.
 * SEVERAL: several instances share the piece. */
#define HEAP_CLAIM_BUSY UINT64_C(1)
#define HEAP_CLAIM_SEVERAL UINT64_C(2)

#define HEAP_CLAIM_TURN_MASK ((UINT64_C(1) << HEAP_CLAIM_TURN_BITS) - 1)

/* Return true if CLAIM belongs to an instance that was not reset since the claim was made. */
static inline bool
heap_claim_is_current(uint64_t claim)
{
    const struct heap_instance *h;

    if (claim <= HEAP_CLAIM_TURN_MASK)
        return false;
    h = heap_instance_peek((uint32_t)(claim >> HEAP_CLAIM_TURN_BITS));
    return h != NULL && load_acquire(&h->objects.claim) == claim;
}

/* Return the number of CLAIM in CLAIMS, or HEAP_CLAIMS if it is missing. */
static inline uint32_t
heap_claims_find(const uint64_t claims[HEAP_CLAIMS], uint64_t claim)
{
    for (uint32_t i = 0; i < HEAP_CLAIMS; i++)
        if (load_acquire(&claims[i]) == claim)
            return i;
    return HEAP_CLAIMS;
}

/* Store CLAIM in a free place of CLAIMS. Return its number, or HEAP_CLAIMS if no place is free. */
static inline uint32_t
heap_claims_add(uint64_t claims[HEAP_CLAIMS], uint64_t claim)
{
    for (uint32_t i = 0; i < HEAP_CLAIMS; i++) {
        uint64_t current = 0;

        // Another thread may have added the same claim.
        if (cas_acq_rel(&claims[i], &current, claim) || current == claim)
            return i;
    }
    return HEAP_CLAIMS;
}

/* Mark the stale claims of CLAIMS as busy, and return a bit for each. The caller must wipe the
 * claims' words and then call heap_claims_reuse. */
static inline uint32_t
heap_claims_mark_stale(uint64_t claims[HEAP_CLAIMS])
{
    uint32_t gone = 0;

    for (uint32_t i = 0; i < HEAP_CLAIMS; i++) {
        uint64_t current = load_acquire(&claims[i]);

        if (current > HEAP_CLAIM_TURN_MASK && !heap_claim_is_current(current) &&
            cas_acq_rel(&claims[i], &current, HEAP_CLAIM_BUSY))
            gone |= 1u << i;
    }
    return gone;
}

/* Assign the number of the first claim in GONE to CLAIM, and free the other numbers in GONE. GONE
 * must not be 0. Return the number of CLAIM. */
static inline uint32_t
heap_claims_reuse(uint64_t claims[HEAP_CLAIMS], uint32_t gone, uint64_t claim)
{
    uint32_t first = (uint32_t)__builtin_ctz(gone);

    for (uint32_t i = first; i < HEAP_CLAIMS; i++)
        if (gone >> i & 1)
            store_release(&claims[i], i == first ? claim : UINT64_C(0));
    return first;
}

#endif
