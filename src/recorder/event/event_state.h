/* event_state.h: the state for events, a part of platform/state.h. */
#ifndef EVENT_EVENT_STATE_H
#define EVENT_EVENT_STATE_H

#include "platform/state.h"

struct event_state {
    uint64_t early_events; // Atomic: events during another thread's start that the header does not
                           // yet include.

    /* mode.c, request.c, errors.c */
    uint32_t gaps;           // Set once some blocks may not have been recorded.
    uint32_t change_busy;    // Atomic: a thread is changing the recording mode or taking a snapshot
                             // for a tool.
    uint64_t control_seen;   // Generation of the latest answered request.
    uint64_t sampled_events; // Atomic: number of events that samples represent.

    /* guard.c */
    bool guard_due; // A guest (process.h) has started recording: the owner still lacks the
                    // recorder's handlers.

    /* fork_child.c */
    uint32_t fork_child_tid;    // Id of the thread that must finish an event of the parent; 0 =
                                // none.
    uint64_t fork_child_events; // Atomic: number of events lost until then.

    /* tick.c */
    uint64_t interval_ns;   // Interval of the timeline.
    uint64_t next_point_ns; // Atomic: elapsed time of the timeline's next point.
    uint64_t dated_epoch;   // The peak epoch whose time the header has.
    uint32_t timeline_busy; // Atomic.
};
static_assert(sizeof(struct event_state) <= STATE_EVENT_BYTES, "platform/state.h reserves it");

/* Return this part of the state. Requires that `state` is not NULL. */
static inline struct event_state *
event_state(void)
{
    return (struct event_state *)(void *)state->event;
}

#endif
