/* nest.c: events that occur while another is in progress.
 *
 * tls.busy holds the state. BUSY_RECORDER: the recorder is at work. A signal handler has
 * interrupted it, and its events get a second struct thread. BUSY_NEXT: a function of the next
 * allocator, such as operator new, is at work. It has called back into the recorder, or, again, a
 * handler has interrupted it; the stack distinguishes the two.
 *
 * Inner blocks. Events inside the next allocator's function are recorded like any others: an
 * operator may log, keep lists, raise an exception, free blocks of others. The one exception is the
 * block that the outermost call returns. It is counted at that call, under its caller, and not at
 * the inner call that allocated it. Which inner block that will be is not known until the call
 * returns. So the recorder holds inner blocks back, with the sites of their stacks, until the call
 * is over. Then it counts them, except the one that is the result or contains it, as with an
 * operator that puts a header in front, or carves up a large block. A held block that is freed
 * earlier is counted at once. A free of an unknown block inside is ignored: it is the function's
 * own affair, like the block with the header.
 *
 *     operator new ── malloc ── 0x500 held back
 *          │       ── malloc ── 0x600 held back
 *          └► 0x510: within 0x500, which is dropped; 0x600 is counted
 *
 * Another thread that frees a held block does not find it, but functions do not publish blocks
 * before operator new returns.
 *
 * Jumps. A handler may leave by siglongjmp, and abandon the event that it has interrupted; so does
 * a thread that is cancelled. There is no notice. An event shows it if it comes from further out on
 * the same stack than the one in progress, or if that one is not among its callers. Then the
 * recorder returns to the struct of the innermost event that may still be in progress. */
#include "event/nest.h"

#include "access/counted_blocks.h"
#include "account/epoch.h"
#include "account/label.h"
#include "account/recent.h"
#include "base/atomics.h"
#include "event/block.h"
#include "event/enter.h"
#include "event/event.h"
#include "event/join.h"
#include "event/ordinary.h"
#include "platform/sys.h"
#include "stack/language_frames.h"
#include "stack/stack.h"
#include "stack/walk.h"

/* --- Callers ---------------------------------------------------------------------------------- */

/* Return true if SLOT and ENTERED can be compared, because both are on T's own stack. A handler's
 * stack may lie within the thread's, in a local array: a call from there proves nothing. */
static bool
same_stack(const struct thread *t, uint64_t slot, uint64_t entered)
{
    return entered >= t->stack_low && slot < t->stack_high && !sys_on_signal_stack();
}

/* Return true if a longjmp out of a signal handler has left the call that set tls.busy. The proof
 * is a call from SLOT on the same stack that is not further in. */
static bool
abandoned(uint64_t slot)
{
    const struct thread *t = tls.self;

    return slot >= tls.entered && t != NULL && same_stack(t, slot, tls.entered);
}

static COLD void
count_reentrant(void)
{
    struct thread *t = tls.self;

    if (thread_is_ready(t))
        add_relaxed(&t->disk->reentrant_events, UINT64_C(1));
    else if (state != NULL && load_acquire(&state->ready) == READY_YES)
        add_relaxed(&state->header->losses.reentrant_events, UINT64_C(1));
}

/* Move RA to the front of LIST. The element at index I, RA itself or the oldest, makes room. */
static void
to_front(uint64_t *list, size_t i, uint64_t ra)
{
    for (; i > 0; i--)
        list[i] = list[i - 1];
    list[0] = ra;
}

/* Callers while tls.busy is set. */
enum who {
    WHO_NEXT,    // The next allocator's function in progress.
    WHO_HANDLER, // A signal handler that has interrupted it, or the recorder.
    WHO_AFTER,   // The first caller after a jump out of it.
};

/* Identify the caller while the next allocator is in progress. The call from SLOT has the return
 * address RA, which is not the first in LIST, that allocator's latest callback addresses. */
static COLD enum who
who_else(uint64_t slot, uint64_t ra, uint64_t *list)
{
    size_t last = countof(tls.callbacks) - 1;
    struct thread *t = tls.self;
    enum walk_between between;

    for (size_t i = 1; i <= last; i++) {
        if (list[i] == ra) {
            to_front(list, i, ra);
            return WHO_NEXT;
        }
    }
    // Without a struct to walk with, assume the usual case.
    if (!thread_is_ready(t))
        return WHO_NEXT;
    between = walk_between(t, slot, tls.entered);
    if (between == WALK_SIGNAL)
        return WHO_HANDLER;
    if (between == WALK_PASSES)
        return WHO_AFTER;
    to_front(list, last, ra);
    return WHO_NEXT;
}

