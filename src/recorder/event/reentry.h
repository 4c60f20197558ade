/* reentry.h: the busy word, its transitions, and the guard for calls of the real allocator; see
 * reentry.c. No other file stores to tls.busy. All functions are async-signal-safe. */
#ifndef EVENT_REENTRY_H
#define EVENT_REENTRY_H

#include "account/thread.h"
#include "base/atomics.h"
#include "ledger/ledger_entry.h"
#include "platform/arch_x86_64.h"
#include "platform/state.h"
#include "sampling/draw.h"

// When an exception passes, the cleanup of a guard needs these functions. They come from the
// program's own libgcc_s and are weak: a C program may lack them and never calls them.
__asm__(".weak __gcc_personality_v0\n\t.weak _Unwind_Resume");

/* --- The state -------------------------------------------------------------------------------- */

static inline bool
reentry_is_idle(void)
{
    return likely(tls.busy == REENTRY_IDLE);
}

static inline bool
reentry_is_in_real(void)
{
    return tls.busy == REENTRY_IN_REAL;
}

static inline bool
reentry_is_in_recorder(void)
{
    return tls.busy == REENTRY_IN_RECORDER;
}

/* --- Entering --------------------------------------------------------------------------------- */

/* Begin an event of the function that was called from SLOT. Requires REENTRY_IDLE. */
static inline void
reentry_enter(uint64_t slot)
{
    tls.entered = slot;
    tls.busy = REENTRY_IN_RECORDER;
    signal_fence();
}

/* End the event. */
static inline void
reentry_leave(void)
{
    signal_fence();
    tls.busy = REENTRY_IDLE;
}

/* Slow path of reentry_enter_thread: let the thread, whose struct is T (NULL: none), join or read
 * changes. Return its struct. If the event cannot be recorded, count it as lost and return NULL.
 * Call in an event. */
struct thread *reentry_join(struct thread *t);

/* Begin an event like reentry_enter, and return this thread's struct, which its first event
 * creates. If the event cannot be recorded, count it as lost and return NULL. End with
 * reentry_leave in either case. */
static inline struct thread *
reentry_enter_thread(uint64_t slot)
{
    struct thread *t = tls.self;

    reentry_enter(slot);
    if (unlikely(t == NULL) || unlikely((load_relaxed(&t->ready) & THREAD_ALLOCATIONS) == 0))
        t = reentry_join(t);
    return t;
}

/* Out-of-line versions of reentry_enter_thread and reentry_leave, for rare events. */
struct thread *reentry_enter_thread_cold(uint64_t slot);
void reentry_leave_cold(void);

/* --- Interrupting ----------------------------------------------------------------------------- */

/* The state of this thread, saved during work of the recorder that is no event. */
struct reentry_saved {
    uint64_t entered;
    uint32_t busy;
};

static inline struct reentry_saved
reentry_save(void)
{
    return (struct reentry_saved){.entered = tls.entered, .busy = tls.busy};
}

/* Enter the recorder for such work, in a call from SLOT, in any state. Return the previous
 * state. */
static inline struct reentry_saved
reentry_interrupt(uint64_t slot)
{
    struct reentry_saved saved = reentry_save();

    // In an event, keep the interrupted call's slot: it shows if a longjmp has left that call.
    reentry_enter(saved.busy == REENTRY_IDLE ? slot : saved.entered);
    return saved;
}

static inline void
reentry_restore(const struct reentry_saved *saved)
{
    signal_fence();
    tls.entered = saved->entered;
    signal_fence();
    tls.busy = saved->busy;
}

/* --- Nesting ---------------------------------------------------------------------------------- */

/* An interrupted event, while another event of the same thread is recorded. */
struct reentry_nest {
    struct thread *self;
    uint64_t entered;
    uint32_t busy;
    bool first; // There was no struct at its start.
};

/* Return the event in progress. */
struct reentry_nest reentry_here(void);

/* reentry_step_out: leave event N, so that another can begin. reentry_step_back: return to N. */
void reentry_step_out(const struct reentry_nest *n);
void reentry_step_back(const struct reentry_nest *n);

/* --- Calls of the real allocator -------------------------------------------------------------- */

enum reentry_kind {
    REENTRY_RECORDED,    // Record the event as usual.
    REENTRY_CALLED_BACK, // Part of the event in progress, which will be recorded: inner.h.
    REENTRY_LOST,        // Count the event as lost.
    REENTRY_NO_EVENT,    // A call of the real allocator inside an event.
};

/* State that reentry_end restores, and the fields of the guard with the saved values. */
enum {
    REENTRY_UNDO_NEST = 1,        // The interrupted event: nest.
    REENTRY_UNDO_ORIGIN = 2,      // tls.origin_*: origin.
    REENTRY_UNDO_ANNOTATING = 4,  // tls.annotating: annotating.
    REENTRY_UNDO_BLOCK = 8,       // The ledger's entry of a block that is being reallocated: p,
                                  // old.
    REENTRY_UNDO_CREDIT = 16,     // The distance to the next sample: credit, reserve.
    REENTRY_UNDO_REAL = 32,       // tls.busy: the real allocator has not returned.
};

/* The re-entry guard of one intercepted call. Its cleanup, reentry_end, undoes the changes listed
 * in `undo` when the call returns or an exception leaves it. A longjmp runs no cleanup: see
 * reentry.c. */
struct reentry_call {
    enum reentry_kind kind;
    uint32_t undo; // Bits of REENTRY_UNDO_*. A field whose bit is not set is not initialised.
    struct arch_caller caller;
    union { // Only one is in use at a time; the union saves stack, because two guards are on it
            // below malloc.
        struct reentry_nest nest;
        uint64_t annotating;
    };
    struct arch_caller origin;
    void *p;
    struct ledger_entry old;
    int64_t credit, reserve;
    uint32_t change; // Value of sample.change; if it differs at the end, the credit is not
                     // restored.
    uint32_t mark;   // Number of blocks held back before the call.
};

