/* reentry.h: the busy word, its transitions, and the guard of a call of the real allocator; see
 * reentry.c. No other file stores to tls.busy. All functions are async-signal-safe. */
#ifndef EVENT_REENTRY_H
#define EVENT_REENTRY_H

#include "account/thread.h"
#include "base/atomics.h"
#include "ledger/ledger_entry.h"
#include "platform/arch_x86_64.h"
#include "platform/state.h"
#include "sampling/draw.h"

// The cleanup of a guard needs them when an exception passes. They come from the program's own
// libgcc_s and are weak: a C program has none and never gets here.
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

/* Begin an event of the function called from SLOT. Requires REENTRY_IDLE. */
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

/* Slow path of reentry_enter_thread: the thread, whose struct is T (NULL: none), must join or look
 * up changes. Return its struct; NULL if the event cannot be recorded, which is counted. Call in an
 * event. */
struct thread *reentry_join(struct thread *t);

/* Like reentry_enter, and return this thread's struct, made if it is the thread's first event; NULL
 * if the event cannot be recorded, which is counted. End with reentry_leave in either case. */
static inline struct thread *
reentry_enter_thread(uint64_t slot)
{
    struct thread *t = tls.self;

    reentry_enter(slot);
    if (unlikely(t == NULL) || unlikely(load_relaxed(&t->ready) != THREAD_READY))
        t = reentry_join(t);
    return t;
}

/* reentry_enter_thread and reentry_leave out of line, for rare events. */
struct thread *reentry_enter_thread_cold(uint64_t slot);
void reentry_leave_cold(void);

/* --- Interrupting ----------------------------------------------------------------------------- */

/* The state of this thread, to be restored after work of the recorder that is no event. */
struct reentry_saved {
    uint64_t entered;
    uint32_t busy;
};

static inline struct reentry_saved
reentry_save(void)
{
    return (struct reentry_saved){.entered = tls.entered, .busy = tls.busy};
}

