/* ledger_entry.h: what the ledger knows of a block, and how keys and sites are packed. */
#ifndef ACCOUNT_LEDGER_ENTRY_H
#define ACCOUNT_LEDGER_ENTRY_H

#include "base/base.h"
#include "platform/arch_x86_64.h"

enum {
    LEDGER_SITE_BITS = 22, // Sites must fit in this.
    LEDGER_SUB_SHIFT = LEDGER_SITE_BITS,
    LEDGER_SLACK_SHIFT = 24,
    LEDGER_SPAN_BITS = 24,
    LEDGER_TOP_ENTRIES = 1 << (ARCH_ADDRESS_BITS - LEDGER_SPAN_BITS),
    LEDGER_GLIBC_SHIFT = 5, // Of a granule when the allocator is glibc's.
    LEDGER_SLACK_SIDE = 254,
    LEDGER_SLACK_ENDED = 255,
};

#define LEDGER_SITE_MASK ((1u << LEDGER_SITE_BITS) - 1)

/* Above all addresses: the key of a block of another allocator than malloc's (ledger_hooked.c). */
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

/* In a sample's entry the bits above the site say how it was chosen. */
#define LEDGER_ROUNDED_UP (1u << LEDGER_SITE_BITS)
enum { LEDGER_WAY_SHIFT = LEDGER_SITE_BITS + 1 }; // Way plus 1.

/* All of these bits of a block that backs one of the program's own heaps: no way of recording,
 * rounded up. */
#define LEDGER_BACKING LEDGER_ROUNDED_UP

struct ledger_entry {
    uint32_t site;       // 0 = not known to be live. A sample: more than LEDGER_SITE_BITS.
    // By ledger_remove: the site of a block that was here and has ended.
    uint32_t freed_site : LEDGER_SITE_BITS;
    uint32_t birth : 8;  // Of recent.h.
    uint32_t odd : 1;    // By ledger_remove: no allocator must be asked about it.
    uint64_t size_bytes; // Requested.
};

/* Where a thread's heap grows, as far as seen. All zero at first. */
struct ledger_ahead {
    uintptr_t first; // Of the stretch in which it has grown.
    uintptr_t top;   // The highest block seen there.
    uintptr_t made;  // What is below has its pages.
    uintptr_t looks; // So many blocks have been looked at since `top` was.
};

/* Is it the entry of a block that was recorded as it is, neither unknown nor a sample? */
static inline bool
ledger_is_exact(struct ledger_entry e)
{
    return e.site - 1 < LEDGER_SITE_MASK;
}

/* Is it that of a block that backs one of the program's own heaps? */
static inline bool
ledger_is_backing(struct ledger_entry e)
{
    return e.site >> LEDGER_SITE_BITS == LEDGER_BACKING >> LEDGER_SITE_BITS;
}

#endif
