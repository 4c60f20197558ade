/* nest.h: events that occur while another is in progress. See nest.c. All functions are
 * async-signal-safe. */
#ifndef EVENT_NEST_H
#define EVENT_NEST_H

#include "account/thread.h"
#include "event/gate.h"
#include "platform/arch_x86_64.h"

/* State saved by an event while tls.busy was set, and restored when that event is over. Either the
 * next allocator has called back into the recorder, or a signal handler has interrupted it. */
struct nest {
    struct thread *self;
    uint64_t entered;
    uint32_t busy;
    bool first; // There was no struct to nest in.
};

enum nest_kind {
    NEST_RECORDED,    // Record it as usual, then call nest_ends.
    NEST_CALLED_BACK, // Part of an outer event that will be recorded.
    NEST_LOST,        // Counted as lost.
};

/* Decide about an event that came from SLOT while tls.busy was set. Call it before the next
 * allocator. nest_ends restores the state in N. */
enum nest_kind nest_begins(struct nest *n, uint64_t slot);
void nest_ends(const struct nest *n);

/* For NEST_CALLED_BACK: the next allocator's function has allocated P, or NULL. ODD as in
 * block.h. */
void nest_inner_alloc(void *p, size_t size_bytes, bool odd, enum gate gate,
                      struct arch_caller caller);

/* That function is about to free P. */
void nest_inner_free(void *p, struct arch_caller caller);

/* It is about to reallocate P, which may be NULL: remove its entry from the ledger and return
 * it. */
struct ledger_entry nest_inner_realloc_begins(void *p, struct arch_caller caller);

/* It has reallocated P, whose entry was OLD, and got RESULT. */
void nest_inner_realloc_ends(void *p, struct ledger_entry old, void *result, size_t size_bytes,
                             enum gate gate, struct arch_caller caller);

/* Return the number of inner blocks. Call it before a function of the next allocator. */
static inline uint32_t
nest_mark(void)
{
    const struct thread *t = tls.self;

    return thread_is_ready(t) ? t->inner_count : 0;
}

/* The function, called when nest_mark returned MARK, has returned RESULT; or it raises an exception
 * and RESULT is NULL. Requires tls.busy to be BUSY_NEXT, and sets it to BUSY_NO. */
void nest_settle(uint32_t mark, const void *result);

static inline void
nest_settles(uint32_t mark, const void *result)
{
    tls.nested_block = NULL;
    if (unlikely(nest_mark() > mark))
        nest_settle(mark, result);
}

/* An event that may be nested. Costs one branch unless tls.busy is set. */
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

/* Declare the nesting NAME, which begins here and ends when the block is left, also by an
 * exception. */
#define NESTING(name, slot)                                                                        \
    struct nesting name __attribute__((cleanup(nesting_ends))) = nesting_begins(slot)

#endif
