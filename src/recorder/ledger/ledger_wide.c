/* ledger_wide.c: the wide ledger, for blocks that packed entries (ledger.c) cannot describe.
 *
 * It is a second flat shadow with the granules of the ledger, and eight bytes for each:
 *
 *     63                32 31                      0
 *     |       size        |          site          |
 *
 * The packed entry has the rest: whether the block is live, its offset and its birth. A value here
 * has a meaning only while that entry has no site. The size has a meaning only if the entry is of
 * the kind LEDGER_KIND_WIDE. The side table has larger blocks.
 *
 * Top level and leaves are mapped on demand. Most processes never need them. */
#include "ledger/ledger_side.h"

#include "base/atomics.h"
#include "ledger/ledger_state.h"
#include "platform/mem.h"
#include "platform/state.h"

static uint64_t *
ledger_wide_slot(uintptr_t address)
{
    uint64_t **top = load_acquire(&ledger_state()->wide_ledger);
    uint64_t *leaf = top != NULL ? load_acquire(&top[address >> LEDGER_SPAN_BITS]) : NULL;

    return leaf != NULL ? &leaf[address >> LEDGER_GLIBC_SHIFT & LEDGER_GLIBC_INDEX] : NULL;
}

/* Return the slot of ADDRESS; NULL if memory is exhausted. */
static COLD uint64_t *
ledger_wide_make_slot(uintptr_t address)
{
    uint64_t **top = mem_once(&ledger_state()->wide_ledger, mem_private,
                              LEDGER_TOP_ENTRIES * sizeof *top, NULL);

    return top != NULL && core_leaf_make(&top[address >> LEDGER_SPAN_BITS], address, CORE_LEAF_WIDE,
                                         (sizeof **top << LEDGER_SPAN_BITS) >>
                                             LEDGER_GLIBC_SHIFT) != NULL
               ? ledger_wide_slot(address)
               : NULL;
}

bool
ledger_wide_insert(uintptr_t address, uint32_t size_bytes, uint32_t site)
{
    uint64_t *slot = ledger_wide_slot(address);

    if (unlikely(slot == NULL) && (slot = ledger_wide_make_slot(address)) == NULL)
        return false;
    store_relaxed(slot, (uint64_t)size_bytes << 32 | site);
    return true;
}

struct ledger_entry
ledger_wide_block(uintptr_t address)
{
    const uint64_t *slot = ledger_wide_slot(address);
    uint64_t value = likely(slot != NULL) ? load_relaxed(slot) : 0;

    return (struct ledger_entry){.site = (uint32_t)value, .size_bytes = value >> 32};
}

uint32_t
ledger_wide_site(uintptr_t address)
{
    return ledger_wide_block(address).site;
}
