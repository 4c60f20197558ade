/* core_publish.h: publishes the record that makes a core dump readable. format/core_record.h
 * specifies it. Thread-safe and async-signal-safe within an event. */
#ifndef CORE_CORE_PUBLISH_H
#define CORE_CORE_PUBLISH_H

#include "base/atomics.h"
#include "format/core_record.h"
#include "ledger/ledger_state.h"
#include "platform/state.h"

struct thread;

/* Create the record without its magic, so that no reader accepts it yet. Return false if there is
 * no memory. Without this call the other functions have no effect. */
bool core_record_start(void);

/* Fill in the record from the profile's header, which must be complete, and publish the record.
 * Store in the variable *ORIGIN the fields that forked children inherit. */
void core_record_publish(struct core_origin *origin);

/* Make core dumps include the latest blocks of the new thread T. */
void core_record_add_thread(const struct thread *t);

/* Store ELAPSED_NS in the record as the time of the latest clock reading. */
static inline void
core_record_set_time(uint64_t elapsed_ns)
{
    if (ledger_state()->core != NULL)
        store_relaxed(&ledger_state()->core->last_ns, elapsed_ns);
}

#endif
