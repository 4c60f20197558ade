/* reentry.c: handles events that occur while another event of the same thread is in progress.
 *
 * The busy word, tls.busy, is the state; only this file and its header store to it.
 * REENTRY_IN_RECORDER: the recorder is running. REENTRY_IN_REAL: a function of the real allocator
 * that may call back, such as operator new, is running. Letters name the transitions. The table
 * lists the tests of each transition.
 *
 *              a enter, b join              c real_begin
 *     IN_RECORDER ◄────────────── IDLE ──────────────► IN_REAL
 *       │ │ │    ──────────────►  ▲▲▲  ◄──────────────  │ │ │
 *       │ │ │       a leave       │││     c real_end    │ │ │
 *       │ │ └──── g jump out ─────┘│└──── h jump out ───┘ │ │
 *       │ │                        └──── f exception ─────┘ │
 *       │ └─ e handler, i handler that forks                ├─ d called back
 *       │         └► IDLE, with a second struct ─► back     └─ j handler
 *       │                                                        └► IDLE, same struct ─► back
 *     any state ── k reentry_interrupt ─► IN_RECORDER ── reentry_restore ─► that state
 *
 *        edge                                   unit/reentry                        run/
 *     a  an event begins and ends               an_event_enters_and_leaves          known_totals
 *     b  the first event of a thread            the_first_event_joins               interrupt (1)
 *     c  a call of the real allocator           a_real_call_is_one_event            scopes
 *     d  it calls back                          an_inner_event_steps_out_and_back   scopes
 *     e  a handler in the recorder              a_handler_gets_a_second_struct      interrupt (2)
 *        deeper than there are structs          too_deep_a_handler_is_lost
 *     f  an exception leaves the real allocator an_exception_restores_everything    scopes
 *     g  longjmp out of the recorder            a_jump_out_is_noticed               interrupt (3)
 *     h  longjmp out of the real allocator      a_jump_out_of_real_is_noticed       interrupt (4)
 *     i  fork by a handler in the recorder      a_child_finishes_the_event          interrupt (5)
 *     j  a handler in the real allocator        a_handler_in_real_is_an_event       interrupt (6)
 *     k  dlclose, annotation, access requests   an_interruption_restores_the_state  interrupt (7)
 *
 *     Lines of the table in interrupt.sh: (1) thread, return (2) malloc, nested (3) malloc, jump
 *     (4) new, jump (5) malloc, fork (6) new, stack (7) dlclose, return
 *
 * The end of a thread is not a transition: the busy word ends with the thread, in any state, and a
 * later thread takes over the struct (join.c; run/thread_rows).
 *
 * Handlers. A handler that has interrupted the recorder gets a second struct thread. A handler that
 * has interrupted the real allocator uses the thread's own struct, which is free at that time. The
 * return addresses and the stack distinguish a handler's call from the real allocator's
 * (call_from).
 *
 * Jumps. A handler may leave by siglongjmp and abandon the event that it has interrupted. A
 * cancelled thread also abandons its event. The recorder gets no notice. A later event proves the
 * jump in two cases: its frame is shallower on the same stack than the event in progress, or the
 * call in progress is not among its callers. Then the recorder returns to the struct of the
 * innermost event that may still be in progress.
 *
 * Exceptions run the cleanup of struct reentry_call, the one guard of all entries. */
#include "event/reentry.h"

#include "account/history.h"
#include "event/block.h"
#include "event/deferred.h"
#include "event/mode.h"
#include "event/start.h"
#include "platform/sys.h"
#include "stack/coroutines.h"
#include "stack/memo.h"
#include "stack/stack.h"
#include "stack/walk.h"

/* --- Entering --------------------------------------------------------------------------------- */

COLD struct thread *
reentry_join(struct thread *t)
{
    if (!thread_is_ready(t))
        t = join_thread();
    if (t != NULL && load_relaxed(&t->ready) != THREAD_NEEDS_SLOW_PATH) {
        join_refresh(t);
        mode_adopt();
    }
    return t;
}

COLD struct thread *
reentry_enter_thread_cold(uint64_t slot)
{
    return reentry_enter_thread(slot);
}

COLD void
reentry_leave_cold(void)
{
    reentry_leave();
}

