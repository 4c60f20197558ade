/* sampled.h: events when some blocks are left out; see sampled.c. */
#ifndef EVENT_SAMPLED_H
#define EVENT_SAMPLED_H

#include "account/thread.h"
#include "event/gate.h"
#include "ledger/ledger.h"
#include "platform/arch_x86_64.h"

/* Like event_alloc, for a block P (NULL: the call failed) that the gate has chosen as a sample. */
void sampled_alloc(void *p, size_t size_bytes, struct arch_caller caller);

/* Like event_realloc_end, for a GATE that is not GATE_EXACT. */
void sampled_realloc_end(void *p, struct ledger_entry old, void *result, size_t size_bytes, bool ok,
                         enum gate gate, struct arch_caller caller);

/* Record a free of P, where no block is known to live, in a process that has left blocks out.
 * FREED_SITE: site of a block that lived there, or 0. Call in an event of T. */
void sampled_unknown_free(struct thread *t, const void *p, uint32_t freed_site,
                          struct arch_caller caller);

#endif
