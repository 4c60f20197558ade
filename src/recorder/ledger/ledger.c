/* ledger.c: maps addresses of live blocks to their sites and sizes, by a flat shadow of address
 * space.
 *
 * Address space is divided into granules, small enough that at most one block starts in each. A
 * granule has 32 bytes with glibc, which is the size of glibc's smallest chunk, else 16 bytes. Each
 * granule has four bytes of shadow:
 *
 *     31        24 23  22 21                     0
 *     |  slack    | sub |         site           |       0 = no block has started here
 *
 * sub is the offset of the block in its granule (in steps of 8). slack is the size that the
 * allocator gave the block minus the requested size. The allocator provides its size again when the
 * block is freed, so the requested size costs no space. A slack that does not fit
 * (LEDGER_SLACK_SIDE) is in the side table, and so are blocks that are not 16-byte aligned, which
 * may share a granule. When a block ends, its entry stays, with slack ENDED. So a second free can
 * be distinguished from the free of a pointer that was never recorded.
 *
 *     address ── top 23 bits ──► top level (pointers, touched on demand)
 *                                 └► leaf: shadow of 2^24 bytes, mapped on demand, never unmapped
 *
 * After its entries a leaf has one byte for each granule, with the same index: the birth number of
 * its block (recent.h). The byte has no meaning after the block has ended.
 *
 * One entry has one owner, the thread that owns the block, so plain loads and stores suffice. The
 * recorder does not change the heap itself, and a pointer that was not recorded has no entry.
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

static_assert(LEDGER_SITE_BITS + 2 == LEDGER_SLACK_SHIFT, "site, sub and slack fill the entry");
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
    size_t each_bytes = sizeof(uint32_t) + sizeof(uint8_t);
    size_t size_bytes = (each_bytes << LEDGER_SPAN_BITS) >> ledger_state()->granule_shift;
    uint32_t *none = NULL;
    uint32_t *leaf;

    if (address >> ARCH_ADDRESS_BITS)
        return (struct ledger_place){0};
    leaf = mem_dumped(size_bytes);
    if (leaf == NULL)
        return (struct ledger_place){0};
    if (cas_acq_rel(&ledger_state()->ledger[address >> LEDGER_SPAN_BITS], &none, leaf))
        core_leaf_add(address, CORE_LEAF_MALLOC, leaf);
    else
        mem_release(leaf, size_bytes);
    return ledger_place(address);
}

/* Decode E, which is stored at AT for the live block at ADDRESS. */
static inline struct ledger_entry
decode(uint32_t e, uintptr_t address, struct ledger_place at)
{
    uint32_t slack = e >> LEDGER_SLACK_SHIFT;

    if (unlikely(slack == LEDGER_SLACK_SIDE))
        return ledger_side_remove(address);
    return (struct ledger_entry){
        .site = e & LEDGER_SITE_MASK,
        .birth = load_relaxed(ledger_birth_at(at, ledger_state()->granule_shift)),
        .size_bytes = room_bytes((const void *)address) - slack};
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
        if ((*slot & 3u << LEDGER_SUB_SHIFT) == ledger_sub(address, ledger_state()->granule_shift))
            *ret_old = decode(*slot, address, at);
        else
            *ret_old = (struct ledger_entry){.site = *slot & LEDGER_SITE_MASK};
    }
    entry = (site & LEDGER_SITE_MASK) | ledger_sub(address, ledger_state()->granule_shift);
    if (unlikely(slack >= LEDGER_SLACK_SIDE)) {
        struct ledger_entry none;

        if (!ledger_side_insert(address, size_bytes, site, birth, odd, &none)) {
            store_relaxed(slot, 0u);
            return false;
        }
        slack = LEDGER_SLACK_SIDE;
    }
    store_relaxed(ledger_birth_at(at, ledger_state()->granule_shift), birth);
    store_relaxed(slot, entry | (uint32_t)slack << LEDGER_SLACK_SHIFT);
    return true;
}

bool
ledger_insert(const void *p, uint64_t size_bytes, uint32_t site, uint8_t birth,
              struct ledger_entry *ret_old)
{
    uint64_t slack;

    if (unlikely(ledger_is_hooked(p)))
        return ledger_hooked_insert((uintptr_t)p, size_bytes, site, birth, ret_old);
    slack = ledger_state()->usable == USABLE_NONE ? LEDGER_SLACK_SIDE : room_bytes(p) - size_bytes;
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
    return insert((uintptr_t)p, LEDGER_SLACK_SIDE, size_bytes, site, birth,
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
    if (unlikely((e & 3u << LEDGER_SUB_SHIFT) !=
                 ledger_sub(address, ledger_state()->granule_shift)))
        return (struct ledger_entry){0};
    if (unlikely(!ledger_is_live(e)))
        return (struct ledger_entry){.freed_site = e & LEDGER_SITE_MASK};
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

    return (e & 3u << LEDGER_SUB_SHIFT) == ledger_sub(address, ledger_state()->granule_shift)
               ? e & LEDGER_SITE_MASK
               : 0;
}

uint64_t
ledger_usable(const void *p)
{
    return p != NULL && ledger_state()->usable != USABLE_NONE ? real_usable(p) : 0;
}
