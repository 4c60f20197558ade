/* ledger.c: the flat shadow.
 *
 * Address space is cut into granules, small enough that at most one block starts in each: 32
 * bytes with glibc, whose chunks are no smaller, else 16. Each granule has four bytes of shadow:
 *
 *     31        24 23  22 21                     0
 *     |  slack    | sub |         site           |       0 = no block has started here
 *
 * sub says where in the granule the block starts (in steps of 8), slack is usable size minus
 * requested size. The usable size comes from the allocator when the block is freed, so the
 * requested size costs no space. What does not fit (SLACK_SIDE) is in the side table, and so are
 * blocks that are not 16-byte aligned, which may share a granule. A block that has ended leaves
 * its entry with slack ENDED, which tells a second free from a free of what never was ours.
 *
 *     address ── top 23 bits ──► top level (pointers, touched on demand)
 *                                 └► leaf: shadow of 2^24 bytes, mapped on demand, never unmapped
 *
 * One entry has one owner, the thread that holds the block, so plain loads and stores do. The
 * heap itself is left exactly as it is, and a pointer that is not ours finds no entry.
 */
#include "monitor/ledger.h"

#include <malloc.h>

#include "base/atomics.h"
#include "monitor/arch_x86_64.h"
#include "monitor/mem.h"
#include "monitor/next.h"
#include "monitor/side.h"
#include "monitor/state.h"

enum {
    SPAN_BITS = LEDGER_SPAN_BITS,
    TOP_ENTRIES = 1 << (ARCH_ADDRESS_BITS - SPAN_BITS),
    SUB_SHIFT = LEDGER_SITE_BITS,
    SLACK_SHIFT = 24,
    SLACK_SIDE = 254,
    SLACK_ENDED = 255,
};

#define SITE_MASK ((1u << LEDGER_SITE_BITS) - 1)

static_assert(LEDGER_SITE_BITS + 2 == SLACK_SHIFT, "site, sub and slack fill the entry");
static_assert((uint32_t)LIMIT_SITES <= SITE_MASK, "every site fits");

bool
ledger_start(void)
{
    state->ledger = mem_private((size_t)TOP_ENTRIES * sizeof *state->ledger);
    return state->ledger != NULL;
}

static inline uint64_t
usable_size(const void *p)
{
    if (likely(state->usable == USABLE_GLIBC)) {
        // The chunk's size word: three flag bits, 2 meaning that the block was mapped on its own
        // and loses two words to its head, otherwise one. usable_check in hook.c has compared
        // this with the allocator.
        uint64_t word = ((const uint64_t *)p)[-1];

        return (word & ~UINT64_C(7)) - ((word & 2) ? 16 : 8);
    }
    return next.malloc_usable_size((void *)(uintptr_t)p);
}

static inline uint32_t *
slot_of(uintptr_t address)
{
    uint32_t *leaf;

    if (unlikely(address >> ARCH_ADDRESS_BITS))
        return NULL;
    leaf = load_acquire(&state->ledger[address >> SPAN_BITS]);
    if (unlikely(leaf == NULL))
        return NULL;
    return &leaf[(address & ((1u << SPAN_BITS) - 1)) >> state->granule_shift];
}

static COLD uint32_t *
slot_make(uintptr_t address)
{
    size_t size_bytes = (sizeof(uint32_t) << SPAN_BITS) >> state->granule_shift;
    uint32_t *none = NULL;
    uint32_t *leaf;

    if (address >> ARCH_ADDRESS_BITS)
        return NULL;
    leaf = mem_private(size_bytes);
    if (leaf == NULL)
        return NULL;
    if (!cas_acq_rel(&state->ledger[address >> SPAN_BITS], &none, leaf))
        mem_release(leaf, size_bytes);
    return slot_of(address);
}

/* Does E say that a block lives? Both that none ever did and that one has ended are out of one
 * range. */
static inline bool
is_live(uint32_t e)
{
    return e - 1 < ((uint32_t)SLACK_ENDED << SLACK_SHIFT) - 1;
}

static inline uint32_t
sub_of(uintptr_t address)
{
    return (uint32_t)(address >> 3 & 3) & ((1u << (state->granule_shift - 3)) - 1);
}

/* What the entry E of the block at ADDRESS says. */
static inline struct ledger_entry
decode(uint32_t e, uintptr_t address)
{
    uint32_t slack = e >> SLACK_SHIFT;

    if (unlikely(slack == SLACK_SIDE))
        return side_remove(address);
    return (struct ledger_entry){.site = e & SITE_MASK,
                                 .size_bytes = usable_size((const void *)address) - slack};
}

static bool
insert(uintptr_t address, uint64_t slack, uint64_t size_bytes, uint32_t site,
       struct ledger_entry *ret_old)
{
    uint32_t *slot;
    uint32_t entry;

    if (unlikely(address & 15))
        return side_insert(address, size_bytes, site, ret_old);
    slot = slot_of(address);
    if (unlikely(slot == NULL) && (slot = slot_make(address)) == NULL)
        return false;
    if (unlikely(is_live(*slot))) {
        // A free went unseen. If the old block began elsewhere in this granule its size word is
        // gone, so its bytes stay counted as live; otherwise the chunk is the same one, or at
        // least as good a guess.
        if ((*slot >> SUB_SHIFT & 3) == sub_of(address))
            *ret_old = decode(*slot, address);
        else
            *ret_old = (struct ledger_entry){.site = *slot & SITE_MASK};
    }
    entry = (site & SITE_MASK) | sub_of(address) << SUB_SHIFT;
    if (unlikely(slack >= SLACK_SIDE)) {
        struct ledger_entry none;

        if (!side_insert(address, size_bytes, site, &none)) {
            store_relaxed(slot, 0u);
            return false;
        }
        slack = SLACK_SIDE;
    }
    store_relaxed(slot, entry | (uint32_t)slack << SLACK_SHIFT);
    return true;
}

bool
ledger_insert(const void *p, uint64_t size_bytes, uint32_t site, struct ledger_entry *ret_old)
{
    // A usable size below the requested one would be the allocator's error; as unsigned slack it
    // is huge.
    uint64_t slack = state->usable == USABLE_NONE ? SLACK_SIDE : usable_size(p) - size_bytes;

    *ret_old = (struct ledger_entry){0};
    return insert((uintptr_t)p, slack, size_bytes, site, ret_old);
}

bool
ledger_insert_odd(const void *p, uint64_t size_bytes, uint32_t site, struct ledger_entry *ret_old)
{
    *ret_old = (struct ledger_entry){0};
    return insert((uintptr_t)p, SLACK_SIDE, size_bytes, site, ret_old);
}

struct ledger_entry
ledger_remove(const void *p)
{
    uintptr_t address = (uintptr_t)p;
    uint32_t *slot;
    uint32_t e;

    if (unlikely(address & 15))
        return side_remove(address);
    slot = slot_of(address);
    if (unlikely(slot == NULL))
        return (struct ledger_entry){0};
    e = load_relaxed(slot);
    if (unlikely((e >> SUB_SHIFT & 3) != sub_of(address)))
        return (struct ledger_entry){0};
    if (unlikely(!is_live(e)))
        return (struct ledger_entry){.freed_site = e & SITE_MASK};
    store_relaxed(slot, (uint32_t)SLACK_ENDED << SLACK_SHIFT | e);
    return decode(e, address);
}

void
ledger_forget(const void *p)
{
    uintptr_t address = (uintptr_t)p;
    uint32_t *slot = address & 15 ? NULL : slot_of(address);

    if (slot != NULL && !is_live(load_relaxed(slot)))
        store_relaxed(slot, 0u);
}
