/* recorded.h: code that the entries share. Records an allocation, free or reallocation that needs
 * an event, before or after the call of the real allocator. */
#ifndef ENTRY_RECORDED_H
#define ENTRY_RECORDED_H

#include "account/limit.h"
#include "entry/entry.h"
#include "event/event.h"
#include "event/gate.h"
#include "event/inner.h"
#include "event/reentry.h"
#include "event/sampled.h"

/* If POINTER is NULL although SIZE_BYTES were requested, and the recorder has unmapped memory,
 * repeat CALL. */
#define AGAIN(pointer, size_bytes, call)                                                           \
    do {                                                                                           \
        if (unlikely((pointer) == NULL) && limit_gives_back(size_bytes))                           \
            (pointer) = (call);                                                                    \
    } while (0)

/* Save the credit if GATE, the decision about SIZE_BYTES, requires it. Then the real allocator's
 * own requests within C are not charged, until the next reentry_real_end. */
static inline void
charge(struct reentry_call *c, enum gate gate, size_t size_bytes)
{
    // In exact recording, and before the thread has credit, charging them does no harm.
    if (gate == GATE_PASS || gate == GATE_SAMPLE)
        reentry_save_credit(c, size_bytes);
}

/* Record that P was allocated for SIZE_BYTES, within C. GATE is the decision, which is not
 * GATE_PASS. */
static inline void
allocated(const struct reentry_call *c, enum gate gate, void *p, size_t size_bytes,
          struct arch_caller caller)
{
    if (unlikely(c->kind != REENTRY_RECORDED)) {
        if (c->kind == REENTRY_CALLED_BACK)
            inner_alloc(p, size_bytes, false, gate, caller);
        return;
    }
    if (unlikely(gate == GATE_FIRST))
        gate = gate_first(size_bytes, caller.slot);
    if (likely(gate == GATE_EXACT))
        event_alloc(p, size_bytes, caller);
    else if (gate == GATE_SAMPLE)
        sampled_alloc(p, size_bytes, caller);
}

/* Like `allocated`, but not nested. Unless P is tls.nested_block, the allocator cannot report its
 * size. */
static inline void
allocated_outer(enum gate gate, void *p, size_t size_bytes, struct arch_caller caller)
{
    if (unlikely(gate == GATE_FIRST))
        gate = gate_first(size_bytes, caller.slot);
    if (likely(gate == GATE_EXACT))
        event_alloc_outer(p, size_bytes, caller);
    else if (gate == GATE_SAMPLE)
        sampled_alloc(p, size_bytes, caller);
}

/* Record that P is about to be freed, within C. */
static inline void
freed(const struct reentry_call *c, void *p, struct arch_caller caller)
{
    if (likely(c->kind == REENTRY_RECORDED))
        event_free(p, caller);
    else if (c->kind == REENTRY_CALLED_BACK)
        inner_free(p, caller);
}

/* Return the size in bytes of COUNT elements. Return SIZE_MAX on overflow: the call fails then, and
 * no block has that size. */
static inline size_t
product(size_t count, size_t each_bytes)
{
    size_t bytes;

    return __builtin_mul_overflow(count, each_bytes, &bytes) ? SIZE_MAX : bytes;
}

/* Make a reallocating call, within C. Return the new block as the ledger's key for it. */
typedef void *resize_fn(struct reentry_call *c, void *arguments);

/* Record the reallocation of P, not NULL, to SIZE_BYTES, within C. Call RESIZE with ARGUMENTS once
 * to reallocate. Requires REENTRY_RECORDED. If an exception leaves the call, P stays in the
 * ledger. */
static INLINE void *
realloc_recorded(struct reentry_call *c, enum gate gate, void *p, size_t size_bytes,
                 resize_fn *resize, void *arguments)
{
    struct ledger_entry old = event_realloc_begin(p, c->caller);
    void *q;

    reentry_take_block(c, p, old);
    if (unlikely(gate == GATE_FIRST))
        gate = gate_first(size_bytes, c->caller.slot);
    if (unlikely(gate == GATE_SAMPLE) && old.site == 0 && !ledger_is_hooked(p))
        old.size_bytes = ledger_usable(p);
    q = resize(c, arguments);
    reentry_block_taken(c);
    if (likely(gate == GATE_EXACT))
        event_realloc_end(p, old, q, size_bytes, q != NULL || size_bytes == 0, c->caller);
    else
        sampled_realloc_end(p, old, q, size_bytes, q != NULL || size_bytes == 0, gate, c->caller);
    return q;
}

/* Like realloc_recorded, but C may have any kind, GATE may be GATE_PASS, and P may be NULL. */
static INLINE void *
realloc_in(struct reentry_call *c, enum gate gate, void *p, size_t size_bytes, resize_fn *resize,
           void *arguments)
{
    void *q;

    if (unlikely(c->kind == REENTRY_LOST) ||
        (gate == GATE_PASS && (p == NULL || gate_leaves_out(p))))
        return resize(c, arguments);
    if (unlikely(c->kind == REENTRY_CALLED_BACK)) {
        struct ledger_entry old = inner_realloc_begin(p, c->caller);

        q = resize(c, arguments);
        inner_realloc_end(p, old, q, size_bytes, gate, c->caller);
        return q;
    }
    if (p != NULL)
        return realloc_recorded(c, gate, p, size_bytes, resize, arguments);
    q = resize(c, arguments);
    allocated(c, gate, q, size_bytes, c->caller);
    return q;
}

/* The arguments of a call of realloc. */
struct realloc_arguments {
    realloc_fn *function;
    void *p;
    size_t size_bytes;
};

static INLINE void *
realloc_by(struct reentry_call *c, void *arguments)
{
    const struct realloc_arguments *a = arguments;
    void *q = a->function(a->p, a->size_bytes);

    (void)c;
    AGAIN(q, a->size_bytes, a->function(a->p, a->size_bytes));
    return q;
}

#endif
