/* language_path.h: builds the path of a C stack with the frames of a language among the C
 * frames. */
#ifndef MIXED_LANGUAGE_PATH_H
#define MIXED_LANGUAGE_PATH_H

#include "mixed/language_memo.h"
#include "stack/stack.h"

/* Return the node for the C frames of TARGET merged with the COUNT frames of M's answer. Call in an
 * event of T. */
uint32_t language_path(struct thread *t, struct language_memo *m, const struct stack_target *target,
                       uint32_t count);

#endif
