/* short.h: short stacks, which end at the allocation site. See short.c. */
#ifndef STACK_SHORT_H
#define STACK_SHORT_H

#include "account/thread.h"
#include "platform/arch_x86_64.h"

/* Create T's table of short stacks. Return false without memory. */
bool short_start(struct thread *t);

/* Drop all of T's short stacks, because code was unloaded. */
void short_forget(struct thread *t);

/* Return the target for the whole stack NODE. One allocation in T's callers_period has one. Valid
 * until the next call. */
struct stack_target *short_whole(struct thread *t, uint32_t node);

/* Return true if TARGET is in T's table. Its sites depend on neither languages nor labels. */
bool short_has(const struct thread *t, const struct stack_target *target);

/* Return where blocks of the site that called from CALLER are counted, without its callers. Call in
 * an event of T, which must have a table. Valid until the next call. */
struct stack_target *short_target(struct thread *t, struct arch_caller caller);

#endif
