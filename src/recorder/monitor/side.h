/* side.h: the ledger's side table, for the few blocks that its four bytes cannot describe. */
#ifndef MONITOR_SIDE_H
#define MONITOR_SIDE_H

#include "monitor/ledger.h"

bool side_insert(uintptr_t block, uint64_t size_bytes, uint32_t site, struct ledger_entry *ret_old);
struct ledger_entry side_remove(uintptr_t block);

#endif
