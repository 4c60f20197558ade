/* language_natives.h: prepares the C frames of a stack for language adapters. Call in an event of
 * T. */
#ifndef MIXED_LANGUAGE_NATIVES_H
#define MIXED_LANGUAGE_NATIVES_H

#include "mixed/language_memo.h"
#include "stack/stack.h"

/* Drop results in M that depend on changed memo frames. Then store the C frames of TARGET inside
 * those that it shares with the memo. Return the number of shared frames. */
uint32_t language_natives_inner(struct thread *t, struct language_memo *m,
                                const struct stack_target *target);

/* Store the memo's frames [FIRST, JOINED] in M. */
void language_natives_outer(const struct thread *t, struct language_memo *m, uint32_t joined,
                            uint32_t first);

#endif