/* Enter for such work, on a call from SLOT, in any state. Return the state before. */
static inline struct reentry_saved
reentry_interrupt(uint64_t slot)
{
    struct reentry_saved saved = reentry_save();

    // In an event, the interrupted call's slot still shows whether a jump has left it.
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

/* An event in progress, while another one of the same thread is recorded. */
struct reentry_nest {
    struct thread *self;
    uint64_t entered;
    uint32_t busy;
    bool first; // There was no struct to nest in.
};

/* Return the event in progress. */
struct reentry_nest reentry_here(void);

/* Step out of event N, so that another can begin; then back into it. */
void reentry_step_out(const struct reentry_nest *n);
void reentry_step_back(const struct reentry_nest *n);

/* --- Calls of the real allocator -------------------------------------------------------------- */

enum reentry_kind {
    REENTRY_RECORDED,    // Record the event as usual.
    REENTRY_CALLED_BACK, // Part of the event in progress, which will be recorded: inner.h.
    REENTRY_LOST,        // Counted as lost.
    REENTRY_NO_EVENT,    // Only a call of the real allocator, within some event.
};

/* What reentry_end restores. */
enum {
    REENTRY_UNDO_NEST = 1,        // The interrupted event: nest.
    REENTRY_UNDO_ORIGIN = 2,      // tls.origin_*: origin.
    REENTRY_UNDO_ANNOTATING = 4,  // tls.annotating: annotating.
    REENTRY_UNDO_BLOCK = 8,       // The ledger's entry of a block being reallocated: p, old.
    REENTRY_UNDO_CREDIT = 16,     // The distance to the next sample: credit, reserve.
    REENTRY_UNDO_REAL = 32,       // tls.busy: the real allocator has not returned.
};

/* The re-entry guard of one intercepted call. reentry_end, its cleanup, undoes what is left to
 * undo, whether the call returns or an exception leaves it. A jump runs no cleanup: reentry.c. */
struct reentry_call {
    enum reentry_kind kind;
    uint32_t undo; // Bits of REENTRY_UNDO_*; fields without their bit are not initialized.
    struct arch_caller caller;
    union { // One or the other, because two guards lie on the stack below malloc.
        struct reentry_nest nest;
        uint64_t annotating;
    };
    struct arch_caller origin;
    void *p;
    struct ledger_entry old;
    int64_t credit, reserve;
    uint32_t change; // sample.change; if it differs afterwards, the credit is not restored.
    uint32_t mark;   // Number of blocks held back before.
};

/* Upper bound for the inner request of an aligned allocation, a multiple of the alignment. */
enum { REENTRY_INNER_BYTES = 4096 };

/* Slow path of reentry_begin, when an event is in progress. */
void reentry_nest(struct reentry_call *c);

/* Nest C, of heaptap.h, like reentry_nest; the real allocator's own calls are recorded as well. */
void reentry_nest_own(struct reentry_call *c);

/* Slow path of reentry_end. */
void reentry_unwind(struct reentry_call *c);

/* Slow path of reentry_real_end: count the blocks held back from index MARK on. Leaves
 * REENTRY_IN_REAL for REENTRY_IDLE. */
void reentry_settle(uint32_t mark, const void *result);

/* Return a guard with nothing to undo, for a call from CALLER. */
static inline struct reentry_call
reentry_guard(enum reentry_kind kind, struct arch_caller caller)
{
    struct reentry_call c;

    c.kind = kind;
    c.undo = 0;
    c.caller = caller;
    return c;
}

/* Begin an intercepted call from CALLER in any state. kind is the result. Costs one branch unless
 * an event is in progress. */
static inline struct reentry_call
reentry_begin(struct arch_caller caller)
{
    struct reentry_call c = reentry_guard(REENTRY_RECORDED, caller);

    if (unlikely(!reentry_is_idle()))
        reentry_nest(&c);
    c.origin = (struct arch_caller){.slot = tls.origin_slot, .rbp = tls.origin_rbp};
    c.undo |= REENTRY_UNDO_ORIGIN;
    // A call that is part of another one keeps the origin of that one.
    if (likely(c.kind != REENTRY_CALLED_BACK)) {
        tls.origin_rbp = caller.rbp;
        tls.origin_slot = caller.slot;
    }
    return c;
}

static inline void
reentry_end(struct reentry_call *c)
{
    if (unlikely((c->undo & ~(uint32_t)REENTRY_UNDO_ORIGIN) != 0)) {
        struct reentry_call copy = *c; // So that the compiler can keep C itself in registers.

        reentry_unwind(&copy);
    }
    if (c->undo & REENTRY_UNDO_ORIGIN) {
        tls.origin_rbp = c->origin.rbp;
        tls.origin_slot = c->origin.slot;
    }
}

/* Declare the guard NAME, which ends when the block is left, also by an exception. */
#define REENTRY_CALL(name) struct reentry_call name __attribute__((cleanup(reentry_end), unused))

/* C has been charged SIZE_BYTES at the gate: the real allocator's own requests cost nothing. */
static inline void
reentry_hold_credit(struct reentry_call *c, size_t size_bytes)
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

/* Call a function of the real allocator that may call back: its requests are inner events, and its
 * result is recorded once, under the caller of C. Does nothing inside another such call. */
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

/* The function has returned RESULT; NULL: no block. */
static inline void
reentry_real_end(struct reentry_call *c, const void *result)
{
    const struct thread *t = tls.self;

    signal_fence();
    if (c->undo & REENTRY_UNDO_REAL) {
        tls.nested_block = NULL;
        if (unlikely((thread_is_ready(t) ? t->inner_count : 0) > c->mark))
            reentry_settle(c->mark, result);
        tls.busy = REENTRY_IDLE;
        c->undo &= ~(uint32_t)REENTRY_UNDO_REAL;
    }
    if (c->undo & REENTRY_UNDO_CREDIT)
        reentry_return_credit(c);
}

/* Block P, whose entry OLD has left the ledger, is being reallocated within C; an exception puts it
 * back. Then it has been reallocated, or not. */
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

/* Return the guard of a call of the real allocator by the annotator, from SLOT: calls from further
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
