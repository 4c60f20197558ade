/* gate.h: decides at every allocation and free whether the event is recorded, in modes that do not
 * record every block.
 *
 * Each thread has credit. An allocation is charged its size, or 1 in a mode that samples calls.
 * While credit is left, the call passes directly to the real allocator. In exact mode the most
 * frequent functions charge nothing (gate_is_plain). For the others the credit is so low that no
 * call passes. A new thread has no credit, so its first call takes the slow path. */
#ifndef EVENT_GATE_H
#define EVENT_GATE_H

#include "account/thread.h"
#include "base/atomics.h"
#include "event/filter.h"
#include "event/mode.h"
#include "event/reentry.h"

enum gate {
    GATE_PASS,   // Not recorded: only call the real allocator.
    GATE_EXACT,  // Record the block exactly.
    GATE_SAMPLE, // Record the block as a sample, in tls.sampled_mode.
    GATE_FIRST,  // Recording has not started: call the real allocator, then gate_first.
};

/* Decide about a call from SLOT for SIZE_BYTES whose thread has used up its credit. */
enum gate gate_refill(uint64_t size_bytes, uint64_t slot);

/* Start recording and decide like gate_refill, after the real allocator was called. */
enum gate gate_first(uint64_t size_bytes, uint64_t slot);

/* Charge a call for SIZE_BYTES. Return true if it passes, i.e. needs no event. */
static inline bool
gate_passes(uint64_t size_bytes)
{
    int64_t left = tls.credit - (int64_t)draw_charge(size_bytes, tls.charge_mask);

    tls.credit = left;
    return likely(left >= 0);
}

/* Return true if the thread is not in the recorder and records every call. Reads the two words by
 * separate loads, because a single load of both would have to wait for the latest store to the
 * first. */
static inline bool
gate_is_plain(void)
{
    return reentry_is_idle() && likely(tls.exact);
}

/* Decide about a call for SIZE_BYTES from SLOT that exceeds the thread's credit. */
static inline enum gate
gate_what(uint64_t size_bytes, uint64_t slot)
{
    return gate_is_plain() ? GATE_EXACT : gate_refill(size_bytes, slot);
}

/* Charge a call for SIZE_BYTES from SLOT, and decide about it. */
static inline enum gate
gate_of(uint64_t size_bytes, uint64_t slot)
{
    return gate_passes(size_bytes) ? GATE_PASS : gate_what(size_bytes, slot);
}

/* Return true if the present mode records every block. */
static inline bool
gate_leaves_nothing_out(void)
{
    return likely(load_relaxed(&sample.mode) == DISK_MODE_EXACT);
}

/* Return true if no recorded block is at P, so that its free needs no event. Requires that the
 * present mode leaves some blocks unrecorded. */
static inline bool
gate_has_left_out(const void *p)
{
    return likely(load_relaxed(filter_of(p)) == 0) || filter_is_nothing(p);
}

/* Return true if the present mode leaves some blocks unrecorded and no recorded block is at P. */
static inline bool
gate_leaves_out(const void *p)
{
    return !gate_leaves_nothing_out() && gate_has_left_out(p);
}

#endif
