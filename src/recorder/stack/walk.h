/* walk.h: the slow path of finding a stack. */
#ifndef STACK_WALK_H
#define STACK_WALK_H

#include "account/thread.h"
#include "platform/arch_x86_64.h"

/* Return the node of the stack that called from CALLER, on any stack, by the complete unwind
 * tables. Leaves T's memo alone. Stores slots and frames in T's `walked`. */
uint32_t walk_full(struct thread *t, struct arch_caller caller);

enum walk_between {
    WALK_UNKNOWN, // The walk does not reach that far.
    WALK_CALLS,   // END holds the return address of a caller.
    WALK_PASSES,  // It does not: a jump has left that call.
    WALK_SIGNAL,  // A signal frame comes first.
};

/* Find out whether the call with its return address at END is still among the callers of the
 * intercepted function that was called from SLOT. */
enum walk_between walk_between(struct thread *t, uint64_t slot, uint64_t end);

#endif
