/* ledger.c: maps addresses of live blocks to their sites and sizes, by a flat shadow of address
 * space.
 *
 * Address space is divided into granules, small enough that at most one block starts in each. A
 * granule has 32 bytes with glibc, which is the size of glibc's smallest chunk, else 16 bytes. Each
 * granule has an entry of four bytes. With glibc, entries have the packed form:
 *
 *     31    26 25   19  18  17                0
 *     | kind  | birth | sub |      site       |          0 = no block has started here
 *
 * kind is the slack minus 8, or one of the values below. The slack is the size that the allocator
 * gave the block minus the requested size. The allocator provides its size again when the block is
 * freed, so the requested size costs no space. Slacks of glibc's chunks are at least 8. birth is
 * the block's birth number modulo 128 (recent.h). sub is the offset of the block in its granule, in
 * units of 16 bytes. With other allocators, whose slacks are larger, entries have the plain form:
 *
 *     31      24 23 22 21                     0
 *     |  slack  |  0  |          site         |          0 = no block has started here
 *
 * A leaf with entries of the plain form has one byte for each granule after its entries, with the
 * same index: the birth number. It has no meaning after the block has ended.
 *
 * In both forms the upper six bits may have a value that is no slack. LEDGER_KIND_ENDED: the block
 * was freed. Its site stays, so that a double free can be distinguished from the free of a pointer
 * that was never recorded. LEDGER_KIND_SIDE: the side table (ledger_side.c) has the block, because
 * its slack does not fit, or because it is a sample. LEDGER_KIND_WIDE, in the packed form only: the
 * site does not fit, or blocks are padded and the slack does not fit. The wide ledger then has site
 * and size (ledger_wide.c), and the site of the entry is 0. Few processes have as many sites.
 *
 *     address ── top 23 bits ──► top level (pointers, touched on demand)
 *                                 └► leaf: shadow of 2^24 bytes, mapped on demand, never unmapped
 *
 * One entry has one owner, the thread that owns the block, so plain loads and stores suffice. The
 * recorder does not change the heap itself, and a pointer that was not recorded has no entry.
 *
 * Rejected alternatives: with a separate birth byte, packed entries would need a second cache line
 * for each event. Entries of eight bytes would need only one form, but would be twice as large.
 *
 * A core dump contains the leaves and the side table. core_leaves.c lists them, so that blocks can
 * be distinguished after the process has died. The layout of entries is therefore a promise to
 * readers of core dumps (docs/internals/core.md).
 *
 * Keys with LEDGER_HOOKED set belong to blocks that did not come from malloc: ledger_hooked.c. */
#include "ledger/ledger.h"

#include <malloc.h>

#include "allocator/real.h"
#include "base/atomics.h"
#include "ledger/ledger_hooked.h"
#include "ledger/ledger_side.h"
#include "ledger/ledger_state.h"
#include "platform/arch_x86_64.h"
#include "platform/mem.h"
#include "platform/state.h"

static_assert(LEDGER_PACKED_SUB << 1 == 1 << LEDGER_PACKED_BIRTH_SHIFT &&
                  LEDGER_BIRTHS << LEDGER_PACKED_BIRTH_SHIFT == 1 << LEDGER_KIND_SHIFT,
              "site, sub, birth and kind fill the packed entry");
static_assert((uint32_t)LIMIT_SITES <= LEDGER_SITE_MASK, "every site fits");

bool
ledger_start(void)
{
    ledger_state()->ledger =
        mem_private((size_t)LEDGER_TOP_ENTRIES * sizeof *ledger_state()->ledger);
    return ledger_state()->ledger != NULL;
}

/* Return the size that the allocator gave to block P. Its slack is the difference from this
 * size. */
static inline uint64_t
room_bytes(const void *p)
{
    return likely(ledger_state()->usable == USABLE_GLIBC) ? ledger_glibc_room(p) : real_usable(p);
}

