/* ledger.h: maps each live block to its site and requested size, without changing the heap. This
 * header has the code that nearly every event needs; see ledger.c. Thread-safe in an event, for
 * blocks that the caller owns; the event may be in a signal handler. */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include "base/atomics.h"
#include "base/base.h"
#include "ledger/ledger_entry.h"
#include "ledger/ledger_state.h"
#include "platform/state.h"

/* Create the top level when recording starts. Return false if memory is exhausted. */
bool ledger_start(void);

/* Insert block P with BIRTH, a birth number of recent.h. If a live entry is still at P, its free
 * went unseen: store that entry in *RET_OLD. Return false if memory is exhausted; the block is then
 * not recorded. */
bool ledger_insert(const void *p, uint64_t size_bytes, uint32_t site, uint8_t birth,
                   struct ledger_entry *ret_old);

/* Clear the trace of an ended block at P, where no block lives now. */
void ledger_clear_freed(const void *p);

/* Remove the entry of P, a block that is about to end, and return the entry. Its site is 0 if P was
 * not recorded. Call while P still belongs to the caller. */
struct ledger_entry ledger_remove(const void *p);

/* Return the site of the block that is live at P or was last live at P. Return 0 if it is
 * unknown. */
uint32_t ledger_site(const void *p);

/* Like ledger_insert, for two kinds of blocks. The first has no trustworthy size word, because the
 * allocator did not return this pointer. The second is a sample, whose SITE has the bits of
 * ledger_entry.h above it. */
bool ledger_insert_odd(const void *p, uint64_t size_bytes, uint32_t site, uint8_t birth,
                       struct ledger_entry *ret_old);

/* Return true if no allocator can report a sample's size: the sample may be a block of libc while
 * another allocator is the real allocator. */
static inline bool
ledger_doubts_samples(void)
{
    return ledger_state()->usable == USABLE_CALL;
}

/* Return the approximate size in bytes of P, which is not in the ledger; 0 = unknown. */
uint64_t ledger_usable(const void *p);

/* Return an upper bound of the size in bytes of glibc's block P. The chunk's size word in front of
 * P has this size, with flags in its low three bits. The usable size is smaller by a constant of
 * one or two words. */
static inline uint64_t
ledger_glibc_room(const void *p)
{
    return ((const uint64_t *)p)[-1] & ~UINT64_C(7);
}

/* The position of a granule's entry. */
struct ledger_place {
    uint32_t *leaf; // NULL = the granule has no leaf.
    size_t index;
};

static inline uint32_t *
ledger_slot_at(struct ledger_place at)
{
    return &at.leaf[at.index];
}

/* Return true if entries have the packed form (ledger.c), false if they have the plain one. */
static inline bool
ledger_is_packed(void)
{
    return ledger_state()->granule_shift == LEDGER_GLIBC_SHIFT;
}

/* Return the address of the block's birth byte. Plain form only. */
static inline uint8_t *
ledger_birth_at(struct ledger_place at)
{
    return (uint8_t *)(at.leaf + ((size_t)1 << (LEDGER_SPAN_BITS - 4))) + at.index;
}

/* Return the position of the granule at ADDRESS. Its leaf is NULL if the leaf does not exist
 * yet. */
static inline struct ledger_place
ledger_place(uintptr_t address)
{
    uintptr_t within = address & ((1u << LEDGER_SPAN_BITS) - 1);

    if (unlikely(address >> ARCH_ADDRESS_BITS))
        return (struct ledger_place){0};
    return (struct ledger_place){load_acquire(&ledger_state()->ledger[address >> LEDGER_SPAN_BITS]),
                                 within >> ledger_state()->granule_shift};
}

/* Return the entry of the granule at ADDRESS, or NULL if its leaf does not exist yet. */
static inline uint32_t *
ledger_slot(uintptr_t address)
{
    struct ledger_place at = ledger_place(address);

    return likely(at.leaf != NULL) ? ledger_slot_at(at) : NULL;
}

/* Return true if E is the entry of a live block. One comparison excludes both 0 (never used) and
 * ended blocks. */
static inline bool
ledger_is_live(uint32_t e)
{
    return e - 1 < LEDGER_ENDED - 1;
}

