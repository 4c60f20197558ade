/* nest.h: events that come while another is under way. See nest.c. All of this is signal-safe. */
#ifndef EVENT_NEST_H
#define EVENT_NEST_H

#include "account/thread.h"
#include "event/gate.h"
#include "platform/arch_x86_64.h"

/* An event while tls.busy was set: the next allocator has called back into us, or a signal handler
 * has interrupted the recorder. What a nest holds is put back when that event is over. */
struct nest {
    struct thread *self;
    uint64_t entered;
    uint32_t busy;
    bool first; // There was no struct to nest in.
};

enum nest_kind {
    NEST_RECORDED,    // Record it as usual, then call nest_ends.
    NEST_CALLED_BACK, // Part of an event that will be recorded.
    NEST_LOST,        // Counted as lost.
};

/* What is to become of an event that came from SLOT while tls.busy was set; asked before the next
 * allocator is called for it. nest_ends puts back what N holds. */
enum nest_kind nest_begins(struct nest *n, uint64_t slot);
void nest_ends(const struct nest *n);

/* For NEST_CALLED_BACK: the next allocator's function has asked for a block and got P, or NULL; ODD
 * as in block.h. */
void nest_inner_alloc(void *p, size_t size_bytes, bool odd, enum gate gate,
                      struct arch_caller caller);

/* That function is about to free P. */
void nest_inner_free(void *p, struct arch_caller caller);

/* It is about to reallocate P, which may be NULL: take out of the ledger what it knew of P, and
 * return that. */
struct ledger_entry nest_inner_realloc_begins(void *p, struct arch_caller caller);

/* It has reallocated P, of which OLD was known, and got RESULT. */
void nest_inner_realloc_ends(void *p, struct ledger_entry old, void *result, size_t size_bytes,
                             enum gate gate, struct arch_caller caller);

/* How many inner blocks there are before a function of the next allocator is called. */
static inline uint32_t
nest_mark(void)
{
    const struct thread *t = tls.self;

    return thread_is_ready(t) ? t->inner_count : 0;
}

/* The function, called when there were MARK, has returned RESULT, or an exception passes and RESULT
 * is NULL. tls.busy is still BUSY_NEXT, and will be BUSY_NO. */
void nest_settle(uint32_t mark, const void *result);

static inline void
nest_settles(uint32_t mark, const void *result)
{
    tls.nested_block = NULL;
    if (unlikely(nest_mark() > mark))
        nest_settle(mark, result);
}

/* An event that may be nested: nothing to be done unless tls.busy is set. */
struct nesting {
    enum nest_kind kind;
    bool begun;
    struct nest nest;
};

static inline struct nesting
nesting_begins(uint64_t slot)
{
    struct nesting n;

    n.kind = NEST_RECORDED;
    n.begun = false;
    if (unlikely(tls.busy != BUSY_NO)) {
        n.kind = nest_begins(&n.nest, slot);
        n.begun = n.kind == NEST_RECORDED;
    }
    return n;
}

static inline void
nesting_ends(const struct nesting *n)
{
    if (unlikely(n->begun))
        nest_ends(&n->nest);
}

/* Declare the nesting NAME, which begins here and ends when the block is left, be it by an
 * exception. */
#define NESTING(name, slot)                                                                        \
    struct nesting name __attribute__((cleanup(nesting_ends))) = nesting_begins(slot)

#endif
