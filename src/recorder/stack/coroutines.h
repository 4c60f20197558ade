/* coroutines.h: memos of stacks other than the thread's own. See coroutines.c. Call in an event,
 * from the thread that owns T. */
#ifndef STACK_COROUTINES_H
#define STACK_COROUTINES_H

#include "account/thread.h"

/* Prove the stack that contains SLOT, which is not T's own. Return its memo, a struct thread whose
 * own stack is the proved range; NULL if there is no memo or a page is unreadable. coroutines_leave
 * must follow. */
struct thread *coroutines_enter(struct thread *t, uint64_t slot);

/* End the use of the memo that coroutines_enter has returned, whether or not the event found its
 * stack in it. */
void coroutines_leave(struct thread *t);

/* Store the end of the stack that walk_full has just walked from SLOT, so that coroutines_enter can
 * prove that stack at the next event. */
void coroutines_note(struct thread *t, uint64_t slot);

/* Empty T's memos of stacks other than its own, and drop their variant stacks. */
void coroutines_forget(struct thread *t);

/* Like coroutines_forget, and also drop the cached unwind rules of these memos. */
void coroutines_forget_code(struct thread *t);

/* Return the struct that contains TARGET and its frames: T, or one of T's memos of stacks other
 * than its own. */
const struct thread *coroutines_owner(const struct thread *t, const struct stack_target *target);

#endif
