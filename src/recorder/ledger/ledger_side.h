/* ledger_side.h: the ledger's side table, for the few blocks that four bytes cannot describe. The
 * contracts are those of ledger_insert_odd and ledger_remove. Thread-safe in an event, even in a
 * signal handler, for blocks that the caller owns. */
#ifndef LEDGER_LEDGER_SIDE_H
#define LEDGER_LEDGER_SIDE_H

#include "ledger/ledger_entry.h"

bool ledger_side_insert(uintptr_t block, uint64_t size_bytes, uint32_t site, uint8_t birth,
                        bool odd, struct ledger_entry *ret_old);
struct ledger_entry ledger_side_remove(uintptr_t block);

#endif
