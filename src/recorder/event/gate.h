/* gate.h: the gate in front of every allocation and free when not everything is recorded.
 *
 * Each thread has credit; an allocation is charged its size (or 1, when calls are counted). What
 * leaves credit passes: straight to the next allocator, nothing else. In exact mode the credit is
 * so low that nothing passes, for the price of one subtraction and one branch. A new thread has
 * none, so its first call takes a look.
 */
#ifndef EVENT_GATE_H
#define EVENT_GATE_H

#include "account/thread.h"
#include "base/atomics.h"
#include "event/filter.h"
#include "event/way.h"

enum gate {
    GATE_PASS,   // Not chosen: leave it alone.
    GATE_EXACT,  // Record it as it is.
    GATE_SAMPLE, // Record it as a sample, in tls.sampled_way.
    GATE_FIRST,  // Recording has not started: make the call, then ask gate_first.
};

/* The credit is used up: what becomes of this call from SLOT for SIZE_BYTES? */
enum gate gate_look(uint64_t size_bytes, uint64_t slot);

/* The same when the call has been made; starts recording. */
enum gate gate_first(uint64_t size_bytes, uint64_t slot);

/* Charge a call for SIZE_BYTES. True: it is to be left alone. */
static inline bool
gate_passes(uint64_t size_bytes)
{
    int64_t left = tls.credit - (int64_t)draw_charge(size_bytes, tls.charge_mask);

    tls.credit = left;
    return likely(left >= 0);
}

/* Is the thread not in the recorder, and does it record every call? Two loads: one of both words
 * would have to wait for the latest store of the first to reach the cache. */
static inline bool
gate_is_plain(void)
{
    return likely(tls.busy == BUSY_NO) && likely(tls.exact);
}

/* What becomes of a call for SIZE_BYTES from SLOT that does not pass. */
static inline enum gate
gate_what(uint64_t size_bytes, uint64_t slot)
{
    return gate_is_plain() ? GATE_EXACT : gate_look(size_bytes, slot);
}

/* What becomes of a call for SIZE_BYTES from SLOT: charge it, and ask if it does not pass. */
static inline enum gate
gate_of(uint64_t size_bytes, uint64_t slot)
{
    return gate_passes(size_bytes) ? GATE_PASS : gate_what(size_bytes, slot);
}

/* Is every block recorded now? */
static inline bool
gate_leaves_nothing_out(void)
{
    return likely(load_relaxed(&sample.mode) == DISK_MODE_EXACT);
}

/* Some blocks are left out now, and P is one of them or nobody's: its free needs no look. */
static inline bool
gate_leaves_out(const void *p)
{
    if (gate_leaves_nothing_out())
        return false;
    return likely(load_relaxed(filter_of(p)) == 0) || filter_is_nothing(p);
}

#endif
