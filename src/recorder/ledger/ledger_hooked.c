/* ledger_hooked.c: implements the ledger for blocks of allocators that are hooked by name
 * (hook_entries.h).
 *
 * The allocator of such a block cannot report its size, and two such blocks may be in one granule
 * of malloc's ledger. So these blocks have a separate flat ledger. Each entry has eight bytes for
 * 16 bytes of address space, and contains the full site and size:
 *
 *     63                32 31                      0
 *     |       size        |          site          |       0 = no block ever started here
 *
 * After its entries, a leaf has one byte for each entry: the birth number of the block (recent.h).
 *
 * SIZE_SIDE: the size is 4 GiB or more, and the side table has it. SIZE_ENDED: the block was freed.
 * Blocks that are not 16-byte aligned may share a granule, so the side table has their site and
 * size.
 *
 * Other parts of the recorder identify such a block by a key: its address, with a bit set that is
 * above all addresses (ledger_hooked_key). No fast path mistakes a key for an address from malloc.
 * So if a wrapper and the malloc that it calls return the same address, both blocks are recorded.
 *
 * As in ledger.c, an entry has one owner, the thread that owns the block, and leaves are never
 * unmapped. */
#include "ledger/ledger_hooked.h"

#include "ledger/ledger_side.h"
#include "ledger/ledger_state.h"
#include "platform/mem.h"

enum { GRANULE_SHIFT = CORE_HOOKED_SHIFT };

#define SIZE_SIDE ((uint64_t)CORE_HOOKED_SIDE)
#define SIZE_ENDED ((uint64_t)CORE_HOOKED_ENDED)

static inline uint32_t
site_of(uint64_t e)
{
    return (uint32_t)e;
}

static inline bool
ledger_hooked_is_live(uint64_t e)
{
    return site_of(e) != 0 && e >> 32 != SIZE_ENDED;
}

static inline uintptr_t
ledger_hooked_address_of(uintptr_t key)
{
    return key & ~LEDGER_HOOKED;
}

static inline uint64_t *
in_leaf(uint64_t *leaf, uintptr_t address)
{
    return &leaf[(address & ((1u << LEDGER_SPAN_BITS) - 1)) >> GRANULE_SHIFT];
}

/* Return the address of the birth byte of the block at ADDRESS, whose entry is in SLOT. */
static inline uint8_t *
birth_at(uint64_t *slot, uintptr_t address)
{
    size_t index = (address & ((1u << LEDGER_SPAN_BITS) - 1)) >> GRANULE_SHIFT;

    return (uint8_t *)(slot - index + (1 << (LEDGER_SPAN_BITS - GRANULE_SHIFT))) + index;
}

static uint64_t *
ledger_hooked_find_slot(uintptr_t address)
{
    uint64_t **top = load_acquire(&ledger_state()->hooked_ledger);
    uint64_t *leaf;

    if (top == NULL || address >> ARCH_ADDRESS_BITS)
        return NULL;
    leaf = load_acquire(&top[address >> LEDGER_SPAN_BITS]);
    return leaf != NULL ? in_leaf(leaf, address) : NULL;
}

static COLD uint64_t *
make_slot(uintptr_t address)
{
    uint64_t **top = mem_once(&ledger_state()->hooked_ledger, mem_private,
                              LEDGER_TOP_ENTRIES * sizeof *top, NULL);
    uint64_t *leaf;

    if (top == NULL || address >> ARCH_ADDRESS_BITS)
        return NULL;
    leaf = core_leaf_make(&top[address >> LEDGER_SPAN_BITS], address, CORE_LEAF_HOOKED,
                          ((sizeof *leaf + sizeof(uint8_t)) << LEDGER_SPAN_BITS) >> GRANULE_SHIFT);
    return leaf != NULL ? in_leaf(leaf, address) : NULL;
}

/* Decode E, the live entry of KEY in SLOT. */
static inline struct ledger_entry
says(uint64_t e, uintptr_t key, uint64_t *slot)
{
    if (unlikely(e >> 32 == SIZE_SIDE))
        return ledger_side_remove(key);
    return (struct ledger_entry){.site = site_of(e),
                                 .birth =
                                     load_relaxed(birth_at(slot, ledger_hooked_address_of(key))),
                                 .size_bytes = e >> 32};
}

bool
ledger_hooked_insert(uintptr_t key, uint64_t size_bytes, uint32_t site, uint8_t birth,
                     struct ledger_entry *ret_old)
{
    uintptr_t address = ledger_hooked_address_of(key);
    uint64_t size = size_bytes < SIZE_ENDED ? size_bytes : SIZE_SIDE;
    uint64_t *slot = ledger_hooked_find_slot(address);
    struct ledger_entry none;

    *ret_old = (struct ledger_entry){0};
    // Create the slot even for a block that goes to the side table, because ledger_hooked_is_used
    // tests the top level.
    if (unlikely(slot == NULL) && (slot = make_slot(address)) == NULL)
        return false;
    if (unlikely(address & 15))
        return ledger_side_insert(key, size_bytes, site, birth, false, ret_old);
    if (unlikely(ledger_hooked_is_live(load_relaxed(slot))))
        *ret_old = says(load_relaxed(slot), key, slot); // The free of the old block was not seen.
    if (unlikely(size == SIZE_SIDE) &&
        !ledger_side_insert(key, size_bytes, site, birth, false, &none)) {
        store_relaxed(slot, UINT64_C(0));
        return false;
    }
    store_relaxed(birth_at(slot, address), birth);
    store_relaxed(slot, size << 32 | site);
    return true;
}

struct ledger_entry
ledger_hooked_remove(uintptr_t key)
{
    uintptr_t address = ledger_hooked_address_of(key);
    uint64_t *slot;
    uint64_t e;

    if (unlikely(address & 15))
        return ledger_side_remove(key);
    slot = ledger_hooked_find_slot(address);
    if (unlikely(slot == NULL))
        return (struct ledger_entry){0};
    e = load_relaxed(slot);
    if (unlikely(!ledger_hooked_is_live(e)))
        return (struct ledger_entry){.freed_site = site_of(e) & LEDGER_SITE_MASK};
    store_relaxed(slot, SIZE_ENDED << 32 | site_of(e));
    return says(e, key, slot);
}

void
ledger_hooked_clear_freed(uintptr_t key)
{
    uint64_t *slot = key & 15 ? NULL : ledger_hooked_find_slot(ledger_hooked_address_of(key));

    if (slot != NULL && !ledger_hooked_is_live(load_relaxed(slot)))
        store_relaxed(slot, UINT64_C(0));
}
