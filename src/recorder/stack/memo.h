/* memo.h: empties a thread's memo of stacks. See stack.c. Call from the thread that owns T. */
#ifndef STACK_MEMO_H
#define STACK_MEMO_H

#include "account/thread.h"

/* Empty T's memo. */
void memo_forget(struct thread *t);

/* Empty T's memo and drop all variant stacks. */
void memo_forget_all(struct thread *t);

#endif