/* Return the offset of ADDRESS, a multiple of 16, in its granule, shifted to its bit in a packed
 * entry. */
static inline uint32_t
ledger_packed_sub(uintptr_t address)
{
    return (uint32_t)(address & 16) << LEDGER_PACKED_SUB_SHIFT;
}

/* Return the offset in its granule of the block with entry E. */
static inline uint32_t
ledger_sub(uint32_t e)
{
    return ledger_is_packed() ? (e & LEDGER_PACKED_SUB) >> LEDGER_PACKED_SUB_SHIFT : 0;
}

/* Return true if the block of entry E, in the granule of ADDRESS, begins at ADDRESS, a multiple of
 * 16. */
static inline bool
ledger_begins_at(uint32_t e, uintptr_t address)
{
    return !ledger_is_packed() || (e & LEDGER_PACKED_SUB) == ledger_packed_sub(address);
}

/* Return true if E, a live entry, contains site and slack, so that neither the wide ledger nor the
 * side table has the block. */
static inline bool
ledger_has_slack(uint32_t e)
{
    return e >> LEDGER_KIND_SHIFT < LEDGER_KIND_WIDE;
}

/* Return the slack in bytes of E, and its site. Require that ledger_has_slack(E). */
static inline uint64_t
ledger_slack(uint32_t e)
{
    return ledger_is_packed() ? (e >> LEDGER_KIND_SHIFT) + LEDGER_PACKED_SLACK_MIN
                              : e >> LEDGER_PLAIN_SLACK_SHIFT;
}

static inline uint32_t
ledger_slack_site(uint32_t e)
{
    return e & (ledger_is_packed() ? LEDGER_PACKED_SITE_MASK : LEDGER_SITE_MASK);
}

/* Return the number of 16-byte units of address space that may contain direct blocks. Return 0
 * unless the allocator is glibc's. */
static inline uint64_t
ledger_direct_units(void)
{
    return ledger_state()->granule_shift == LEDGER_GLIBC_SHIFT
               ? UINT64_C(1) << (ARCH_ADDRESS_BITS - 4)
               : 0;
}

/* A direct entry, the most frequent case: packed, with site and slack. Its block is glibc's and is
 * aligned like malloc's blocks. */
struct ledger_direct {
    struct ledger_place at; // The leaf is NULL if the block is not direct.
    uint32_t entry;
};

/* Return the direct entry for the new block P of SITE, without its birth and not stored yet. LEDGER
 * is the top level, UNITS is the result of ledger_direct_units. P may be NULL. SITE must fit into
 * LEDGER_PACKED_SITE_BITS. */
static inline struct ledger_direct
ledger_direct_new(uint32_t **ledger, uint64_t units, const void *p, uint64_t size_bytes,
                  uint32_t site)
{
    struct ledger_direct none = {{0}, 0}, d = none;
    // The rotation moves the bits that must be 0 to the top, so one comparison checks them all.
    uint64_t unit = (uintptr_t)p >> 4 | (uintptr_t)p << 60, slack;

    if (unlikely(unit - 1 >= units))
        return none;
    d.at.leaf = load_acquire(&ledger[unit >> (LEDGER_SPAN_BITS - 4)]);
    d.at.index = (uintptr_t)p >> LEDGER_GLIBC_SHIFT & LEDGER_GLIBC_INDEX;
    // A live entry here belongs to a block whose free went unseen.
    if (unlikely(d.at.leaf == NULL) ||
        unlikely(load_relaxed(&d.at.leaf[d.at.index]) - 1 < LEDGER_ENDED - 1))
        return none;
    // Compute the slack as in ledger_glibc_room. If the allocator returned a block smaller than
    // requested, the slack is a huge unsigned number and fails the comparison.
    slack = (((const uint64_t *)p)[-1] & ~UINT64_C(7)) - LEDGER_PACKED_SLACK_MIN - size_bytes;
    if (unlikely(slack >= LEDGER_KIND_WIDE))
        return none;
    d.entry = site | (uint32_t)((uintptr_t)p & 16) << LEDGER_PACKED_SUB_SHIFT |
              (uint32_t)slack << LEDGER_KIND_SHIFT;
    return d;
}

