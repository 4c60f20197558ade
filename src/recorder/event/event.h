/* event.h: records the events that the intercepted functions report.
 *
 * SLOT is the address of the intercepted function's return address (arch_caller.slot). All these
 * functions return, preserve errno, and count the events that they cannot record. They require
 * REENTRY_IDLE; reentry.h handles the other states. */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include "event/reentry.h"
#include "event/tick.h"
#include "ledger/ledger.h"
#include "platform/arch_x86_64.h"
#include "platform/state.h"

/* Begin an event of T. Return the cycle counter if this event is timed, else 0. */
static inline uint64_t
event_begins(struct thread *t)
{
    return unlikely(--t->countdown == 0) ? tick_begins(t) : 0;
}

/* End the event of T. BEGAN is the result of event_begins. T ticks every LIMIT_TICK_EVENTS
 * events. */
static inline void
event_ends(struct thread *t, uint64_t began)
{
    if (unlikely(t->countdown == 0))
        tick(t, arch_cycles() - began);
    else
        tick_if_moved(t);
}

/* Record that a call from CALLER allocated P for SIZE_BYTES. P is NULL if the call failed. Return
 * P. */
void *event_alloc(void *p, size_t size_bytes, struct arch_caller caller);

/* Like event_alloc, for a block from a function of the real allocator that may call back into
 * malloc. Requires an earlier call of reentry_real_end. */
void event_alloc_outer(void *p, size_t size_bytes, struct arch_caller caller);

/* Record that P, not NULL, is about to be freed. Handles every free; may be called in an event that
 * has begun for this free. */
void event_free(void *p, struct arch_caller caller);

/* Like fast_path_free, but C may have values to save. Always ends the event. */
void event_free_unprepared(void *p, struct ledger_place at, struct disk_counter *c);

/* Like event_free, but ignore P if no block is known to live there. */
void event_free_known(void *p, struct arch_caller caller);

/* Flush T's live bytes for the peak and leave the event. */
void event_flush(void);

/* Record the free of P, whose size the real allocator has to report, in an event that has begun.
 * Return false, without effect, if this is not the usual case of such a block; the event then
 * continues. */
bool event_free_called(void *p);

/* Remove the entry of P, which is about to be reallocated, from the ledger and return it. */
struct ledger_entry event_realloc_begin(void *p, struct arch_caller caller);

/* Like event_realloc_begin, but do not count an unknown free if no block is known to live at P. */
struct ledger_entry event_realloc_begin_known(void *p, struct arch_caller caller);

/* event_moves marks the following events of the calling thread as a move of block OLD from P to Q,
 * until event_moved is called. event_realloc_end calls both itself. */
void event_moves(struct ledger_entry old, const void *p, const void *q);
void event_moved(void);

/* Record that the reallocation of P to SIZE_BYTES returned RESULT. OLD is the ledger entry that P
 * had. OK is false if the call failed, so that P is still live. */
void event_realloc_end(void *p, struct ledger_entry old, void *result, size_t size_bytes, bool ok,
                      struct arch_caller caller);

/* A call of dlclose from SLOT has returned, or the dynamic linker has called from SLOT to map an
 * object: look for modules that were unloaded. */
void event_unloaded(uint64_t slot);

#endif
