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

// The cleanup of a guard needs these functions when an exception passes it. They come from the
// program's own libgcc_s. They are weak, because a C program may lack them and never calls them.
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

/* Slow path of reentry_enter_thread: let the thread join, or read pending changes. T is the
 * thread's struct; NULL = none. Return its struct. If the event cannot be recorded, count it as
 * lost and return NULL. Call in an event. */
struct thread *reentry_join(struct thread *t);

/* Begin an event like reentry_enter, and return this thread's struct; a thread's first event
 * creates the struct. If the event cannot be recorded, count it as lost and return NULL. End with
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

/* The saved state of this thread during recorder work that is not an event. */
struct reentry_saved {
    uint64_t entered;
    uint32_t busy;
};

static inline struct reentry_saved
reentry_save(void)
{
    return (struct reentry_saved){.entered = tls.entered, .busy = tls.busy};
}

/* Enter the recorder for work that is not an event, in a call from SLOT, in any state. Return the
 * previous state. */
static inline struct reentry_saved
reentry_interrupt(uint64_t slot)
{
    struct reentry_saved saved = reentry_save();

    // In an event, keep the interrupted call's slot, because it shows if a longjmp has left that
    // call.
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
    bool first; // True if the thread had no struct when this event began.
};

/* Return the event in progress. */
struct reentry_nest reentry_here(void);

/* reentry_step_out: leave event N, so that another can begin. reentry_step_back: return to N. */
void reentry_step_out(const struct reentry_nest *n);
void reentry_step_back(const struct reentry_nest *n);

/* --- Calls of the real allocator -------------------------------------------------------------- */

enum reentry_kind {
    REENTRY_RECORDED,    // The event is recorded as usual.
    REENTRY_CALLED_BACK, // The call is part of the event in progress, which will be recorded:
                         // inner.h.
    REENTRY_LOST,        // The event is counted as lost.
    REENTRY_NO_EVENT,    // The real allocator is called inside an event.
};

/* Bits of `undo`: each names a state that reentry_end restores, and the fields with its saved
 * value. */
enum {
    REENTRY_UNDO_NEST = 1,        // The interrupted event: nest.
    REENTRY_UNDO_ORIGIN = 2,      // tls.origin_*: origin.
    REENTRY_UNDO_ANNOTATING = 4,  // tls.annotating: annotating.
    REENTRY_UNDO_BLOCK = 8,       // The ledger entry of the block being reallocated: p, old.
    REENTRY_UNDO_CREDIT = 16,     // The distance to the next sample: credit, reserve.
    REENTRY_UNDO_REAL = 32,       // tls.busy, while the real allocator has not returned.
};

/* The re-entry guard of one intercepted call. Its cleanup, reentry_end, undoes the changes listed
 * in `undo` when the call returns or an exception leaves it. A longjmp does not run the cleanup:
 * see reentry.c. */
struct reentry_call {
    enum reentry_kind kind;
    uint32_t undo; // Bits of REENTRY_UNDO_*. The fields of a clear bit are not initialised.
    struct arch_caller caller;
    union { // A call uses at most one member. The union saves stack space: below malloc, the
            // stack holds two guards.
        struct reentry_nest nest;
        uint64_t annotating;
    };
    struct arch_caller origin;
    void *p;
    struct ledger_entry old;
    int64_t credit, reserve;
    uint32_t change; // Value of sample.change at the start. If it differs at the end, the credit is
                     // not restored.
    uint32_t mark;   // Number of blocks held back before the call.
};

/* Upper bound in bytes of the part that the real allocator adds to an aligned allocation, a
 * multiple of the alignment. */
enum { REENTRY_INNER_BYTES = 4096 };

/* Slow path of reentry_begin, for a call while an event is in progress. */
void reentry_nest(struct reentry_call *c);

/* Like reentry_nest, for a call C through heaptap.h. Calls from inside the real allocator are
 * recorded too. */
void reentry_nest_own(struct reentry_call *c);

/* Slow path of reentry_end. */
void reentry_unwind(struct reentry_call *c);

/* Slow path of reentry_real_end: count the blocks held back from index MARK on, except RESULT.
 * Change REENTRY_IN_REAL to REENTRY_IDLE. */
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

/* Begin the intercepted call C from CALLER in any state. The result is C's kind. Costs one branch
 * unless an event is in progress. C is a parameter, because gcc would copy a returned struct once
 * more. */
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
    // A call that is part of another call keeps the origin of the outer call.
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

/* Declare the guard NAME. It ends when control leaves the enclosing block, even by an exception. */
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
 * its result is recorded once, under the caller of C. Has no effect inside another call of such a
 * function. */
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

/* End the call of the real allocator function, which has returned RESULT; NULL = no block. */
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

/* reentry_take_block: if an exception leaves C, let the cleanup insert the entry OLD of block P,
 * which is being reallocated, into the ledger again. reentry_block_taken: cancel this, because the
 * reallocation has returned. */
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

/* Return the guard for a call of the real allocator by the annotator, from SLOT. Deeper calls come
 * from the allocator itself. */
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
