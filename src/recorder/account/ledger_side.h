/* ledger_side.h: the ledger's side table, for the few blocks that its four bytes cannot describe.
 * These promise what ledger_insert_odd and ledger_remove do. Any thread may call them, also in a
 * signal handler's event, for blocks that are its own. */
#ifndef ACCOUNT_LEDGER_SIDE_H
#define ACCOUNT_LEDGER_SIDE_H

#include "account/ledger_entry.h"

bool ledger_side_insert(uintptr_t block, uint64_t size_bytes, uint32_t site, uint8_t birth,
                        bool odd, struct ledger_entry *ret_old);
struct ledger_entry ledger_side_remove(uintptr_t block);

#endif