static COLD struct ledger_place
place_make(uintptr_t address)
{
    size_t each_bytes = sizeof(uint32_t) + (ledger_is_packed() ? 0 : sizeof(uint8_t));
    size_t size_bytes = (each_bytes << LEDGER_SPAN_BITS) >> ledger_state()->granule_shift;

    if (address >> ARCH_ADDRESS_BITS ||
        core_leaf_make(&ledger_state()->ledger[address >> LEDGER_SPAN_BITS], address,
                       CORE_LEAF_MALLOC, size_bytes) == NULL)
        return (struct ledger_place){0};
    return ledger_place(address);
}

/* Decode E, which is stored at AT for the live block at ADDRESS. */
static inline struct ledger_entry
decode(uint32_t e, uintptr_t address, struct ledger_place at)
{
    struct ledger_entry block;

    if (likely(ledger_has_slack(e)))
        block = (struct ledger_entry){
            .site = ledger_slack_site(e),
            .size_bytes = room_bytes((const void *)address) - ledger_slack(e)};
    else if (e >> LEDGER_KIND_SHIFT == LEDGER_KIND_SIDE)
        return ledger_side_remove(address);
    else
        block = ledger_wide_block(address);
    block.birth = ledger_is_packed() ? e >> LEDGER_PACKED_BIRTH_SHIFT & (LEDGER_BIRTHS - 1u)
                                     : load_relaxed(ledger_birth_at(at));
    return block;
}

/* Return the site of E, which is stored for a block at ADDRESS that is live or has ended. Return 0
 * if it is not known. */
static inline uint32_t
site_of_entry(uint32_t e, uintptr_t address)
{
    uint32_t site = ledger_slack_site(e);

    return likely(site != 0) || e == 0 ? site : ledger_wide_site(address);
}

/* Return the entry for a block at ADDRESS with a slack of SLACK bytes, or UINT64_MAX if the slack
 * is unknown. Store the block elsewhere if the entry cannot describe it, as in
 * ledger_insert_odd. Return 0 if memory is exhausted. */
static uint32_t
encode(uintptr_t address, uint64_t slack, uint64_t size_bytes, uint32_t site, uint8_t birth,
       bool odd)
{
    bool packed = ledger_is_packed();
    uint32_t site_bits = packed ? site & LEDGER_PACKED_SITE_MASK : site & LEDGER_SITE_MASK;
    uint32_t entry = packed ? ledger_packed_sub(address) : 0;
    struct ledger_entry none;

    if (packed)
        entry = ledger_direct_with_birth(entry, birth);
    if (likely(site == site_bits) && packed &&
        slack - LEDGER_PACKED_SLACK_MIN < LEDGER_KIND_WIDE)
        return entry | site | (uint32_t)(slack - LEDGER_PACKED_SLACK_MIN) << LEDGER_KIND_SHIFT;
    if (likely(site == site_bits) && !packed && slack < LEDGER_PLAIN_SLACK_MAX)
        return entry | site | (uint32_t)slack << LEDGER_PLAIN_SLACK_SHIFT;
    // The site of an entry without a site is in the wide ledger, even if the block is in the side
    // table.
    if (packed && ((site & LEDGER_SITE_MASK) != site_bits || ledger_state()->is_padded)) {
        if (!ledger_wide_insert(address, (uint32_t)size_bytes, site & LEDGER_SITE_MASK))
            return 0;
        if (site <= LEDGER_SITE_MASK && slack < LEDGER_PLAIN_SLACK_MAX && size_bytes <= UINT32_MAX)
            return entry | (uint32_t)LEDGER_KIND_WIDE << LEDGER_KIND_SHIFT;
        site_bits = 0;
    }
    return ledger_side_insert(address, size_bytes, site, birth, odd, &none)
               ? entry | site_bits | (uint32_t)LEDGER_KIND_SIDE << LEDGER_KIND_SHIFT
               : 0;
}

