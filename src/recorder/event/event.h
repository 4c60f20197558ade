/* event.h: what the intercepted functions tell the recorder.
 *
 * SLOT is where the return address of the intercepted function lies (arch_caller.slot). All of
 * these return to the caller whatever happens, leave errno alone, and count what they cannot
 * record. Only called when tls.busy is BUSY_NO; otherwise see nest.h.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include "account/ledger.h"
#include "event/enter.h"
#include "event/tick.h"
#include "platform/arch_x86_64.h"
#include "platform/state.h"

/* An event of T begins: the cycle counter if it is the one to be timed, else 0. */
static inline uint64_t
event_begins(struct thread *t)
{
    return unlikely(--t->countdown == 0) ? tick_begins(t) : 0;
}

/* The event of T ends for which event_begins gave BEGAN. If it was the one to be timed, T ticks. */
static inline void
event_ends(struct thread *t, uint64_t began)
{
    if (unlikely(t->countdown == 0))
        tick(t, arch_cycles() - began);
}

/* P (NULL: the call failed) was allocated for SIZE_BYTES by a call from CALLER. Returns P. */
void *event_alloc(void *p, size_t size_bytes, struct arch_caller caller);

/* Like event_alloc, for a block that a function calling back into malloc returned; nest_settle has
 * been called. */
void event_alloc_outer(void *p, size_t size_bytes, struct arch_caller caller);

/* P, not NULL, is about to be freed. Any free may be told like this; one that is ordinary is
 * cheaper told by ordinary_free. */
void event_free(void *p, struct arch_caller caller);

/* The same, but if no block is known to live at P, that is not worth a word. */
void event_free_known(void *p, struct arch_caller caller);

/* Settle the peak and clear tls.busy, as ORDINARY_TO_SETTLE asks. */
void event_settle(void);

/* P is about to be reallocated: take out of the ledger what it knew of P, and return that. */
struct ledger_entry event_realloc_begin(void *p, struct arch_caller caller);

/* The same, but if no block is known to live at P, that is not worth a word. */
struct ledger_entry event_realloc_begin_known(void *p, struct arch_caller caller);

/* What the calling thread records until event_moved is what P, which was OLD, has become, at Q;
 * event_realloc_end says so itself. */
void event_moves(struct ledger_entry old, const void *p, const void *q);
void event_moved(void);

/* The reallocation of P, of which OLD was known, gave RESULT for SIZE_BYTES; OK is false if it
 * failed, so that P still lives. */
void event_realloc_end(void *p, struct ledger_entry old, void *result, size_t size_bytes, bool ok,
                      struct arch_caller caller);

/* dlclose, called from SLOT, has returned: something may have been unloaded. */
void event_unloaded(uint64_t slot);

#endif
