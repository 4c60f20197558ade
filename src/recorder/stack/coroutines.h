/* coroutines.h: memos of stacks other than the thread's own. See coroutines.c. Call in an event,
 * from the thread that owns T. */
#ifndef STACK_COROUTINES_H
#define STACK_COROUTINES_H

#include "account/thread.h"

/* Prove the stack that contains SLOT, which is not T's own. Return its memo, a struct thread whose
 * own stack is the proved range; NULL if there is no memo or a page is unreadable. coroutines_leave
 * must follow. */
struct thread *coroutines_enter(struct thread *t, uint64_t slot);

/* The event has found its stack in the memo that coroutines_enter has returned, or has not. */
void coroutines_leave(struct thread *t);

/* Note where the stack ends that walk_full has walked from SLOT. */
void coroutines_note(struct thread *t, uint64_t slot);

/* Empty T's memos of such stacks, and drop their variant stacks. */
void coroutines_forget(struct thread *t);

/* Do the same, and drop their rules. */
void coroutines_forget_code(struct thread *t);

/* Return the struct that contains TARGET and its frames: T, or one of T's memos of such stacks. */
const struct thread *coroutines_owner(const struct thread *t, const struct stack_target *target);

#endif
