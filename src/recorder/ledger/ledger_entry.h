/* ledger_entry.h: defines the contents of a ledger entry, and packs keys and sites. */
#ifndef LEDGER_LEDGER_ENTRY_H
#define LEDGER_LEDGER_ENTRY_H

#include "base/base.h"
#include "platform/arch_x86_64.h"

enum {
    LEDGER_SITE_BITS = 22, // Maximum width of a site id in bits.
    LEDGER_SPAN_BITS = 24,
    LEDGER_TOP_ENTRIES = 1 << (ARCH_ADDRESS_BITS - LEDGER_SPAN_BITS),
    LEDGER_GLIBC_SHIFT = 5, // Log2 of a granule's bytes with glibc's allocator.
    LEDGER_GLIBC_INDEX = (1 << (LEDGER_SPAN_BITS - LEDGER_GLIBC_SHIFT)) - 1, // Mask of an index.
    // The upper six bits of an entry of either form, if they are no slack.
    LEDGER_KIND_SHIFT = 26,
    LEDGER_KIND_WIDE = 61,  // The wide ledger has site and size; packed form only.
    LEDGER_KIND_SIDE = 62,  // The side table has site, size and birth.
    LEDGER_KIND_ENDED = 63, // The block has ended.
    // The packed form. The smallest slack of glibc's blocks is not stored.
    LEDGER_PACKED_SITE_BITS = 18,
    LEDGER_PACKED_SUB = 1 << LEDGER_PACKED_SITE_BITS,
    LEDGER_PACKED_SUB_SHIFT = LEDGER_PACKED_SITE_BITS - 4, // From bit 4 of an address.
    LEDGER_PACKED_BIRTH_SHIFT = 19,
    LEDGER_PACKED_SLACK_MIN = 8,
    // The plain form.
    LEDGER_PLAIN_SLACK_SHIFT = 24,
    LEDGER_PLAIN_SLACK_MAX = LEDGER_KIND_WIDE << (LEDGER_KIND_SHIFT - LEDGER_PLAIN_SLACK_SHIFT),
};

#define LEDGER_SITE_MASK ((1u << LEDGER_SITE_BITS) - 1)
#define LEDGER_PACKED_SITE_MASK ((1u << LEDGER_PACKED_SITE_BITS) - 1)

/* The bits that are set in the entry of a block that has ended. */
#define LEDGER_ENDED ((uint32_t)LEDGER_KIND_ENDED << LEDGER_KIND_SHIFT)

/* The number of different births that an entry can store. Births are modulo 256 (recent.h); all
 * readers compare them modulo this number. */
enum { LEDGER_BIRTHS = 128 };

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
    uint32_t birth : 8;  // Birth number modulo LEDGER_BIRTHS, or modulo 256.
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