static inline enum who
who_calls(uint64_t slot)
{
    uint64_t ra = *(const uint64_t *)(uintptr_t)slot;
    uint64_t *list = tls.callbacks;

    if (unlikely(abandoned(slot)))
        return WHO_AFTER;
    if (unlikely(tls.busy != BUSY_NEXT))
        return WHO_HANDLER;
    return likely(list[0] == ra) ? WHO_NEXT : who_else(slot, ra, list);
}

/* --- Inner blocks ----------------------------------------------------------------------------- */

static void
drop(struct thread *t, uint32_t i)
{
    for (; i + 1 < t->inner_count; i++)
        t->inner[i] = t->inner[i + 1];
    t->inner_count--;
}

/* Count inner block I of T. */
static void
keep(struct thread *t, uint32_t i)
{
    struct inner_block b = t->inner[i];

    drop(t, i); // First: a jump out of a handler must not leave it to be counted twice.
    block_count_in(t, b.p, b.size_bytes, b.odd, b.sites);
}

/* Return the index of T's inner block, from MARK on, that begins at P or contains it;
 * t->inner_count if there is none. */
static uint32_t
source_of(const struct thread *t, uint32_t mark, const void *p)
{
    for (uint32_t i = mark; p != NULL && i < t->inner_count; i++) {
        uintptr_t off = (uintptr_t)p - (uintptr_t)t->inner[i].p;

        if (off == 0 || off < t->inner[i].size_bytes)
            return i;
    }
    return t->inner_count;
}

/* Like source_of, for a function's result P. It may also be the very end of a block: a header with
 * nothing behind. */
static uint32_t
source_of_result(const struct thread *t, uint32_t mark, const void *p)
{
    uint32_t source = source_of(t, mark, p);

    for (uint32_t i = mark; p != NULL && source == t->inner_count && i < t->inner_count; i++)
        if ((uintptr_t)p - (uintptr_t)t->inner[i].p == t->inner[i].size_bytes)
            return i;
    return source;
}

/* Count the inner blocks of T from index MARK on. */
static void
keep_all(struct thread *t, uint32_t mark)
{
    while (t->inner_count > mark)
        keep(t, mark);
}

/* --- Nests ------------------------------------------------------------------------------------ */

static struct nest
nest_here(void)
{
    return (struct nest){.self = tls.self,
                         .entered = tls.entered,
                         .busy = tls.busy,
                         .first = !thread_is_ready(tls.self)};
}

/* Return true if the thread still has its struct. A start that fails unmaps it. */
static inline bool
self_is_ready(const struct nest *n)
{
    return (state == NULL || load_acquire(&state->ready) != READY_OFF) && thread_is_ready(n->self);
}

/* Allow events again, as if none were in progress. */
static void
step_in(const struct nest *n)
{
    tls.nests += n->first;
    signal_fence();
    tls.busy = BUSY_NO;
}

void
nest_ends(const struct nest *n)
{
    tls.busy = BUSY_RECORDER;
    signal_fence();
    tls.nests -= n->first;
    // Not ready: the nested event was the first, or the handler has forked and this is the child.
    if (self_is_ready(n))
        tls.self = n->self;
    tls.entered = n->entered;
    signal_fence();
    tls.busy = n->busy;
}

static void
abandon(struct thread *t)
{
    stack_forget(t);
    keep_all(t, 0);
}

/* A jump out of the event in progress has led to a caller of SLOT's function. Return to the
 * innermost outer event that may still be in progress. */
static COLD void
leave_abandoned(uint64_t slot)
{
    struct thread *t = tls.self;
    uint32_t busy = BUSY_NO;

    if (thread_is_ready(t)) {
        tls.busy = BUSY_RECORDER;
        signal_fence();
        abandon(t);
        while (t->outer != NULL && busy == BUSY_NO) {
            tls.entered = t->outer_entered;
            t = t->outer;
            if (same_stack(t, slot, tls.entered) && slot >= tls.entered)
                abandon(t);
            else
                busy = BUSY_RECORDER;
        }
        tls.self = t;
    }
    tls.nests = 0;
    signal_fence();
    tls.busy = busy;
}

static bool
take_nested_struct(const struct nest *n)
{
    struct thread *nested = join_nested(n->self);

    if (nested == NULL) {
        count_reentrant();
        return false;
    }
    nested->outer_entered = n->entered;
    tls.self = nested;
    return true;
}

