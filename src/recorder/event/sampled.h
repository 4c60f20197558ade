/* sampled.h: handles events in modes that do not record every block; see sampled.c. */
#ifndef EVENT_SAMPLED_H
#define EVENT_SAMPLED_H

#include "account/thread.h"
#include "event/gate.h"
#include "ledger/ledger.h"
#include "platform/arch_x86_64.h"

/* Like event_alloc, for a block P that the gate has selected as a sample. P is NULL if the call
 * failed. */
void sampled_alloc(void *p, size_t size_bytes, struct arch_caller caller);

/* Like event_realloc_end, if the gate's decision GATE is not GATE_EXACT. */
void sampled_realloc_end(void *p, struct ledger_entry old, void *result, size_t size_bytes, bool ok,
                         enum gate gate, struct arch_caller caller);

/* Record a free of P, where no live block is known, in a process that has not recorded every block.
 * FREED_SITE is the site of a block that was freed at P, or 0. Call in an event of T. */
void sampled_unknown_free(struct thread *t, const void *p, uint32_t freed_site,
                          struct arch_caller caller);

#endif
