/* apart.h: the ledger of blocks that do not come from malloc. See apart.c. */
#ifndef MONITOR_APART_H
#define MONITOR_APART_H

#include "monitor/ledger.h"

/* As ledger_insert_odd and ledger_remove for a key of ledger_apart. */
bool apart_insert(uintptr_t key, uint64_t size_bytes, uint32_t site, struct ledger_entry *ret_old);
struct ledger_entry apart_remove(uintptr_t key);
void apart_forget(uintptr_t key);

/* Has anything ever been in it? */
static inline bool
apart_is_used(void)
{
    return unlikely(load_relaxed(&state->apart) != NULL);
}

#endif
