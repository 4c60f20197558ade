/* walk.h: the slow path for finding a stack. */
#ifndef STACK_WALK_H
#define STACK_WALK_H

#include "account/thread.h"
#include "platform/arch_x86_64.h"

/* Return the node of the stack that called from CALLER, on any stack, by the complete unwind
 * tables. Does not change T's memo. Stores slots and frames in T's `walked`. */
uint32_t walk_full(struct thread *t, struct arch_caller caller);

enum walk_between {
    WALK_UNKNOWN, // The walk does not reach that far.
    WALK_CALLS,   // END contains the return address of a caller.
    WALK_PASSES,  // END does not: a longjmp has left that call.
    WALK_SIGNAL,  // A signal frame comes first.
};

/* Determine if the call whose return address is at END is still among the callers of the
 * intercepted function that was called from SLOT. */
enum walk_between walk_between(struct thread *t, uint64_t slot, uint64_t end);

#endif
