/* hook.h: what the intercepted functions tell the recorder.
 *
 * SLOT is where the return address of the intercepted function lies (arch_caller.slot). All of
 * these return to the caller whatever happens, leave errno alone, and count what they cannot
 * record. Only called when tls.busy is BUSY_NO; otherwise see nest.h.
 */
#ifndef MONITOR_HOOK_H
#define MONITOR_HOOK_H

#include "monitor/arch_x86_64.h"
#include "monitor/enter.h"
#include "monitor/ledger.h"
#include "monitor/state.h"
#include "monitor/tick.h"

/* Cycle counter if this event is the one to be timed. */
static inline uint64_t
event_begins(struct thread *t)
{
    return unlikely(--t->countdown == 0) ? arch_cycles() : 0;
}

static inline void
event_ends(struct thread *t, uint64_t began)
{
    if (unlikely(t->countdown == 0))
        tick(t, arch_cycles() - began);
}

/* P (NULL: the call failed) was allocated for SIZE_BYTES by a call from CALLER. Returns P. */
void *hook_alloc(void *p, size_t size_bytes, struct arch_caller caller);

/* As hook_alloc for a block that a function calling back into malloc returned; nest_settle has been
 * called. */
void hook_alloc_outer(void *p, size_t size_bytes, struct arch_caller caller);

/* P, not NULL, is about to be freed. Any free may be told like this; one that is ordinary is
 * cheaper told by ordinary_free. */
void hook_free(void *p, struct arch_caller caller);

/* The same, but if no block is known to live at P, that is not worth a word. */
void hook_free_known(void *p, struct arch_caller caller);

/* What ORDINARY_TO_SETTLE asks for. */
void hook_settle(void);

/* P is about to be reallocated: what the ledger knew of it, now taken out. */
struct ledger_entry hook_realloc_begin(void *p, struct arch_caller caller);

/* The reallocation of P, of which OLD was known, gave RESULT for SIZE_BYTES; OK is false if it
 * failed, so that P still lives. */
void hook_realloc_end(void *p, struct ledger_entry old, void *result, size_t size_bytes, bool ok,
                      struct arch_caller caller);

/* dlclose, called from SLOT, has returned: something may have been unloaded. */
void hook_unloaded(uint64_t slot);

#endif
