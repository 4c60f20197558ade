/* ledger_hooked.h: the ledger for blocks that do not come from malloc. See ledger_hooked.c. */
#ifndef LEDGER_LEDGER_HOOKED_H
#define LEDGER_LEDGER_HOOKED_H

#include "base/atomics.h"
#include "ledger/ledger_entry.h"
#include "ledger/ledger_state.h"
#include "platform/state.h"

/* Like ledger_insert_odd, ledger_remove and ledger_clear_freed, for a KEY from
 * ledger_hooked_key. */
bool ledger_hooked_insert(uintptr_t key, uint64_t size_bytes, uint32_t site, uint8_t birth,
                          struct ledger_entry *ret_old);
struct ledger_entry ledger_hooked_remove(uintptr_t key);
void ledger_hooked_clear_freed(uintptr_t key);

/* Return true if a block was ever inserted into the hooked ledger. */
static inline bool
ledger_hooked_is_used(void)
{
    return unlikely(load_relaxed(&ledger_state()->hooked_ledger) != NULL);
}

/* --- ledger_prefault.c: prefaults pages of the ledger that a growing heap will need. */

/* Prefault pages of the ledger, if any, that the heap of P is about to need. P is a recent block of
 * the thread, from malloc. A stores the thread's observations between calls. Async-signal-safe. */
void ledger_prefault(struct ledger_prefaulted *a, const void *p);

#endif
