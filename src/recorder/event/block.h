/* block.h: records the begin and the end of blocks; see block.c. Call in an event of T. */
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

/* Count the allocation of P at SITE and insert P into the ledger. ODD: the size word of P cannot be
 * trusted. Store the change of live bytes in *RET_CHANGE. Return the counter of P. If memory is
 * exhausted, count the event as lost and return NULL. */
struct disk_counter *block_begins(struct thread *t, void *p, uint64_t size_bytes, bool odd,
                                  uint32_t site, int64_t *ret_change);

/* Count the free of block OLD, which the ledger still had for P although the block was freed
 * unseen. Return the change of live bytes. */
int64_t block_ends_unseen(struct thread *t, struct ledger_entry old, const void *p);

/* Count that the block OLD at P leaves its site. REALLOCATED: it has moved; else realloc(p, 0) has
 * freed it. Return the change of live bytes. */
int64_t block_moves(struct thread *t, struct ledger_entry old, const void *p, bool reallocated);

/* Insert the block OLD, which is still at P, into the ledger again. */
void block_keep_again(struct thread *t, void *p, struct ledger_entry old);

/* Begin the sample P of SIZE_BYTES, recorded in tls.sampled_mode, at the stack that called from
 * CALLER. Return its counter. If memory is exhausted, count the event as lost and return NULL. */
struct disk_counter *block_sample_begins(struct thread *t, void *p, uint64_t size_bytes,
                                         struct arch_caller caller,
                                         struct draw_weight *ret_weight, int64_t *ret_change);

/* Count the end of the sample OLD at P, or of the block OLD that backs a heap. MOVED: realloc has
 * moved the block. Return the change of live bytes. */
int64_t block_sample_ends(struct thread *t, struct ledger_entry old, const void *p, bool moved);

/* Undo the allocation of sample OLD, as if the block had not been sampled; the program still owns
 * the block at P. Return the change of live bytes. */
int64_t block_sample_undo(struct thread *t, struct ledger_entry old, const void *p);

#endif
