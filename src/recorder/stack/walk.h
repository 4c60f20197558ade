/* walk.h: the slow half of finding a stack. */
#ifndef STACK_WALK_H
#define STACK_WALK_H

#include "account/thread.h"
#include "platform/arch_x86_64.h"

/* The node of the stack behind CALLER, on whatever stack it runs, by the complete unwind tables.
 * Leaves T's memo alone. Slots and frames are in T's walked ones. */
uint32_t walk_full(struct thread *t, struct arch_caller caller);

enum walk_between {
    WALK_UNKNOWN, // The stack cannot be seen that far.
    WALK_CALLS,   // END is where one of the callers was called.
    WALK_PASSES,  // It is not: that call was left by a jump.
    WALK_SIGNAL,  // A signal frame comes first.
};

/* What lies between the intercepted function that was called from SLOT and the call from END
 * further out? */
enum walk_between walk_between(struct thread *t, uint64_t slot, uint64_t end);

#endif
