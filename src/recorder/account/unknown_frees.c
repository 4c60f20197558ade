/* unknown_frees.c: counts frees of pointers that are not live blocks.
 *
 * Such a free has one of three causes. The program has a bug: a double free, or a pointer that
 * malloc did not return. Another allocator allocated the block. Or the process is a forked child
 * and frees a block of its parent. The free is always passed on to the allocator. A bounded table
 * of the profile counts such frees by kind, stack, and site of the block that was last at the
 * address.
 *
 * Records are found through an open hash table of their ids, without locks. A thread fills in a
 * record, except for its count, and then publishes its id by a CAS. The count is incremented
 * atomically. A record whose CAS failed stays unused, with count 0.
 */
#include "account/unknown_frees.h"

#include "account/account_state.h"
#include "account/file.h"
#include "base/atomics.h"
#include "base/hash.h"
#include "ledger/ledger.h"
#include "platform/mem.h"

enum { INDEX_SLOTS = 2 * LIMIT_UNKNOWN_FREES, WINDOW = 32 };

bool
unknown_frees_start(void)
{
    account_state()->unknown_frees =
        mem_private(sizeof *account_state()->unknown_frees * INDEX_SLOTS);
    table_keep(&state->tables[DISK_UNKNOWN_FREES], 1);
    return account_state()->unknown_frees != NULL;
}

static struct disk_unknown_free *
unknown_frees_record(uint64_t id)
{
    return table_record(&state->tables[DISK_UNKNOWN_FREES], id);
}

static uint32_t
unknown_frees_make_record(enum disk_free_kind kind, uint32_t node, uint32_t site)
{
    uint64_t id = table_take(&state->tables[DISK_UNKNOWN_FREES], 1);
    struct disk_unknown_free *r;

    if (id == TABLE_NONE)
        return 0;
    r = unknown_frees_record(id);
    r->node = node;
    r->site = site;
    store_release(&r->kind, (uint32_t)kind);
    return (uint32_t)id;
}

/* Return the record of KIND, NODE and SITE, created on first use. Return 0 if there is no room. */
static uint32_t
find_record(enum disk_free_kind kind, uint32_t node, uint32_t site)
{
    uint64_t hash = hash_u64((uint64_t)node << 32 | site << 2 | kind);
    uint32_t made = 0;

    for (uint32_t i = 0; i < WINDOW; i++) {
        uint32_t *place = &account_state()->unknown_frees[(hash + i) % INDEX_SLOTS];
        uint32_t id = load_acquire(place);

        if (id == 0) {
            if (made == 0 && (made = unknown_frees_make_record(kind, node, site)) == 0)
                return 0;
            if (cas_acq_rel(place, &id, made))
                return made;
        }
        if (unknown_frees_record(id)->kind == (uint32_t)kind &&
            unknown_frees_record(id)->node == node && unknown_frees_record(id)->site == site)
            return id;
    }
    return 0;
}

void
unknown_frees_count(struct thread *t, enum disk_free_kind kind, uint32_t node, uint32_t site,
                    const void *p)
{
    uint32_t id = find_record(kind, node, site);
    uint64_t address = (uintptr_t)p;

    bump(kind == DISK_FREE_INHERITED ? &t->disk->inherited_frees : &t->disk->unknown_frees);
    if (kind == DISK_FREE_TWICE)
        bump(&t->disk->double_frees);
    if (id == 0)
        return;
    if (ledger_is_hooked(p))
        address &= ~LEDGER_HOOKED;
    store_relaxed(&unknown_frees_record(id)->address, address);
    add_relaxed(&unknown_frees_record(id)->count, UINT64_C(1));
}
