/* held.h: blocks that the real allocator has requested and that are not counted yet; see held.c.
 * Call all of these in an event of T. Async-signal-safe. */
#ifndef EVENT_HELD_H
#define EVENT_HELD_H

#include "account/thread.h"
#include "platform/arch_x86_64.h"

/* Hold back block P of SIZE_BYTES, requested from CALLER. ODD as in block.h. */
void held_add(struct thread *t, void *p, size_t size_bytes, bool odd, struct arch_caller caller);

/* Count the block at P, if it is held back, because it is about to be freed. */
void held_count_before_free(struct thread *t, const void *p);

/* Count the blocks from index MARK on, except the one that contains RESULT, the block that the real
 * allocator has returned; NULL: none. Return true if RESULT is that block, unchanged, and the
 * allocator can return its size. */
bool held_settle(struct thread *t, uint32_t mark, const void *result);

/* Count all blocks from index MARK on. */
void held_count(struct thread *t, uint32_t mark);

#endif
