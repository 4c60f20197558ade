/* language_natives.h: the C frames of a stack as adapters for languages see them. In an event. */
#ifndef STACK_LANGUAGE_NATIVES_H
#define STACK_LANGUAGE_NATIVES_H

#include "stack/language_memo.h"
#include "stack/stack.h"

/* Put those C frames of TARGET into M that are further in than the memo's that it goes on from,
 * after forgetting what was of frames that have changed. Returns how many of the memo's, from the
 * outermost on, it goes on from. */
uint32_t language_natives_inner(struct thread *t, struct language_memo *m,
                                const struct stack_target *target);

/* Put those of the memo up to number JOINED, from FIRST on, into M. */
void language_natives_outer(const struct thread *t, struct language_memo *m, uint32_t joined,
                            uint32_t first);

#endif
