/* annotate_origin.h: who has called the intercepted function that is at work, for those who write
 * that into the block: what we have put in front of the allocator behind us (annotate_next.c).
 *
 * It is not handed over by parameters, since they are called by pointers that without annotations
 * lead to the allocator itself. A signal handler that comes in between puts back what it has found.
 */
#ifndef ENTRY_ANNOTATE_ORIGIN_H
#define ENTRY_ANNOTATE_ORIGIN_H

#include "event/nest.h"
#include "platform/arch_x86_64.h"
#include "platform/state.h"

struct origin {
    uint64_t slot, rbp; // Of tls, before.
};

/* Calls that are part of another one come from where that does. */
static inline struct origin
origin_begins(enum nest_kind kind, struct arch_caller caller)
{
    struct origin o = {tls.origin_slot, tls.origin_rbp};

    if (likely(kind != NEST_CALLED_BACK)) {
        tls.origin_rbp = caller.rbp;
        tls.origin_slot = caller.slot;
    }
    return o;
}

static inline void
origin_ends(const struct origin *o)
{
    tls.origin_rbp = o->rbp;
    tls.origin_slot = o->slot;
}

/* Declare an origin, which lasts until the block is left, be it by an exception. */
#define ORIGIN(kind, caller)                                                                       \
    UNUSED struct origin origin __attribute__((cleanup(origin_ends))) = origin_begins(kind, caller)

#endif
