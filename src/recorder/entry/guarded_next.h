/* guarded_next.h: guards calls of a real allocator whose functions call one another. */
#ifndef ENTRY_GUARDED_NEXT_H
#define ENTRY_GUARDED_NEXT_H

#include "allocator/real.h"

/* Replace the functions in N, an allocator that may call its own functions by name, by functions
 * whose inner calls are no events. N must not contain the replacements already. */
void guarded_next_in_front(struct real_allocator *n);

#endif
