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

/* Remember block P, whose BIRTH is a number of recent.h. *RET_OLD gets the entry that was still
 * there, if any: a block whose free went unseen. False when there was no memory: the block is not
 * known. */
bool ledger_insert(const void *p, uint64_t size_bytes, uint32_t site, uint8_t birth,
                   struct ledger_entry *ret_old);

/* Forget that a block has lived at P, where none does now. */
void ledger_forget(const void *p);

/* P is live no more: take out its entry and return it, with site 0 if P was not known. Must be
 * called while P is still the caller's. */
struct ledger_entry ledger_remove(const void *p);

/* The site of the block that lives at P, or that lived there last; 0 if that is not known. */
uint32_t ledger_site(const void *p);

/* Like ledger_insert, for a pointer whose size word cannot be trusted (not what the allocator
 * returned), and for a sample, whose SITE has the bits of ledger_entry.h above it. */
bool ledger_insert_odd(const void *p, uint64_t size_bytes, uint32_t site, uint8_t birth,
                       struct ledger_entry *ret_old);

/* Must nobody be asked about a sample either? It may be libc's when another allocator is behind
 * us. */
static inline bool
ledger_doubts_samples(void)
{
    return state->usable == USABLE_CALL;
}

/* About how large P is, of which the ledger knows nothing; 0 if nobody can tell. */
uint64_t ledger_usable(const void *p);

/* How far glibc's block P may reach, by the chunk's size word in front of it, of which three bits
 * are flags. The block may use a word or two less, always the same. */
static inline uint64_t
ledger_glibc_room(const void *p)
{
    return ((const uint64_t *)p)[-1] & ~UINT64_C(7);
}

/* Where a granule has its entry and its birth. */
struct ledger_place {
    uint32_t *leaf; // NULL = nowhere.
    size_t index;
};

static inline uint32_t *
ledger_slot_at(struct ledger_place at)
{
    return &at.leaf[at.index];
}

/* The birth of the block of granules of that shift. */
static inline uint8_t *
ledger_birth_at(struct ledger_place at, uint32_t granule_shift)
{
    return (uint8_t *)(at.leaf + ((size_t)1 << (LEDGER_SPAN_BITS - granule_shift))) + at.index;
}

/* The place of the granule at ADDRESS; nowhere if there is none yet. */
static inline struct ledger_place
ledger_place(uintptr_t address)
{
    uintptr_t within = address & ((1u << LEDGER_SPAN_BITS) - 1);

    if (unlikely(address >> ARCH_ADDRESS_BITS))
        return (struct ledger_place){0};
    return (struct ledger_place){load_acquire(&state->ledger[address >> LEDGER_SPAN_BITS]),
                                 within >> state->granule_shift};
}

/* The entry of the granule at ADDRESS; NULL if there is none yet. */
static inline uint32_t *
ledger_slot(uintptr_t address)
{
    struct ledger_place at = ledger_place(address);

    return likely(at.leaf != NULL) ? ledger_slot_at(at) : NULL;
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

/* Units of 16 bytes in which blocks may be plain: none unless they are glibc's. */
static inline uint64_t
ledger_plain_units(void)
{
    return state->granule_shift == LEDGER_GLIBC_SHIFT ? UINT64_C(1) << (ARCH_ADDRESS_BITS - 4) : 0;
}

/* The place of P in the plain case, that of nearly every block: glibc's, aligned as malloc's are,
 * and a slack that fits. LEDGER is state->ledger and UNITS is ledger_plain_units. Nowhere if the
 * case is another or P NULL. */
static inline struct ledger_place
ledger_plain_place(uint32_t **ledger, uint64_t units, const void *p)
{
    // The bits that must be 0 come to the front.
    uintptr_t unit = (uintptr_t)p >> 4 | (uintptr_t)p << 60;

    if (unlikely(unit - 1 >= units))
        return (struct ledger_place){0};
    return (struct ledger_place){load_acquire(&ledger[unit >> (LEDGER_SPAN_BITS - 4)]),
                                 (uintptr_t)p >> LEDGER_GLIBC_SHIFT &
                                     ((1u << (LEDGER_SPAN_BITS - LEDGER_GLIBC_SHIFT)) - 1)};
}

/* The birth of the block at a plain place. */
static inline uint8_t *
ledger_plain_birth(struct ledger_place at)
{
    return ledger_birth_at(at, LEDGER_GLIBC_SHIFT);
}

/* *RET_ENTRY is to be put into the plain SLOT of block P of SITE; false if P's case is another. */
static inline bool
ledger_plain_entry(const void *p, uint64_t size_bytes, uint32_t site, const uint32_t *slot,
                   uint32_t *ret_entry)
{
    uint64_t slack;

    if (unlikely(ledger_is_live(load_relaxed(slot))))
        return false;
    // A block smaller than requested would be the allocator's error; as unsigned slack it is huge.
    slack = ledger_glibc_room(p) - size_bytes;
    *ret_entry =
        site | ledger_sub((uintptr_t)p, LEDGER_GLIBC_SHIFT) | (uint32_t)slack << LEDGER_SLACK_SHIFT;
    return likely(slack < LEDGER_SLACK_SIDE);
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
