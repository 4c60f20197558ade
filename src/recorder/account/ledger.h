/* ledger.h: live block -> site and requested size, without touching the heap. See ledger.c; what
 * nearly every event needs is here. Any thread may call these in an event, also in a signal
 * handler's, for blocks that are its own. */
#ifndef ACCOUNT_LEDGER_H
#define ACCOUNT_LEDGER_H

#include "account/ledger_entry.h"
#include "base/atomics.h"
#include "base/base.h"
#include "platform/state.h"

/* Make the top level when recording starts. False without memory. */
bool ledger_start(void);

/* Remember block P. *RET_OLD gets the entry that was still there, if any: a block whose free went
 * unseen. False when there was no memory: the block is not known. */
bool ledger_insert(const void *p, uint64_t size_bytes, uint32_t site, struct ledger_entry *ret_old);

/* Forget that a block has lived at P, where none does now. */
void ledger_forget(const void *p);

/* P is live no more: take out its entry and return it, with site 0 if P was not known. Must be
 * called while P is still the caller's. */
struct ledger_entry ledger_remove(const void *p);

/* Like ledger_insert, for a pointer whose size word cannot be trusted (not what the allocator
 * returned), and for a sample, whose SITE has the bits of ledger_entry.h above it. */
bool ledger_insert_odd(const void *p, uint64_t size_bytes, uint32_t site,
                       struct ledger_entry *ret_old);

/* About how large P is, of which the ledger knows nothing; 0 if nobody can tell. */
uint64_t ledger_usable(const void *p);

/* How far glibc's block P may reach, by the chunk's size word in front of it, of which three bits
 * are flags. The block may use a word or two less, always the same. */
static inline uint64_t
ledger_glibc_room(const void *p)
{
    return ((const uint64_t *)p)[-1] & ~UINT64_C(7);
}

/* The entry of the granule at ADDRESS; NULL if there is none yet. */
static inline uint32_t *
ledger_slot(uintptr_t address)
{
    uint32_t *leaf;

    if (unlikely(address >> ARCH_ADDRESS_BITS))
        return NULL;
    leaf = load_acquire(&state->ledger[address >> LEDGER_SPAN_BITS]);
    if (unlikely(leaf == NULL))
        return NULL;
    return &leaf[(address & ((1u << LEDGER_SPAN_BITS) - 1)) >> state->granule_shift];
}

/* Does entry E say that a block lives? Both that none ever did and that one has ended are out of
 * one range. */
static inline bool
ledger_is_live(uint32_t e)
{
    return e - 1 < ((uint32_t)LEDGER_SLACK_ENDED << LEDGER_SLACK_SHIFT) - 1;
}

/* Where in its granule ADDRESS lies, in its place in an entry. */
static inline uint32_t
ledger_sub(uintptr_t address, uint32_t granule_shift)
{
    return (uint32_t)(address & ((1u << granule_shift) - 8)) << (LEDGER_SUB_SHIFT - 3);
}

/* The slot of P in the plain case, that of nearly every block: glibc's, aligned as malloc's are,
 * and a slack that fits. LEDGER is state->ledger_plain. NULL if the case is another or P NULL. */
static inline uint32_t *
ledger_plain_slot(uint32_t **ledger, const void *p)
{
    // The bits that must be 0 come to the front.
    uintptr_t unit = (uintptr_t)p >> 4 | (uintptr_t)p << 60;
    uint32_t *leaf;

    if (unlikely((unit - 1) >> (ARCH_ADDRESS_BITS - 4)))
        return NULL;
    leaf = load_acquire(&ledger[unit >> (LEDGER_SPAN_BITS - 4)]);
    if (unlikely(leaf == NULL))
        return NULL;
    return &leaf[unit >> (LEDGER_GLIBC_SHIFT - 4) &
                 ((1u << (LEDGER_SPAN_BITS - LEDGER_GLIBC_SHIFT)) - 1)];
}

/* *RET_ENTRY is to be put into the plain SLOT of block P of SITE; false if P's case is another. */
static inline bool
ledger_plain_entry(const void *p, uint64_t size_bytes, uint32_t site, const uint32_t *slot,
                   uint32_t *ret_entry)
{
    // A block smaller than requested would be the allocator's error; as unsigned slack it is huge.
    uint64_t slack = ledger_glibc_room(p) - size_bytes;

    *ret_entry =
        site | ledger_sub((uintptr_t)p, LEDGER_GLIBC_SHIFT) | (uint32_t)slack << LEDGER_SLACK_SHIFT;
    return likely(slack < LEDGER_SLACK_SIDE) && likely(!ledger_is_live(load_relaxed(slot)));
}

/* Is ENTRY, from the plain slot of P, a live block at P with all there is to know in it? */
static inline bool
ledger_is_plain(uint32_t entry, const void *p)
{
    return likely(entry - 1 < ((uint32_t)LEDGER_SLACK_SIDE << LEDGER_SLACK_SHIFT) - 1) &&
           likely((entry & 3u << LEDGER_SUB_SHIFT) == ledger_sub((uintptr_t)p, LEDGER_GLIBC_SHIFT));
}

/* The requested size of the live block at P, whose plain slot has ENTRY. */
static inline uint64_t
ledger_plain_size(uint32_t entry, const void *p)
{
    return ledger_glibc_room(p) - (entry >> LEDGER_SLACK_SHIFT);
}

/* What is left in the place of a live block's ENTRY when the block has ended. */
static inline uint32_t
ledger_ended(uint32_t entry)
{
    return entry | (uint32_t)LEDGER_SLACK_ENDED << LEDGER_SLACK_SHIFT;
}

#endif
