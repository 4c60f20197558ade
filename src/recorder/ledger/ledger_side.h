/* ledger_side.h: the ledger's side table and wide ledger, for the few blocks that an entry of four
 * bytes cannot describe. The functions of the side table have the contracts of ledger_insert_odd
 * and ledger_remove. Thread-safe in an event, even in a signal handler, for blocks that the caller
 * owns. */
#ifndef LEDGER_LEDGER_SIDE_H
#define LEDGER_LEDGER_SIDE_H

#include "base/base.h"
#include "format/core_record.h"
#include "ledger/ledger_entry.h"

bool ledger_side_insert(uintptr_t block, uint64_t size_bytes, uint32_t site, uint8_t birth,
                        bool odd, struct ledger_entry *ret_old);
struct ledger_entry ledger_side_remove(uintptr_t block);

/* --- ledger_wide.c: sites and sizes of blocks that packed entries cannot describe. ---------------
 *
 * Require that the granule of ADDRESS has a packed entry without a site, or that the caller is
 * about to store one. */

/* Store the block at ADDRESS. Return false if memory is exhausted. */
bool ledger_wide_insert(uintptr_t address, uint32_t size_bytes, uint32_t site);

/* Return site and size of the block at ADDRESS. The site is 0 if it is not known. */
struct ledger_entry ledger_wide_block(uintptr_t address);

/* Return the site of the block that is live at ADDRESS or was last live there; 0 = not known. */
uint32_t ledger_wide_site(uintptr_t address);

/* --- core_leaves.c: creates leaves, and lists the parts of the ledger for core dumps, in the
 * record of format/core_record.h. Without a core record, nothing is listed. Thread-safe and
 * async-signal-safe in an event. */

/* Return the leaf of KIND for the span that contains ADDRESS. *PLACE, a pointer, is the leaf's
 * entry in the top level. If *PLACE is NULL, create the leaf with SIZE_BYTES, as mem_once does, and
 * list it. Return NULL if memory is exhausted. */
void *core_leaf_make(void *place, uintptr_t address, enum core_leaf_kind kind, size_t size_bytes);

/* List TABLE, the ledger's side table number I. */
void core_side_add(uint32_t i, const void *table);

#endif
