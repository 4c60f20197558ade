/* ledger.h: live block -> site and requested size, without touching the heap. */
#ifndef MONITOR_LEDGER_H
#define MONITOR_LEDGER_H

#include "base/base.h"

/* Sites must fit in this. */
enum { LEDGER_SITE_BITS = 22 };

struct ledger_entry {
    uint32_t site;       // 0 = not known to be live.
    uint32_t freed_site; // By ledger_remove: the site of a block that was here and has ended.
    uint64_t size_bytes; // Requested.
};

bool ledger_start(void);

/* Remember block P. USABLE_BYTES is what ledger_usable says of it. *RET_OLD gets the entry that
 * was still there, if any: a block whose free went unseen. False when there was no memory: the
 * block is not known. */
bool ledger_insert(const void *p, uint64_t size_bytes, uint32_t site, struct ledger_entry *ret_old);

/* P is live no more; site 0 if it was not known. Must be called while P is still the caller's. */
struct ledger_entry ledger_remove(const void *p);

/* As ledger_insert for a pointer whose size word cannot be trusted (not what the allocator
 * returned). */
bool ledger_insert_odd(const void *p, uint64_t size_bytes, uint32_t site,
                       struct ledger_entry *ret_old);

#endif
