/* core_leaves.h: lists the parts of the ledger for core dumps, in the record of
 * format/core_record.h. Thread-safe and async-signal-safe within an event. Without a core record,
 * the functions have no effect. */
#ifndef LEDGER_CORE_LEAVES_H
#define LEDGER_CORE_LEAVES_H

#include "base/base.h"
#include "format/core_record.h"

/* Register LEAF, a new leaf of the ledger for the span that contains ADDRESS. */
void core_leaf_add(uintptr_t address, enum core_leaf_kind kind, const void *leaf);

/* Register TABLE, the ledger's side table number I. */
void core_side_add(uint32_t i, const void *table);

#endif