static bool
insert(uintptr_t address, uint64_t slack, uint64_t size_bytes, uint32_t site, uint8_t birth,
       bool odd, struct ledger_entry *ret_old)
{
    struct ledger_place at;
    uint32_t *slot;
    uint32_t entry;

    if (unlikely(address & 15))
        return ledger_side_insert(address, size_bytes, site, birth, odd, ret_old);
    at = ledger_place(address);
    if (unlikely(at.leaf == NULL) && (at = place_make(address)).leaf == NULL)
        return false;
    slot = ledger_slot_at(at);
    if (unlikely(ledger_is_live(*slot))) {
        // The free of the old block went unseen. If the old block began elsewhere in this granule,
        // its size word is overwritten, so its bytes stay counted as live. Otherwise the new
        // block's size word is used: the chunk is most likely the same.
        if (ledger_begins_at(*slot, address))
            *ret_old = decode(*slot, address, at);
        else
            *ret_old = (struct ledger_entry){.site = site_of_entry(*slot, address)};
    }
    entry = encode(address, slack, size_bytes, site, birth, odd);
    if (!ledger_is_packed())
        store_relaxed(ledger_birth_at(at), birth);
    store_relaxed(slot, entry);
    return entry != 0;
}

bool
ledger_insert(const void *p, uint64_t size_bytes, uint32_t site, uint8_t birth,
              struct ledger_entry *ret_old)
{
    uint64_t slack;

    if (unlikely(ledger_is_hooked(p)))
        return ledger_hooked_insert((uintptr_t)p, size_bytes, site, birth, ret_old);
    slack = ledger_state()->usable == USABLE_NONE ? UINT64_MAX : room_bytes(p) - size_bytes;
    *ret_old = (struct ledger_entry){0};
    return insert((uintptr_t)p, slack, size_bytes, site, birth, false, ret_old);
}

bool
ledger_insert_odd(const void *p, uint64_t size_bytes, uint32_t site, uint8_t birth,
                  struct ledger_entry *ret_old)
{
    if (unlikely(ledger_is_hooked(p)))
        return ledger_hooked_insert((uintptr_t)p, size_bytes, site, birth, ret_old);
    *ret_old = (struct ledger_entry){0};
    return insert((uintptr_t)p, UINT64_MAX, size_bytes, site, birth,
                  site <= LEDGER_SITE_MASK || ledger_doubts_samples(), ret_old);
}

static inline struct ledger_entry
remove_from(uintptr_t address)
{
    struct ledger_place at;
    uint32_t *slot;
    uint32_t e;

    if (unlikely(address & 15))
        return ledger_side_remove(address);
    at = ledger_place(address);
    if (unlikely(at.leaf == NULL))
        return (struct ledger_entry){0};
    slot = ledger_slot_at(at);
    e = load_relaxed(slot);
    if (unlikely(!ledger_begins_at(e, address)))
        return (struct ledger_entry){0};
    if (unlikely(!ledger_is_live(e)))
        return (struct ledger_entry){.freed_site = site_of_entry(e, address) & LEDGER_SITE_MASK};
    store_relaxed(slot, e | LEDGER_ENDED);
    return decode(e, address, at);
}

struct ledger_entry
ledger_remove(const void *p)
{
    uintptr_t address = (uintptr_t)p;
    bool hooked = unlikely(ledger_is_hooked(p));
    struct ledger_entry e = hooked ? ledger_hooked_remove(address) : remove_from(address), other;

    if (likely(e.site != 0) || !ledger_hooked_is_used())
        return e;
    // Look in the other ledger too: many allocators accept blocks of their hooked functions in
    // free, and vice versa.
    other = hooked ? remove_from(address & ~LEDGER_HOOKED)
                   : ledger_hooked_remove(address | LEDGER_HOOKED);
    return other.site != 0 ? other : e;
}

void
ledger_clear_freed(const void *p)
{
    uintptr_t address = (uintptr_t)p;
    uint32_t *slot = address & 15 ? NULL : ledger_slot(address);

    if (unlikely(ledger_is_hooked(p)))
        ledger_hooked_clear_freed(address);
    if (slot != NULL && !ledger_is_live(load_relaxed(slot)))
        store_relaxed(slot, 0u);
}

uint32_t
ledger_site(const void *p)
{
    uintptr_t address = (uintptr_t)p;
    const uint32_t *slot = address & 15 ? NULL : ledger_slot(address);
    uint32_t e = slot != NULL ? load_relaxed(slot) : 0;

    return ledger_begins_at(e, address) ? site_of_entry(e, address) : 0;
}

uint64_t
ledger_usable(const void *p)
{
    return p != NULL && ledger_state()->usable != USABLE_NONE ? real_usable(p) : 0;
}
