/* recorded.h: code common to the entries: record an allocation, free or reallocation that the gate
 * did not let pass, around the call itself. */
#ifndef ENTRY_RECORDED_H
#define ENTRY_RECORDED_H

#include "account/limit.h"
#include "entry/next.h"
#include "entry/outcall.h"
#include "event/block.h"
#include "event/event.h"
#include "event/gate.h"
#include "event/nest.h"
#include "event/sampled.h"

/* If POINTER is NULL although SIZE_BYTES were requested, repeat CALL if the recorder could give
 * address space back. */
#define AGAIN(pointer, size_bytes, call)                                                           \
    do {                                                                                           \
        if (unlikely((pointer) == NULL) && limit_gives_back(size_bytes))                           \
            (pointer) = (call);                                                                    \
    } while (0)

/* Record that P was allocated for SIZE_BYTES, in the nesting N. GATE did not let it pass. */
static inline void
allocated(const struct nesting *n, enum gate gate, void *p, size_t size_bytes,
          struct arch_caller caller)
{
    if (unlikely(n->kind != NEST_RECORDED)) {
        if (n->kind == NEST_CALLED_BACK)
            nest_inner_alloc(p, size_bytes, false, gate, caller);
        return;
    }
    if (unlikely(gate == GATE_FIRST))
        gate = gate_first(size_bytes, caller.slot);
    if (likely(gate == GATE_EXACT))
        event_alloc(p, size_bytes, caller);
    else if (gate == GATE_SAMPLE)
        sampled_alloc(p, size_bytes, caller);
}

/* Like `allocated`, not nested, for a block P whose size the allocator cannot report, unless P is
 * tls.nested_block. */
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

/* Record that P is about to be freed, in the nesting N. */
static inline void
freed(const struct nesting *n, void *p, struct arch_caller caller)
{
    if (likely(n->kind == NEST_RECORDED))
        event_free(p, caller);
    else if (n->kind == NEST_CALLED_BACK)
        nest_inner_free(p, caller);
}

/* A block that has left the ledger to be resized. */
struct resized {
    void *p;
    struct ledger_entry old;
    uint64_t slot;
    bool told; // The call returned; else an exception is passing, and the block is unchanged.
};

static inline void
resized_ends(const struct resized *r)
{
    struct thread *t;

    if (likely(r->told))
        return;
    t = enter_cold(r->slot);
    if (t != NULL)
        block_keep_again(t, r->p, r->old);
    enter_ends_cold();
}

static inline void *
realloc_recorded(const struct next *from, enum gate gate, void *p, size_t size_bytes,
                 struct arch_caller caller)
{
    struct resized r __attribute__((cleanup(resized_ends))) = {.p = p, .slot = caller.slot};
    void *q;

    r.old = event_realloc_begin(p, caller);
    if (unlikely(gate == GATE_FIRST))
        gate = gate_first(size_bytes, caller.slot);
    if (gate == GATE_SAMPLE && r.old.site == 0)
        r.old.size_bytes = ledger_usable(p);
    q = from->realloc(p, size_bytes);
    AGAIN(q, size_bytes, from->realloc(p, size_bytes));
    r.told = true;
    if (likely(gate == GATE_EXACT))
        event_realloc_end(p, r.old, q, size_bytes, q != NULL || size_bytes == 0, caller);
    else
        sampled_realloc_end(p, r.old, q, size_bytes, q != NULL || size_bytes == 0, gate, caller);
    return q;
}

/* Reallocate P by FROM, on a request of the next allocator. */
static COLD UNUSED void *
realloc_inner(const struct next *from, enum gate gate, void *p, size_t size_bytes,
              struct arch_caller caller)
{
    struct ledger_entry old = nest_inner_realloc_begins(p, caller);
    void *q = from->realloc(p, size_bytes);

    nest_inner_realloc_ends(p, old, q, size_bytes, gate, caller);
    return q;
}

/* Reallocate P by FROM, in the nesting N. */
static inline void *
realloc_in(const struct next *from, const struct nesting *n, enum gate gate, void *p,
           size_t size_bytes, struct arch_caller caller)
{
    void *q;

    if (unlikely(n->kind == NEST_LOST))
        return from->realloc(p, size_bytes);
    if (unlikely(n->kind == NEST_CALLED_BACK))
        return realloc_inner(from, gate, p, size_bytes, caller);
    if (p != NULL)
        return realloc_recorded(from, gate, p, size_bytes, caller);
    q = from->realloc(p, size_bytes);
    AGAIN(q, size_bytes, from->realloc(p, size_bytes));
    if (gate != GATE_PASS)
        allocated(n, gate, q, size_bytes, caller);
    return q;
}

#endif