/* Upper bound of the inner request of an aligned allocation, a multiple of the alignment. */
enum { REENTRY_INNER_BYTES = 4096 };

/* Slow path of reentry_begin, if an event is in progress. */
void reentry_nest(struct reentry_call *c);

/* Nest C, a call through heaptap.h, like reentry_nest. Calls from inside the real allocator are
 * recorded too. */
void reentry_nest_own(struct reentry_call *c);

/* Slow path of reentry_end. */
void reentry_unwind(struct reentry_call *c);

/* Slow path of reentry_real_end: count the blocks held back from index MARK on. Changes
 * REENTRY_IN_REAL to REENTRY_IDLE. */
void reentry_resolve_deferred(uint32_t mark, const void *result);

/* Return a guard that undoes nothing, for a call from CALLER. */
static inline struct reentry_call
reentry_guard(enum reentry_kind kind, struct arch_caller caller)
{
    struct reentry_call c;

    c.kind = kind;
    c.undo = 0;
    c.caller = caller;
    return c;
}

/* Begin the intercepted call C from CALLER in any state. C's kind is the decision. Costs one branch
 * unless an event is in progress. C is a parameter, because gcc would copy a result once more. */
static inline void
reentry_begin(struct reentry_call *c, struct arch_caller caller)
{
    c->kind = REENTRY_RECORDED;
    c->undo = 0;
    c->caller = caller;
    if (unlikely(!reentry_is_idle()))
        reentry_nest(c);
    c->origin = (struct arch_caller){.slot = tls.origin_slot, .rbp = tls.origin_rbp};
    c->undo |= REENTRY_UNDO_ORIGIN;
    // A call that is part of another one keeps the outer call's origin.
    if (likely(c->kind != REENTRY_CALLED_BACK)) {
        tls.origin_rbp = caller.rbp;
        tls.origin_slot = caller.slot;
    }
}

static inline void
reentry_end(struct reentry_call *c)
{
    if (unlikely((c->undo & ~(uint32_t)REENTRY_UNDO_ORIGIN) != 0))
        reentry_unwind(c);
    if (c->undo & REENTRY_UNDO_ORIGIN) {
        tls.origin_rbp = c->origin.rbp;
        tls.origin_slot = c->origin.slot;
    }
}

/* Declare the guard NAME. It ends when the enclosing block is left, even by an exception. */
#define REENTRY_CALL(name) struct reentry_call name __attribute__((cleanup(reentry_end), unused))

/* Save the credit after C was charged SIZE_BYTES at the gate, so that the real allocator's own
 * requests are not charged. */
static inline void
reentry_save_credit(struct reentry_call *c, size_t size_bytes)
{
    c->credit = tls.credit;
    c->reserve = tls.reserve;
    c->change = tls.change;
    c->undo |= REENTRY_UNDO_CREDIT;
    tls.credit += (int64_t)draw_charge(size_bytes, tls.charge_mask) + REENTRY_INNER_BYTES;
}

static inline void
reentry_return_credit(struct reentry_call *c)
{
    c->undo &= ~(uint32_t)REENTRY_UNDO_CREDIT;
    if (tls.change != c->change)
        return;
    tls.credit = c->credit;
    tls.reserve = c->reserve;
}

/* Begin a call of a real allocator function that may call back. Its requests are inner events, and
 * its result is recorded once, under the caller of C. Has no effect inside another such call. */
static inline void
reentry_real_begin(struct reentry_call *c)
{
    if (reentry_is_idle()) {
        c->mark = thread_is_ready(tls.self) ? tls.self->inner_count : 0;
        c->undo |= REENTRY_UNDO_REAL;
        tls.entered = c->caller.slot;
        tls.busy = REENTRY_IN_REAL;
    }
    signal_fence();
}

/* End the call. The function has returned RESULT; NULL = no block. */
static inline void
reentry_real_end(struct reentry_call *c, const void *result)
{
    const struct thread *t = tls.self;

    signal_fence();
    if (c->undo & REENTRY_UNDO_REAL) {
        tls.nested_block = NULL;
        if (unlikely((thread_is_ready(t) ? t->inner_count : 0) > c->mark))
            reentry_resolve_deferred(c->mark, result);
        tls.busy = REENTRY_IDLE;
        c->undo &= ~(uint32_t)REENTRY_UNDO_REAL;
    }
    if (c->undo & REENTRY_UNDO_CREDIT)
        reentry_return_credit(c);
}

/* reentry_take_block: let an exception put the entry OLD of block P, which is being reallocated
 * within C, back into the ledger. reentry_block_taken: end this, because the block was reallocated
 * or not. */
static inline void
reentry_take_block(struct reentry_call *c, void *p, struct ledger_entry old)
{
    c->p = p;
    c->old = old;
    c->undo |= REENTRY_UNDO_BLOCK;
}

static inline void
reentry_block_taken(struct reentry_call *c)
{
    c->undo &= ~(uint32_t)REENTRY_UNDO_BLOCK;
}

/* Return the guard for a call of the real allocator by the annotator, from SLOT. Calls from further
 * in are the allocator's own. */
static inline struct reentry_call
reentry_annotate(uint64_t slot)
{
    struct reentry_call c = reentry_guard(REENTRY_NO_EVENT, (struct arch_caller){.slot = slot});

    c.annotating = tls.annotating;
    c.undo = REENTRY_UNDO_ANNOTATING;
    tls.annotating = slot;
    signal_fence();
    return c;
}

#endif
