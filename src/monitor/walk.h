/* walk.h: the slow half of finding a stack. */
#ifndef MONITOR_WALK_H
#define MONITOR_WALK_H

#include "monitor/arch_x86_64.h"
#include "monitor/thread.h"

/* SLOT is outside what T knows of its own stack. True if it lies on it all the same (T knows more
 * then). */
bool walk_own_stack(struct thread *t, uint64_t slot);

/* The node of the stack behind CALLER, on whatever stack it runs, by the complete unwind tables.
 * Leaves T's memo alone. */
uint32_t walk_full(struct thread *t, struct arch_caller caller);

/* Does a signal frame lie between the intercepted function that was called from SLOT and the call
 * from END further out? False also if that cannot be seen. */
bool walk_meets_signal(struct thread *t, uint64_t slot, uint64_t end);

#endif
