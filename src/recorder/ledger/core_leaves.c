/* core_leaves.c: creates leaves of the ledger, and lists its parts in the core record. The ledger's
 * top level is 64 MiB of address space, nearly all zeros. Tools that write dumps through a pipe
 * would write all of it, so dumps exclude it. Instead each leaf is listed when it is created, once
 * per 16 MiB of heap. Events on the fast path do not execute this code. */
#include "ledger/ledger_side.h"

#include "base/atomics.h"
#include "ledger/ledger_state.h"
#include "platform/mem.h"
#include "platform/state.h"

/* Return chunk I of the list of leaves, created on first use. Return NULL if memory is
 * exhausted. */
static struct core_leaf *
chunk(struct core_record *r, uint64_t i)
{
    uint64_t current = load_acquire(&r->leaf_chunks[i]);
    size_t size_bytes = sizeof(struct core_leaf) * CORE_CHUNK_LEAVES;
    struct core_leaf *made;

    if (current != 0)
        return (struct core_leaf *)(uintptr_t)current;
    made = mem_dumped(size_bytes);
    if (made == NULL || cas_acq_rel(&r->leaf_chunks[i], &current, (uint64_t)(uintptr_t)made))
        return made;
    mem_release(made, size_bytes);
    return (struct core_leaf *)(uintptr_t)current;
}

/* List LEAF, a new leaf of KIND for the span that contains ADDRESS. */
static void
core_leaf_add(uintptr_t address, enum core_leaf_kind kind, const void *leaf)
{
    struct core_record *r = ledger_state()->core;
    struct core_leaf *leaves;
    uint64_t i;

    if (r == NULL)
        return;
    i = add_relaxed(&r->leaf_count, UINT64_C(1));
    leaves = i / CORE_CHUNK_LEAVES < CORE_CHUNKS ? chunk(r, i / CORE_CHUNK_LEAVES) : NULL;
    if (leaves == NULL)
        return;
    leaves += i % CORE_CHUNK_LEAVES;
    leaves->span = round_down(address, UINT64_C(1) << CORE_SPAN_BITS) + kind;
    store_release(&leaves->leaf, (uint64_t)(uintptr_t)leaf);
}

void *
core_leaf_make(void *place, uintptr_t address, enum core_leaf_kind kind, size_t size_bytes)
{
    bool is_new;
    void *leaf = mem_once(place, mem_dumped, size_bytes, &is_new);

    if (is_new)
        core_leaf_add(address, kind, leaf);
    return leaf;
}

void
core_side_add(uint32_t i, const void *table)
{
    if (ledger_state()->core != NULL)
        store_release(&ledger_state()->core->sides[i], (uint64_t)(uintptr_t)table);
}
