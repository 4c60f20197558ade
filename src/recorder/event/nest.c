/* nest.c: events that come while another is under way.
 *
 * tls.busy says what is under way. BUSY_RECORDER: the recorder is at work; then a signal handler
 * has interrupted it, and its events get a struct thread of their own. BUSY_NEXT: a function of the
 * next allocator, such as operator new, is at work and has called back into us; or, again, a
 * handler has come meanwhile, which the stack tells.
 *
 * Inner blocks. What runs inside the next allocator's function is recorded like anything else: an
 * operator may log, keep lists, raise an exception, free what others left with it. Only the block
 * that comes out of the outermost call is counted there, under its caller, and not where it was
 * asked for inside. Which of them that will be is not known until the call returns. So a block that
 * is asked for inside is held back with the sites of its stack, and counted when the call is over,
 * unless it is the result or has the result within, as with an operator that puts a header in
 * front, or takes a large block to carve up. One that is freed before is counted at once. A free of
 * what is not known is the function's own affair, like that of the block with its header.
 *
 *     operator new ── malloc ── 0x500 held back
 *          │       ── malloc ── 0x600 held back
 *          └► 0x510: within 0x500, which is dropped; 0x600 is counted
 *
 * Another thread that frees a block meanwhile does not find it; nobody gives blocks away before
 * operator new returns.
 *
 * Jumps. A handler may leave by siglongjmp, and with it the event that it has interrupted; so does
 * a thread that is cancelled. Nobody tells us. An event from further out on the same stack than the
 * one under way shows it, or one that has no caller in it: from there the struct of the innermost
 * event that may still be under way is taken up again.
 */
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

/* --- Who has come ----------------------------------------------------------------------------- */

/* Can SLOT and ENTERED be compared? Only if both are on T's own stack. A handler's stack may lie
 * within the thread's, in a local array: a call from there proves nothing. */
static bool
same_stack(const struct thread *t, uint64_t slot, uint64_t entered)
{
    return entered >= t->stack_low && slot < t->stack_high && !sys_on_signal_stack();
}

/* Has the call that set tls.busy been left without our seeing it, by a longjmp out of a signal
 * handler? It has if a call from SLOT, on the same stack, is not further in. */
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

/* Put RA, at index I of LIST or not in it, to the front. */
static void
to_front(uint64_t *list, size_t i, uint64_t ra)
{
    for (; i > 0; i--)
        list[i] = list[i - 1];
    list[0] = ra;
}

/* Who calls while tls.busy is set? */
enum who {
    WHO_NEXT,    // The next allocator's function that is at work.
    WHO_HANDLER, // A signal handler that has interrupted that, or the recorder.
    WHO_AFTER,   // Whoever comes after a jump out of it.
};

/* What is at work is the next allocator, and a call from SLOT comes with a return address that is
 * not the latest in LIST, of those from which it has called. */
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
    // Without a struct to walk with take it for the usual thing.
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

/* The inner block of T from number MARK on that P is or lies in; t->inner_count if there is none.
 */
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

/* The same for what a function has returned. That may be the very end of one: a header with
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

/* Count the inner blocks of T from number MARK on. */
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

/* Is the struct that the thread had still its own? A start that fails unmaps it. */
static inline bool
self_is_ready(const struct nest *n)
{
    return (state == NULL || load_acquire(&state->ready) != READY_OFF) && thread_is_ready(n->self);
}

/* Events may come again, as if nothing were under way. */
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

/* The event under way was left by a jump to where a call from SLOT could come from: go back to the
 * innermost one outside it that may not have been. */
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
    // Otherwise nobody is at work with the struct: the allocator was interrupted, or the thread's
    // first event at its very beginning.
    if (n->busy == BUSY_RECORDER && self_is_ready(n) && !take_nested_struct(n))
        return NEST_LOST;
    if (self_is_ready(n))
        epoch_finish_raise();
    step_in(n);
    return NEST_RECORDED;
}

/* --- What is asked for inside ----------------------------------------------------------------- */

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

        // What asks for blocks in there may itself be made of others.
        if (source < t->inner_count)
            drop(t, source);
        // The first and the latest are those that the result is likely to be.
        if (t->inner_count == INNER_BLOCKS)
            keep(t, INNER_BLOCKS / 2);
        t->inner[t->inner_count++] = b;
    }
    enter_ends_cold();
}

/* What sampling leaves out, or would choose, is left to the function's result. */
COLD void
nest_inner_alloc(void *p, size_t size_bytes, bool odd, enum gate gate, struct arch_caller caller)
{
    struct nest n = nest_here();

    if (p == NULL)
        return; // If that makes the function fail, its own failure is counted.
    step_in(&n);
    if (tls.change == 0 && gate == GATE_EXACT)
        gate = gate_first(size_bytes, caller.slot);
    if (gate == GATE_EXACT)
        hold_back(p, size_bytes, odd, caller);
    nest_ends(&n);
}

/* P is held back no longer. */
static void
count_before_free(struct thread *t, const void *p)
{
    uint32_t i = t->inner_count;

    while (i > 0 && t->inner[i - 1].p != p)
        i--;
    if (i == 0)
        return;
    keep(t, i - 1);
    // Others have been allocated since, but are not counted yet.
    for (; i <= t->inner_count; i++)
        recent_begins_unseen(t);
}

/* The same in an event of its own. */
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
