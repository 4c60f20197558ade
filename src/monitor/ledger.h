/* ledger.h: live block -> site and requested size, without touching the heap. */
#ifndef MONITOR_LEDGER_H
#define MONITOR_LEDGER_H

#include "base/base.h"

/* Sites must fit in this. */
enum { LEDGER_SITE_BITS = 22 };

/* One leaf of the ledger is for that many bits of address; sample.h looks into it. */
enum { LEDGER_SPAN_BITS = 24 };

/* In a sample's entry the bits above the site say how it was chosen. */
#define LEDGER_ROUNDED_UP (1u << LEDGER_SITE_BITS)
enum { LEDGER_PHASE_SHIFT = LEDGER_SITE_BITS + 1 }; // Phase plus 1.

struct ledger_entry {
    uint32_t site;       // 0 = not known to be live. A sample: more than LEDGER_SITE_BITS.
    uint32_t freed_site; // By ledger_remove: the site of a block that was here and has ended.
    uint64_t size_bytes; // Requested.
};

bool ledger_start(void);

/* Is it the entry of a block that was recorded as it is, neither unknown nor a sample? */
static inline bool
ledger_is_exact(struct ledger_entry e)
{
    return e.site - 1 < (1u << LEDGER_SITE_BITS) - 1;
}

/* Remember block P. USABLE_BYTES is what ledger_usable says of it. *RET_OLD gets the entry that
 * was still there, if any: a block whose free went unseen. False when there was no memory: the
 * block is not known. */
bool ledger_insert(const void *p, uint64_t size_bytes, uint32_t site, struct ledger_entry *ret_old);

/* P is live no more; site 0 if it was not known. Must be called while P is still the caller's. */
struct ledger_entry ledger_remove(const void *p);

/* As ledger_insert for a pointer whose size word cannot be trusted (not what the allocator
 * returned), and for a sample, whose SITE has the bits above. */
bool ledger_insert_odd(const void *p, uint64_t size_bytes, uint32_t site,
                       struct ledger_entry *ret_old);

/* Forget that a block has lived at P, where none does now. */
void ledger_forget(const void *p);

#endif
