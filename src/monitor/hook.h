/* hook.h: what the intercepted functions tell the recorder.
 *
 * SLOT is where the return address of the intercepted function lies (arch_caller.slot). All of
 * these return to the caller whatever happens, leave errno alone, and count what they cannot
 * record. Only called when tls.busy is BUSY_NO; otherwise hook_nested.
 */
#ifndef MONITOR_HOOK_H
#define MONITOR_HOOK_H

#include "monitor/arch_x86_64.h"
#include "monitor/ledger.h"
#include "monitor/state.h"

/* P (NULL: the call failed) was allocated for SIZE_BYTES by a call from CALLER. */
void hook_alloc(void *p, size_t size_bytes, struct arch_caller caller);

/* As hook_alloc for a block that a function calling back into malloc returned. */
void hook_alloc_outer(void *p, size_t size_bytes, struct arch_caller caller);

/* P, not NULL, is about to be freed. False: it is not the allocator's, so it must not see it. */
bool hook_free(void *p, struct arch_caller caller);

/* P is about to be reallocated: what the ledger knew of it, now taken out. */
struct ledger_entry hook_realloc_begin(void *p, struct arch_caller caller);

/* The reallocation of P, of which OLD was known, gave RESULT for SIZE_BYTES; OK is false if it
 * failed, so that P still lives. */
void hook_realloc_end(void *p, struct ledger_entry old, void *result, size_t size_bytes, bool ok,
                      struct arch_caller caller);

/* An allocation, which gave P, or a free was asked for while tls.busy was set. */
void hook_nested(void *p, uint64_t slot);
void hook_nested_free(uint64_t slot);

/* Something may have been unloaded. */
void hook_unloaded(void);

#endif
