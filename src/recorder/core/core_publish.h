/* core_publish.h: publishes the record that makes a core dump readable. format/core_record.h
 * specifies it. Thread-safe and async-signal-safe within an event. */
#ifndef CORE_CORE_PUBLISH_H
#define CORE_CORE_PUBLISH_H

#include "base/atomics.h"
#include "format/core_record.h"
#include "ledger/ledger_state.h"
#include "platform/state.h"

struct thread;

/* Create the record, still without its magic. Return false without memory. Without this call the
 * other functions have no effect. */
bool core_record_start(void);

/* Fill in the record from the profile's header, which must be complete, and publish it. Store the
 * part that children inherit in *ORIGIN, a variable. */
void core_record_publish(struct core_origin *origin);

/* Include the latest blocks of T, a new row, in core dumps. */
void core_record_add_thread(const struct thread *t);

/* Record ELAPSED_NS as the latest time. */
static inline void
core_record_set_time(uint64_t elapsed_ns)
{
    if (ledger_state()->core != NULL)
        store_relaxed(&ledger_state()->core->last_ns, elapsed_ns);
}

#endif
