/* outcall.h: a call of a next function that may call back into the recorder, and its charge.
 *
 * While it runs tls.busy is BUSY_NEXT. This distinguishes its inner requests from its result, which
 * is recorded once, under its caller (nest.c). A cleanup restores the busy word, so that an
 * exception leaves no trace. The personality and resume functions that this needs come from the
 * program's own libgcc_s and are weak: a C program has none and never gets here. */
#ifndef ENTRY_OUTCALL_H
#define ENTRY_OUTCALL_H

#include "event/event.h"
#include "event/gate.h"
#include "event/nest.h"

__asm__(".weak __gcc_personality_v0\n\t.weak _Unwind_Resume");

/* A call of the next allocator's function that may call back. */
struct outcall {
    uint32_t busy; // tls.busy before; BUSY_NO in an outermost call.
    bool returned; // The function returned; else an exception is passing.
    uint32_t mark; // nest_mark before.
    struct arch_caller caller;
};

static inline void
outcall_ends(struct outcall *s)
{
    if (s->busy != BUSY_NO)
        return;
    if (unlikely(!s->returned))
        nest_settles(s->mark, NULL);
    tls.busy = BUSY_NO;
    if (unlikely(!s->returned))
        event_alloc(NULL, 0, s->caller);
}

#define OUTCALL(name)                                                                              \
    struct outcall name                                                                            \
        __attribute__((cleanup(outcall_ends))) = {.busy = tls.busy, .caller = ARCH_CALLER()}

static inline void
outcall_begins(struct outcall *s)
{
    if (s->busy == BUSY_NO) {
        s->mark = nest_mark();
        tls.entered = s->caller.slot;
        tls.busy = BUSY_NEXT;
    }
    signal_fence();
}

/* The call has returned RESULT; NULL: no block. */
static inline void
outcall_returned(struct outcall *s, const void *result)
{
    s->returned = true;
    if (s->busy == BUSY_NO)
        nest_settles(s->mark, result);
}

/* A call that was charged and may call back into the recorder, which would charge it again. */
struct charged {
    int64_t credit, reserve; // Restored afterwards: the distance to the next sample.
    uint32_t change; // sample.change; if it differs afterwards, nothing is restored. 0 = none.
};

/* Upper bound for the inner request of an aligned allocation, a multiple of the alignment. */
enum { INNER_MORE_BYTES = 4096 };

static inline struct charged
charged_begins(enum gate gate, size_t size_bytes)
{
    struct charged c = {0};

    if (likely(gate == GATE_EXACT))
        return c;
    c = (struct charged){.credit = tls.credit, .reserve = tls.reserve, .change = tls.change};
    if (gate == GATE_PASS)
        tls.credit += (int64_t)draw_charge(size_bytes, tls.charge_mask) + INNER_MORE_BYTES;
    return c;
}

static inline void
charged_ends(struct charged *c)
{
    if (likely(c->change == 0) || tls.change != c->change)
        return;
    tls.credit = c->credit;
    tls.reserve = c->reserve;
}

#endif
