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

/* Count the allocation of P at SITE and insert it into the ledger. ODD: its size word cannot be
 * trusted. *RET_CHANGE gets the change of live bytes. Return its counter; NULL without memory: the
 * event is lost, and counted. */
struct disk_counter *block_begins(struct thread *t, void *p, uint64_t size_bytes, bool odd,
                                  uint32_t site, int64_t *ret_change);

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
