/* annotate_origin.h: the caller of the intercepted function, for annotate_next.c, which writes it
 * into blocks.
 *
 * It is passed in tls and not by parameters, because the functions are called by pointers that lead
 * to the allocator itself when there are no annotations. A signal handler that comes in between
 * restores it. */
#ifndef ENTRY_ANNOTATE_ORIGIN_H
#define ENTRY_ANNOTATE_ORIGIN_H

#include "event/nest.h"
#include "platform/arch_x86_64.h"
#include "platform/state.h"

struct origin {
    uint64_t slot, rbp; // The values in tls before.
};

/* A call that is part of another one keeps the origin of that one. */
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

/* Declare an origin, which lasts until the block is left, also by an exception. */
#define ORIGIN(kind, caller)                                                                       \
    UNUSED struct origin origin __attribute__((cleanup(origin_ends))) = origin_begins(kind, caller)

#endif