/* --- Callers ---------------------------------------------------------------------------------- */

/* Return true if SLOT and ENTERED can be compared, because both are on T's own stack. A handler's
 * stack may be a local array inside the thread's stack, so a call from a handler's stack proves
 * nothing. */
static bool
same_stack(const struct thread *t, uint64_t slot, uint64_t entered)
{
    return entered >= t->stack_low && slot < t->stack_high && !sys_on_signal_stack();
}

/* Return true if a longjmp out of a signal handler has left the call that set tls.busy. A later
 * call from SLOT proves the jump if SLOT is on the same stack and no deeper than that call. */
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

/* Move RA to the front of LIST. RA replaces the element at index I, which is RA itself or the
 * oldest element. */
static void
to_front(uint64_t *list, size_t i, uint64_t ra)
{
    for (; i > 0; i--)
        list[i] = list[i - 1];
    list[0] = ra;
}

/* The caller of an intercepted function while tls.busy is set. */
enum from {
    FROM_REAL,    // The function of the real allocator in progress.
    FROM_HANDLER, // A signal handler that has interrupted that function, or the recorder.
    FROM_OUTSIDE, // Code outside: a longjmp has left that function.
    FROM_UNKNOWN, // One of these three. The part of the stack that would show which is unreadable.
};

/* Identify the caller while a function of the real allocator is in progress. The call from SLOT has
 * the return address RA. LIST contains the latest return addresses of calls from inside that
 * function; RA is not its first element. */
static COLD enum from
from_stack(uint64_t slot, uint64_t ra, uint64_t *list)
{
    size_t last = countof(tls.callbacks) - 1;
    struct thread *t = tls.self;
    enum walk_between between;

    for (size_t i = 1; i <= last; i++) {
        if (list[i] == ra) {
            to_front(list, i, ra);
            return FROM_REAL;
        }
    }
    // Without a struct the stack cannot be walked, so assume the usual case.
    if (!thread_is_ready(t))
        return FROM_REAL;
    between = walk_between(t, slot, tls.entered);
    if (between == WALK_SIGNAL)
        return FROM_HANDLER;
    if (between == WALK_PASSES)
        return FROM_OUTSIDE;
    // In a quiet process (sys_be_quiet) a walk ends in the page of its first frame. So it often
    // ends before it reaches the frame of a signal, and does not show whether this is a handler.
    if (between == WALK_UNKNOWN && sys_is_quiet())
        return FROM_UNKNOWN;
    to_front(list, last, ra);
    return FROM_REAL;
}

static inline enum from
call_from(uint64_t slot)
{
    uint64_t ra = *(const uint64_t *)(uintptr_t)slot;
    uint64_t *list = tls.callbacks;

    if (unlikely(abandoned(slot)))
        return FROM_OUTSIDE;
    if (unlikely(!reentry_is_in_real()))
        return FROM_HANDLER;
    return likely(list[0] == ra) ? FROM_REAL : from_stack(slot, ra, list);
}

/* --- Nesting ---------------------------------------------------------------------------------- */

struct reentry_nest
reentry_here(void)
{
    return (struct reentry_nest){.self = tls.self,
                                 .entered = tls.entered,
                                 .busy = tls.busy,
                                 .first = !thread_is_ready(tls.self)};
}

/* Return true if the thread still has its struct. A failed start unmaps it. */
static inline bool
self_is_ready(const struct reentry_nest *n)
{
    return (state == NULL || load_acquire(&state->ready) != READY_OFF) && thread_is_ready(n->self);
}

void
reentry_step_out(const struct reentry_nest *n)
{
    tls.nests += n->first;
    signal_fence();
    tls.busy = REENTRY_IDLE;
}

void
reentry_step_back(const struct reentry_nest *n)
{
    tls.busy = REENTRY_IN_RECORDER;
    signal_fence();
    tls.nests -= n->first;
    // The struct is not ready in two cases: the nested event was the thread's first event, or this
    // is the child of a fork in the handler.
    if (self_is_ready(n))
        tls.self = n->self;
    tls.entered = n->entered;
    signal_fence();
    tls.busy = n->busy;
}

