/* gate.c: selects the blocks to record in modes that do not record every block.
 *
 *     gate ─► credit left ─► the real allocator                          (gate.h, inline)
 *          └► none ─┬► poll: clock, control words, recording mode
 *                   ├► not yet a sample: new credit, pass
 *                   └► sample: draw the next distance, record with weight */
#include "event/gate.h"

#include "event/distance.h"
#include "event/filter.h"
#include "event/reentry.h"
#include "event/request.h"
#include "event/tick.h"
#include "platform/host.h"
#include "platform/sys.h"

/* Credit of an idle thread until its next poll. Additions to it cannot overflow. */
#define IDLE_CREDIT (INT64_MAX / 2)

/* Set the thread's credit so that the next sample is at a distance of CHARGE. */
static void
set_distance(int64_t charge)
{
    int64_t poll = sample.modes[tls.mode].poll;
    int64_t credit = charge < poll ? charge : poll;

    tls.reserve = charge - credit;
    tls.credit = credit;
}

/* Decide about a call for SIZE_BYTES. The call has already been charged, unless this thread has
 * just adopted the recording mode. */
static enum gate
decide(uint64_t size_bytes)
{
    const struct draw_mode *p = &sample.modes[tls.mode];
    int64_t left = tls.credit + tls.reserve;

    if (p->mode == DISK_MODE_EXACT)
        return GATE_EXACT;
    if (p->mode == DISK_MODE_OFF) {
        set_distance(p->poll);
        return GATE_PASS;
    }
    if (tls.reserve < 0)
        left = distance_draw(&sample.modes[tls.mode]) - (int64_t)draw_charge(size_bytes, p->mask);
    if (left >= 0) {
        set_distance(left);
        return GATE_PASS;
    }
    tls.sampled_mode = tls.mode;
    set_distance(distance_draw(&sample.modes[tls.mode]));
    return GATE_SAMPLE;
}

/* Decide about a call in a signal handler, or inside the real allocator. The recording mode must
 * not change here. */
static enum gate
refill_nested(uint64_t size_bytes)
{
    if (tls.change == 0)
        return load_relaxed(&sample.mode) == DISK_MODE_EXACT ? GATE_EXACT : GATE_PASS;
    return decide(size_bytes);
}

/* Let all calls pass, in a process that is never recorded. The credit is so large that this thread
 * practically never polls again, and frees are not looked up. */
static enum gate
pass_for_ever(void)
{
    store_relaxed(&sample.mode, (uint32_t)DISK_MODE_OFF);
    tls.credit = IDLE_CREDIT;
    return GATE_PASS;
}

COLD enum gate
gate_refill(uint64_t size_bytes, uint64_t slot)
{
    uint32_t ready = state != NULL ? load_acquire(&state->ready) : (uint32_t)READY_NO;

    if (dormant_here())
        return pass_for_ever();
    if (!reentry_is_idle())
        return refill_nested(size_bytes);
    // Start after this call: the real allocator may have to be initialised before the recorder.
    if (ready == READY_NO)
        return GATE_FIRST;
    // READY_OFF: the process is not recorded, or a child that a handler forked must finish its
    // event.
    return ready == READY_OFF ? GATE_EXACT : gate_first(size_bytes, slot);
}

/* Return true if this call was charged in the recording mode that decides about it. A thread of a
 * forked child has no mode at first. */
static bool
is_charged(void)
{
    return tls.change != 0 && tls.reserve >= 0 && thread_is_ready(tls.self);
}

/* Start recording if necessary, and decide about the call. A change of the recording mode takes
 * effect after the call that detects it. The reason: the sample point that brought the thread here
 * was drawn for the former mode. If the new mode decided about this call, the point would be lost,
 * and no sample would represent the calls since the thread's last sample. */
COLD enum gate
gate_first(uint64_t size_bytes, uint64_t slot)
{
    enum gate gate = GATE_PASS;
    struct thread *t;
    bool charged;

    reentry_enter(slot);
    charged = is_charged();
    if (charged)
        gate = decide(size_bytes);
    t = reentry_enter_thread_cold(slot);
    if (t == NULL) {
        reentry_leave_cold();
        return GATE_PASS; // join_thread has counted the event as lost.
    }
    mode_adopt();
    filter_clear_freed();
    if (sample.modes[tls.mode].mode != DISK_MODE_EXACT) {
        tick_poll(t);
        request_poll();
    }
    if (!charged)
        gate = decide(size_bytes);
    tls.block_credit = tls.credit;
    reentry_leave_cold();
    return gate;
}
