/* ledger_state.h: the part of platform/state.h for the ledger. */
#ifndef LEDGER_LEDGER_STATE_H
#define LEDGER_LEDGER_STATE_H

#include "allocator/real.h"
#include "platform/state.h"

struct ledger_state {
    uint32_t **ledger;        // Top level; ledger.c.
    uint64_t **hooked_ledger; // Atomic: top level; ledger_hooked.c. NULL = none.
    uint64_t **wide_ledger;   // Atomic: top level; ledger_wide.c. NULL = none.
    uint32_t granule_shift;   // Log2 of a granule's bytes: 5 with glibc, else 4.
    uint32_t usable;          // enum usable_mode.
    struct side *side[12];    // Atomic: tables of growing size; ledger_side.c.
    struct core_record *core; // List of leaves for core dumps: core_leaves.c. NULL = none.
    bool is_padded;           // Blocks are padded (access/padded.c). So many slacks do not fit into
                              // packed entries, and the wide ledger has the sizes.
};
static_assert(sizeof(struct ledger_state) <= STATE_LEDGER_BYTES, "platform/state.h reserves it");

/* Return this part of the state. Requires that `state` is not NULL. */
static inline struct ledger_state *
ledger_state(void)
{
    return (struct ledger_state *)(void *)state->ledger;
}

#endif
