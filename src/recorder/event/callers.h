/* callers.h: which allocations are recorded with their callers; see callers.c. */
#ifndef EVENT_CALLERS_H
#define EVENT_CALLERS_H

#include "account/thread.h"
#include "event/mode.h"
#include "stack/short.h"

/* Return true if most stacks of T, the calling thread's struct, are short. Prepare T for that. */
bool callers_are_sampled(struct thread *t);

/* Draw the number of T's allocations up to the next with a whole stack. */
void callers_draw(struct thread *t);

/* Return the target of the whole stack that called from CALLER, for a chosen allocation. */
struct stack_target *callers_whole(struct thread *t, struct arch_caller caller);

/* Choose the short or the whole stack for the allocation that called from CALLER, and return its
 * target, without labels. Call it once for each allocation. Requires callers_are_sampled. Valid
 * until the next call. */
static inline struct stack_target *
callers_target(struct thread *t, struct arch_caller caller)
{
    if (unlikely(--t->callers_left < 0))
        return callers_whole(t, caller);
    return short_target(t, caller);
}

/* Decide like callers_target, in any thread. Return the sites where the block is counted, with the
 * thread's labels. */
uint32_t *callers_sites(struct thread *t, struct arch_caller caller);

#endif
