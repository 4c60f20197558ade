/* event_state.h: the part of platform/state.h for events. */
#ifndef EVENT_EVENT_STATE_H
#define EVENT_EVENT_STATE_H

#include "platform/state.h"

struct event_state {
    uint64_t early_events; // Atomic: number of events during another thread's start that are not
                           // yet in the header.
    uint32_t start_overdue; // Atomic: 1 once a thread has waited in vain for the start.

    /* mode.c, request.c, errors.c */
    uint32_t gaps;           // Nonzero once some blocks may have been left unrecorded.
    uint32_t change_busy;    // Atomic: a thread is changing the recording mode or taking a snapshot
                             // for a tool.
    uint64_t control_seen;   // Generation of the latest answered request.
    uint64_t sampled_events; // Atomic: number of events that samples represent.

    /* guard.c */
    bool guard_due; // True if a guest (process.h) has started recording and the owner does not have
                    // the recorder's handlers yet.

    /* fork_child.c */
    uint32_t fork_child_tid;    // Id of the thread that must finish an event of the parent; 0 =
                                // none.
    uint64_t fork_child_events; // Atomic: number of events lost before that thread has finished.

    /* tick.c */
    uint64_t interval_ns;   // Time between two points of the timeline.
    uint64_t next_point_ns; // Atomic: elapsed time when the timeline's next point is due.
    uint64_t dated_epoch;   // Epoch of the peak whose time the header has.
    uint32_t timeline_busy; // Atomic: 1 while a thread is changing the timeline.
};
static_assert(sizeof(struct event_state) <= STATE_EVENT_BYTES, "platform/state.h reserves it");

/* Return this part of the state. Requires that `state` is not NULL. */
static inline struct event_state *
event_state(void)
{
    return (struct event_state *)(void *)state->event;
}

#endif
