/* ledger_entry.h: defines the contents of a ledger entry, and packs keys and sites. */
#ifndef LEDGER_LEDGER_ENTRY_H
#define LEDGER_LEDGER_ENTRY_H

#include "base/base.h"
#include "platform/arch_x86_64.h"

enum {
    LEDGER_SITE_BITS = 22, // Maximum width of a site id in bits.
    LEDGER_SUB_SHIFT = LEDGER_SITE_BITS,
    LEDGER_SLACK_SHIFT = 24,
    LEDGER_SPAN_BITS = 24,
    LEDGER_TOP_ENTRIES = 1 << (ARCH_ADDRESS_BITS - LEDGER_SPAN_BITS),
    LEDGER_GLIBC_SHIFT = 5, // Log2 of a granule's bytes with glibc's allocator.
    LEDGER_GLIBC_INDEX = (1 << (LEDGER_SPAN_BITS - LEDGER_GLIBC_SHIFT)) - 1, // Mask of an index.
    LEDGER_GLIBC_SUB = (1 << LEDGER_GLIBC_SHIFT) - 8, // Mask of an offset in a granule.
    LEDGER_SLACK_SIDE = 254,
    LEDGER_SLACK_ENDED = 255,
};

#define LEDGER_SITE_MASK ((1u << LEDGER_SITE_BITS) - 1)

/* The bits that are set in the entry of a block that has ended. */
#define LEDGER_ENDED ((uint32_t)LEDGER_SLACK_ENDED << LEDGER_SLACK_SHIFT)

/* A bit above all addresses. It is set in the key of a block that an allocator other than malloc
 * returned (ledger_hooked.c). */
#define LEDGER_HOOKED (UINT64_C(1) << 62)

static inline void *
ledger_hooked_key(uintptr_t address)
{
    return (void *)(address | LEDGER_HOOKED);
}

static inline bool
ledger_is_hooked(const void *p)
{
    return (uintptr_t)p >> ARCH_ADDRESS_BITS == LEDGER_HOOKED >> ARCH_ADDRESS_BITS;
}

/* The first bit above a sample's site in its entry: set if the weight was rounded up. */
#define LEDGER_ROUNDED_UP (1u << LEDGER_SITE_BITS)
enum { LEDGER_MODE_SHIFT = LEDGER_SITE_BITS + 1 }; // Shift of the bits above that bit: recording
                                                   // mode plus 1.

/* Value of the bits above the site for a block that backs a heap of the program: rounded
 * up, without a recording mode. */
#define LEDGER_BACKING LEDGER_ROUNDED_UP

struct ledger_entry {
    uint32_t site;       // 0 = not recorded as live. A sample's site has more bits than
                         // LEDGER_SITE_BITS.
    // Set by ledger_remove: the site of a block that was freed here before.
    uint32_t freed_site : LEDGER_SITE_BITS;
    uint32_t birth : 8;  // Birth number (recent.h).
    uint32_t odd : 1;    // Set by ledger_remove: no allocator can report the block's size.
    uint64_t size_bytes; // Requested size in bytes.
};

/* The observed growth of a thread's heap. Zeros at the start. */
struct ledger_prefaulted {
    uintptr_t first; // Start of the address range where the heap grew.
    uintptr_t top;   // Address of the highest block seen in that range.
    uintptr_t made;  // The ledger is prefaulted for blocks below this address.
    uintptr_t looks; // Number of blocks examined since `top` was set.
};

/* Return true if E is the entry of an exactly recorded block, and not of an unknown block or a
 * sample. */
static inline bool
ledger_is_exact(struct ledger_entry e)
{
    return e.site - 1 < LEDGER_SITE_MASK;
}

/* Return true if E is the entry of a block that backs a heap of the program. */
static inline bool
ledger_is_backing(struct ledger_entry e)
{
    return e.site >> LEDGER_SITE_BITS == LEDGER_BACKING >> LEDGER_SITE_BITS;
}

#endif
