/* event_state.h: the part of the state for events. See platform/state.h. */
#ifndef EVENT_EVENT_STATE_H
#define EVENT_EVENT_STATE_H

#include "platform/state.h"

struct event_state {
    uint64_t early_events; // Atomic: events while another thread was starting, not yet counted.

    /* mode.c, request.c, errors.c */
    uint32_t gaps;           // Set once some blocks may have been left out.
    uint32_t change_busy;    // Atomic: a thread is changing the recording mode or setting a mark.
    uint64_t control_seen;   // Generation of the latest request that was answered.
    uint64_t sampled_events; // Atomic: events that samples stand for.

    /* guard.c */
    bool guard_due; // A guest (identity.h) has started: the owner lacks the recorder's handlers.

    /* fork_child.c */
    uint32_t fork_child_tid;    // The thread that must finish a parent's event; 0 = none.
    uint64_t fork_child_events; // Atomic: events lost until then.

    /* tick.c */
    uint64_t interval_ns;   // The timeline's.
    uint64_t next_point_ns; // Atomic.
    uint64_t dated_epoch;   // The peak epoch whose time is in the header.
    uint32_t timeline_busy; // Atomic.
};
static_assert(sizeof(struct event_state) <= STATE_EVENT_BYTES, "platform/state.h reserves it");

/* Requires `state` not to be NULL. */
static inline struct event_state *
event_state(void)
{
    return (struct event_state *)(void *)state->event;
}

#endif