COLD enum nest_kind
nest_begins(struct nest *n, uint64_t slot)
{
    enum who who = who_calls(slot);

    if (who == WHO_AFTER)
        leave_abandoned(slot);
    *n = nest_here();
    if (who == WHO_NEXT)
        return NEST_CALLED_BACK;
    n->first &= n->busy != BUSY_NO;
    // Otherwise the struct is not in use: the allocator was interrupted, or the thread's first
    // event at its very beginning.
    if (n->busy == BUSY_RECORDER && self_is_ready(n) && !take_nested_struct(n))
        return NEST_LOST;
    if (self_is_ready(n))
        epoch_finish_raise();
    step_in(n);
    return NEST_RECORDED;
}

/* --- Inner events ----------------------------------------------------------------------------- */

static void
hold_back(void *p, size_t size_bytes, bool odd, struct arch_caller caller)
{
    struct thread *t = enter_cold(caller.slot);

    if (t != NULL) {
        uint32_t source = source_of(t, 0, p);
        struct inner_block b = {.p = p,
                                .size_bytes = size_bytes,
                                .sites = language_sites(t, stack_target(t, caller)),
                                .odd = odd};

        // An inner function may itself return part of an inner block.
        if (source < t->inner_count)
            drop(t, source);
        // The result is most likely in the first or in the latest ones.
        if (t->inner_count == INNER_BLOCKS)
            keep(t, INNER_BLOCKS / 2);
        t->inner[t->inner_count++] = b;
    }
    enter_ends_cold();
}

/* Samples are not drawn inside: the gate decides about the function's result. */
COLD void
nest_inner_alloc(void *p, size_t size_bytes, bool odd, enum gate gate, struct arch_caller caller)
{
    struct nest n = nest_here();

    if (p == NULL)
        return; // If that makes the function fail, the function's failure is counted.
    step_in(&n);
    if (tls.change == 0 && gate == GATE_EXACT)
        gate = gate_first(size_bytes, caller.slot);
    if (gate == GATE_EXACT)
        hold_back(p, size_bytes, odd, caller);
    nest_ends(&n);
}

/* Count the inner block at P, if it is held back, because it is about to be freed. */
static void
count_before_free(struct thread *t, const void *p)
{
    uint32_t i = t->inner_count;

    while (i > 0 && t->inner[i - 1].p != p)
        i--;
    if (i == 0)
        return;
    keep(t, i - 1);
    // Later blocks have been allocated since, but are not counted yet.
    for (; i <= t->inner_count; i++)
        recent_begins_unseen(t);
}

/* Like count_before_free, in a separate event. */
static void
settle_before_free(const void *p, uint64_t slot)
{
    struct thread *t = enter_cold(slot);

    if (t != NULL && t->inner_count != 0)
        count_before_free(t, p);
    enter_ends_cold();
}

COLD void
nest_inner_free(void *p, struct arch_caller caller)
{
    struct nest n = nest_here();

    if (n.first)
        return; // The thread has no blocks yet.
    step_in(&n);
    settle_before_free(p, caller.slot);
    event_free_known(p, caller);
    nest_ends(&n);
}

struct ledger_entry
nest_inner_realloc_begins(void *p, struct arch_caller caller)
{
    struct nest n = nest_here();
    struct ledger_entry old = {0};

    if (n.first || p == NULL)
        return old;
    step_in(&n);
    settle_before_free(p, caller.slot);
    old = event_realloc_begin_known(p, caller);
    nest_ends(&n);
    return old;
}

void
nest_inner_realloc_ends(void *p, struct ledger_entry old, void *result, size_t size_bytes,
                        enum gate gate, struct arch_caller caller)
{
    struct nest n = nest_here();

    if (old.site == 0) {
        language_moves(old, p, result);
        nest_inner_alloc(result, size_bytes, false, gate, caller);
        language_moved();
        return;
    }
    step_in(&n);
    event_realloc_end(p, old, result, size_bytes, result != NULL || size_bytes == 0, caller);
    nest_ends(&n);
}

COLD void
nest_settle(uint32_t mark, const void *result)
{
    struct thread *t = tls.self;
    uint32_t source = source_of_result(t, mark, result);

    tls.busy = BUSY_RECORDER;
    signal_fence();
    if (source < t->inner_count) {
        if (t->inner[source].p == result && !t->inner[source].odd)
            tls.nested_block = result;
        drop(t, source);
    }
    keep_all(t, mark);
    signal_fence();
    tls.busy = BUSY_NO;
}
