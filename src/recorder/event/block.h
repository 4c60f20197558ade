/* block.h: how blocks begin and end; see block.c. Call in an event of T. */
#ifndef EVENT_BLOCK_H
#define EVENT_BLOCK_H

#include "access/counted_blocks.h"
#include "account/count.h"
#include "account/nodes.h"
#include "account/peak.h"
#include "account/recent.h"
#include "account/thread.h"
#include "ledger/ledger.h"
#include "platform/arch_x86_64.h"
#include "sampling/draw.h"

/* Slow path of block_keep: the block does not fit into a direct entry, or is ODD: its size word
 * cannot be trusted. */
int64_t block_keep_slow(struct thread *t, void *p, struct ledger_entry block, bool odd);

/* Insert BLOCK at P into the ledger. Return the change of live bytes due to a block that was still
 * there. */
static inline int64_t
block_keep(struct thread *t, void *p, struct ledger_entry block, bool odd)
{
    struct ledger_place at = ledger_direct_place(t->ledger, t->direct_units, p);
    uint32_t entry;

    if (likely(!odd) && likely(at.leaf != NULL) &&
        likely(ledger_direct_entry(p, block.size_bytes, block.site, ledger_slot_at(at), &entry))) {
        store_relaxed(ledger_direct_birth(at), (uint8_t)block.birth);
        store_relaxed(ledger_slot_at(at), entry);
        access_begins(p, block.size_bytes, false);
        return 0;
    }
    return block_keep_slow(t, p, block, odd);
}

/* Count the allocation of P at SITE and insert it into the ledger. *RET_CHANGE gets the change of
 * live bytes. Return its counter; NULL without memory: the event is lost, and counted. */
static inline struct disk_counter *
block_begins_at(struct thread *t, void *p, uint64_t size_bytes, bool odd, uint32_t site,
                int64_t *ret_change)
{
    struct disk_counter *c = thread_counter(t, site);
    struct ledger_entry block = {.site = site,
                                 .birth = recent_begins(t, p, recent_entry(p, site)),
                                 .size_bytes = size_bytes};

    *ret_change = 0;
    if (unlikely(c == NULL)) {
        bump(&t->disk->no_memory_events);
        return NULL;
    }
    count_alloc(t, c, size_bytes);
    *ret_change = (int64_t)size_bytes + block_keep(t, p, block, odd);
    return c;
}

/* Like block_begins_at, at the site in SITES for this size. */
static inline struct disk_counter *
block_begins(struct thread *t, void *p, uint64_t size_bytes, bool odd, uint32_t *sites,
             int64_t *ret_change)
{
    return block_begins_at(t, p, size_bytes, odd, nodes_site(sites, size_bytes), ret_change);
}

/* Like block_begins, and settle the change of live bytes. */
void block_count_in(struct thread *t, void *p, uint64_t size_bytes, bool odd, uint32_t *sites);

/* Count the unseen free of block OLD, which the ledger held for P. Return the change of live
 * bytes. */
int64_t block_ends_unseen(struct thread *t, struct ledger_entry old, const void *p);

/* The block OLD at P leaves its site: moved if REALLOCATED, else freed by realloc(p, 0). Return the
 * change of live bytes. */
int64_t block_moves(struct thread *t, struct ledger_entry old, const void *p, bool reallocated);

/* The block OLD is still at P: insert it into the ledger again. */
void block_keep_again(struct thread *t, void *p, struct ledger_entry old);

/* Begin the sample P of SIZE_BYTES, recorded in tls.sampled_mode, at the stack that called from
 * CALLER. Return its counter; NULL without memory: the event is lost, and counted. */
struct disk_counter *block_sample_begins(struct thread *t, void *p, uint64_t size_bytes,
                                         struct arch_caller caller,
                                         struct draw_weight *ret_weight, int64_t *ret_change);

/* End the sample OLD at P, or the backing of a heap by the block there. MOVED: by realloc. Return
 * the change of live bytes. */
int64_t block_sample_ends(struct thread *t, struct ledger_entry old, const void *p, bool moved);

/* Undo the allocation of sample OLD, as if it had not been chosen; the program still owns the block
 * at P. Return the change of live bytes. */
int64_t block_sample_undo(struct thread *t, struct ledger_entry old, const void *p);

#endif
