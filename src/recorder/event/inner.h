/* inner.h: events of the real allocator itself, which a function in progress has called back; see
 * inner.c. Each requires that reentry_begin returned REENTRY_CALLED_BACK. Async-signal-safe. */
#ifndef EVENT_INNER_H
#define EVENT_INNER_H

#include "event/gate.h"
#include "ledger/ledger.h"
#include "platform/arch_x86_64.h"

/* The real allocator's function has allocated P, or NULL. ODD as in block.h. */
void inner_alloc(void *p, size_t size_bytes, bool odd, enum gate gate, struct arch_caller caller);

/* That function is about to free P. */
void inner_free(void *p, struct arch_caller caller);

/* It is about to reallocate P, which may be NULL: remove its entry from the ledger and return
 * it. */
struct ledger_entry inner_realloc_begin(void *p, struct arch_caller caller);

/* It has reallocated P, whose entry was OLD, and got RESULT. */
void inner_realloc_end(void *p, struct ledger_entry old, void *result, size_t size_bytes,
                       enum gate gate, struct arch_caller caller);

#endif
