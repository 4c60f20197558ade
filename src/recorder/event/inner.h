/* inner.h: records inner events: a function of the real allocator has called back into the
 * recorder. See inner.c. Requires that reentry_begin found REENTRY_CALLED_BACK.
 * Async-signal-safe. */
#ifndef EVENT_INNER_H
#define EVENT_INNER_H

#include "event/gate.h"
#include "ledger/ledger.h"
#include "platform/arch_x86_64.h"

/* Record that the function in progress has allocated P; NULL = the allocation failed. ODD: see
 * block.h. */
void inner_alloc(void *p, size_t size_bytes, bool odd, enum gate gate, struct arch_caller caller);

/* Record that the function in progress is about to free P. */
void inner_free(void *p, struct arch_caller caller);

/* Prepare for the reallocation of P, which may be NULL: remove its entry from the ledger and return
 * it. */
struct ledger_entry inner_realloc_begin(void *p, struct arch_caller caller);

/* Record the reallocation of P, whose entry was OLD. RESULT is the new block. */
void inner_realloc_end(void *p, struct ledger_entry old, void *result, size_t size_bytes,
                       enum gate gate, struct arch_caller caller);

#endif