/* Return the direct entry of the live block P, with LEDGER and UNITS as above. */
static inline struct ledger_direct
ledger_direct_live(uint32_t **ledger, uint64_t units, const void *p)
{
    struct ledger_direct none = {{0}, 0}, d = none;
    // The rotation moves the bits that must be 0 to the top, as in ledger_direct_new.
    uint64_t unit = (uintptr_t)p >> 4 | (uintptr_t)p << 60;

    if (unlikely(unit - 1 >= units))
        return none;
    d.at.leaf = load_acquire(&ledger[unit >> (LEDGER_SPAN_BITS - 4)]);
    d.at.index = (uintptr_t)p >> LEDGER_GLIBC_SHIFT & LEDGER_GLIBC_INDEX;
    if (unlikely(d.at.leaf == NULL))
        return none;
    d.entry = load_relaxed(&d.at.leaf[d.at.index]);
    // The first comparison excludes entries that are not live, and entries without a slack.
    if (unlikely(d.entry - 1 >= ((uint32_t)LEDGER_KIND_WIDE << LEDGER_KIND_SHIFT) - 1) ||
        unlikely((d.entry & LEDGER_PACKED_SUB) !=
                 (uint32_t)((uintptr_t)p & 16) << LEDGER_PACKED_SUB_SHIFT))
        return none;
    return d;
}

/* Return ENTRY, a direct one without birth, with BIRTH. */
static inline uint32_t
ledger_direct_with_birth(uint32_t entry, uint8_t birth)
{
    return entry | (birth & (LEDGER_BIRTHS - 1u)) << LEDGER_PACKED_BIRTH_SHIFT;
}

/* Return the requested size in bytes of the block P, whose direct entry is or was ENTRY. */
static inline uint64_t
ledger_direct_size(uint32_t entry, const void *p)
{
    return ledger_glibc_room(p) - LEDGER_PACKED_SLACK_MIN - (entry >> LEDGER_KIND_SHIFT);
}

/* A plain entry whose slack the real allocator has to report. */
struct ledger_called {
    struct ledger_place at; // The leaf is NULL if the block has another kind of entry.
    uint32_t entry;
    uint64_t size_bytes; // Requested size.
};

/* Return the place of P and its entry, if entries are plain, P is not hooked and aligned like
 * malloc's blocks, and the allocator reports sizes. */
static inline struct ledger_called
ledger_called_place(const void *p)
{
    struct ledger_called none = {{0}, 0, 0}, c = none;

    if (unlikely(ledger_state()->usable != USABLE_CALL) || unlikely((uintptr_t)p & 15) ||
        unlikely(p == NULL))
        return none;
    c.at = ledger_place((uintptr_t)p);
    if (likely(c.at.leaf != NULL))
        c.entry = load_relaxed(ledger_slot_at(c.at));
    return c;
}

/* Return the entry for the new block P of SITE, not stored yet, as above. */
static inline struct ledger_called
ledger_called_new(const void *p, uint64_t size_bytes, uint32_t site)
{
    struct ledger_called none = {{0}, 0, 0}, c = ledger_called_place(p);
    uint64_t slack;

    if (unlikely(c.at.leaf == NULL) || unlikely(ledger_is_live(c.entry)))
        return none;
    slack = real_usable(p) - size_bytes;
    if (unlikely(slack >= LEDGER_PLAIN_SLACK_MAX))
        return none;
    c.entry = site | (uint32_t)slack << LEDGER_PLAIN_SLACK_SHIFT;
    c.size_bytes = size_bytes;
    return c;
}

/* Return the entry of the live block P, as above. */
static inline struct ledger_called
ledger_called_live(const void *p)
{
    struct ledger_called none = {{0}, 0, 0}, c = ledger_called_place(p);

    if (unlikely(c.at.leaf == NULL) || unlikely(!ledger_is_live(c.entry)) ||
        unlikely(!ledger_has_slack(c.entry)))
        return none;
    c.size_bytes = real_usable(p) - (c.entry >> LEDGER_PLAIN_SLACK_SHIFT);
    return c;
}

#endif
