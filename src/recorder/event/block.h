/* block.h: how blocks begin and end; see block.c. For a thread that is in an event of T. */
#ifndef EVENT_BLOCK_H
#define EVENT_BLOCK_H

#include "access/counted_blocks.h"
#include "account/count.h"
#include "account/ledger.h"
#include "account/nodes.h"
#include "account/peak.h"
#include "account/recent.h"
#include "account/thread.h"
#include "platform/arch_x86_64.h"
#include "sampling/draw.h"

/* block_keep for a block that does not fit into its place as a plain one, or is ODD: its size word
 * cannot be trusted. */
int64_t block_keep_slowly(struct thread *t, void *p, struct ledger_entry block, bool odd);

/* Put BLOCK, which is at P, into the ledger. Returns the change of live bytes from a block that was
 * still there. */
static inline int64_t
block_keep(struct thread *t, void *p, struct ledger_entry block, bool odd)
{
    struct ledger_place at = ledger_plain_place(t->ledger, p);
    uint32_t entry;

    if (likely(!odd) && likely(at.leaf != NULL) &&
        likely(ledger_plain_entry(p, block.size_bytes, block.site, ledger_slot_at(at), &entry))) {
        store_relaxed(ledger_plain_birth(at), (uint8_t)block.birth);
        store_relaxed(ledger_slot_at(at), entry);
        access_begins(p, block.size_bytes, false);
        return 0;
    }
    return block_keep_slowly(t, p, block, odd);
}

/* Count P in at SITE; *RET_CHANGE is the change of live bytes. NULL: no memory, lost. */
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

/* The same at one of SITES. */
static inline struct disk_counter *
block_begins(struct thread *t, void *p, uint64_t size_bytes, bool odd, uint32_t *sites,
             int64_t *ret_change)
{
    return block_begins_at(t, p, size_bytes, odd, nodes_site(sites, size_bytes), ret_change);
}

/* Count P in at one of SITES, and settle the change of live bytes. */
void block_count_in(struct thread *t, void *p, uint64_t size_bytes, bool odd, uint32_t *sites);

/* The ledger has called the block at P OLD, and its free went unseen: count that now. Returns the
 * change of live bytes. */
int64_t block_ends_unseen(struct thread *t, struct ledger_entry old, const void *p);

/* The block OLD at P leaves its site, moved (REALLOCATED) or freed by realloc(p, 0). Returns the
 * change of live bytes. */
int64_t block_moves(struct thread *t, struct ledger_entry old, const void *p, bool reallocated);

/* The block OLD is still at P: put it back into the ledger. */
void block_keep_again(struct thread *t, void *p, struct ledger_entry old);

/* The sample P of SIZE_BYTES begins at the stack behind CALLER, in tls.sampled_way. Returns its
 * counter, with its weight and the change of live bytes in the RETs; NULL: no memory, lost. */
struct disk_counter *block_sample_begins(struct thread *t, void *p, uint64_t size_bytes,
                                         struct arch_caller caller,
                                         struct draw_weight *ret_weight, int64_t *ret_change);

/* The sample OLD at P ends, or the block there backs a heap no more; returns the change of live
 * bytes. MOVED: by realloc. */
int64_t block_sample_ends(struct thread *t, struct ledger_entry old, const void *p, bool moved);

/* The sample OLD is to have never been taken; its block at P is still its owner's. Returns the
 * change of live bytes. */
int64_t block_sample_undo(struct thread *t, struct ledger_entry old, const void *p);

#endif
