/* dumped.h: the record by which a core dump is read; format/core_record.h says what is in it. Any
 * thread may call these, also in a signal handler's event.
 */
#ifndef ACCOUNT_DUMPED_H
#define ACCOUNT_DUMPED_H

#include "base/atomics.h"
#include "format/core_record.h"
#include "platform/state.h"

struct thread;

/* Make the record, as yet without its magic. False without memory. Where it was never called, the
 * others here do nothing. */
bool dumped_start(void);

/* Fill in the record from the profile's header, which is complete, and publish it. ORIGIN, a
 * variable, gets what children inherit. */
void dumped_publish(struct core_origin *origin);

/* The ledger has a new LEAF for the span that begins at ADDRESS. */
void dumped_leaf(uintptr_t address, enum core_leaf_kind kind, const void *leaf);

/* The ledger has side table I at TABLE. */
void dumped_side(uint32_t i, const void *table);

/* T is a new row: have dumps hold its latest blocks. */
void dumped_thread(const struct thread *t);

/* The clock says ELAPSED_NS. */
static inline void
dumped_moment(uint64_t elapsed_ns)
{
    if (state->core != NULL)
        store_relaxed(&state->core->last_ns, elapsed_ns);
}

#endif
