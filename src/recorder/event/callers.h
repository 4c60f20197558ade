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

/* Decide about the allocation that called from CALLER, once for each. Return the target of its
 * short stack; NULL: record the whole one. Requires callers_are_sampled. */
static inline struct stack_target *
callers_target(struct thread *t, struct arch_caller caller)
{
    if (unlikely(--t->callers_left < 0)) {
        callers_draw(t);
        return NULL;
    }
    return short_target(t, caller);
}

/* Decide like callers_target, in any thread. Return the sites where the block is counted, with the
 * thread's labels. */
uint32_t *callers_sites(struct thread *t, struct arch_caller caller);

#endif