static void
abandon(struct thread *t)
{
    memo_forget(t);
    coroutines_forget(t);
    deferred_count(t, 0);
}

/* Handle a longjmp that has left the event in progress. A caller further out has called from SLOT
 * since. Return to the innermost outer event that may still be in progress. */
static COLD void
leave_abandoned(uint64_t slot)
{
    struct thread *t = tls.self;
    uint32_t busy = REENTRY_IDLE;

    if (thread_is_ready(t)) {
        tls.busy = REENTRY_IN_RECORDER;
        signal_fence();
        abandon(t);
        while (t->outer != NULL && busy == REENTRY_IDLE) {
            tls.entered = t->outer_entered;
            t = t->outer;
            if (same_stack(t, slot, tls.entered) && slot >= tls.entered)
                abandon(t);
            else
                busy = REENTRY_IN_RECORDER;
        }
        tls.self = t;
    }
    tls.nests = 0;
    signal_fence();
    tls.busy = busy;
}

static bool
take_nested_struct(const struct reentry_nest *n)
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

COLD void
reentry_nest(struct reentry_call *c)
{
    enum from from = call_from(c->caller.slot);
    struct reentry_nest *n = &c->nest;

    if (from == FROM_OUTSIDE)
        leave_abandoned(c->caller.slot);
    *n = reentry_here();
    if (from == FROM_UNKNOWN) {
        count_reentrant();
        c->kind = REENTRY_LOST;
        return;
    }
    if (from == FROM_REAL) {
        c->kind = REENTRY_CALLED_BACK;
        return;
    }
    n->first &= n->busy != REENTRY_IDLE;
    // In all other cases the struct is not in use: the handler interrupted the real allocator, or
    // the very beginning of the thread's first event.
    if (n->busy == REENTRY_IN_RECORDER && self_is_ready(n) && !take_nested_struct(n)) {
        c->kind = REENTRY_LOST;
        return;
    }
    if (self_is_ready(n))
        epoch_finish_raise();
    c->undo |= REENTRY_UNDO_NEST;
    reentry_step_out(n);
}

COLD void
reentry_nest_own(struct reentry_call *c)
{
    reentry_nest(c);
    if (c->kind != REENTRY_CALLED_BACK)
        return;
    // The call comes from inside the real allocator, so the thread's struct is not in use.
    c->kind = REENTRY_RECORDED;
    c->nest.first = false;
    c->undo |= REENTRY_UNDO_NEST;
    reentry_step_out(&c->nest);
}

/* --- Calls of the real allocator -------------------------------------------------------------- */

COLD void
reentry_resolve_deferred(uint32_t mark, const void *result)
{
    tls.busy = REENTRY_IN_RECORDER;
    signal_fence();
    if (deferred_resolve(tls.self, mark, result))
        tls.nested_block = result;
    signal_fence();
    tls.busy = REENTRY_IDLE;
}

/* Count the call of C as failed. */
static void
count_failed(const struct reentry_call *c)
{
    struct thread *t = reentry_enter_thread(c->caller.slot);

    if (t != NULL)
        bump(&t->disk->failed_calls);
    reentry_leave();
}

/* Insert the block of C, which was not reallocated, into the ledger again. */
static void
put_block_back(struct reentry_call *c)
{
    struct thread *t = reentry_enter_thread(c->caller.slot);

    if (t != NULL)
        block_keep_again(t, c->p, c->old);
    reentry_leave();
}

/* Undo the changes that c->undo lists, innermost first. Call when an exception leaves C, or when
 * only the nesting is left to undo. */
COLD void
reentry_unwind(struct reentry_call *c)
{
    bool threw = (c->undo & REENTRY_UNDO_REAL) != 0;

    if (c->undo & (REENTRY_UNDO_REAL | REENTRY_UNDO_CREDIT))
        reentry_real_end(c, NULL);
    if (threw && c->kind != REENTRY_NO_EVENT)
        count_failed(c);
    if (c->undo & REENTRY_UNDO_BLOCK)
        put_block_back(c);
    if (c->undo & REENTRY_UNDO_ANNOTATING)
        tls.annotating = c->annotating;
    if (c->undo & REENTRY_UNDO_NEST)
        reentry_step_back(&c->nest);
}
