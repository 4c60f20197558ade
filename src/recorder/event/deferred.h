/* deferred.h: holds back the blocks that a function of the real allocator has requested; they are
 * counted when it returns. See deferred.c. Call these functions in an event of T.
 * Async-signal-safe. */
#ifndef EVENT_DEFERRED_H
#define EVENT_DEFERRED_H

#include "account/thread.h"
#include "platform/arch_x86_64.h"

/* Hold back block P of SIZE_BYTES, requested from CALLER. ODD: see block.h. */
void deferred_add(struct thread *t, void *p, size_t size_bytes, bool odd,
                  struct arch_caller caller);

/* Count the block at P if it is held back, because it is about to be freed. */
void deferred_count_before_free(struct thread *t, const void *p);

/* Count the blocks from index MARK on, except the block that contains RESULT. The real allocator
 * has returned RESULT; NULL = no block. Return true if RESULT is an unchanged block whose size the
 * allocator can report. */
bool deferred_resolve(struct thread *t, uint32_t mark, const void *result);

/* Count all blocks from index MARK on. */
void deferred_count(struct thread *t, uint32_t mark);

#endif
