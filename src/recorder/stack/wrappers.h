/* wrappers.h: the code of allocation wrappers in the loaded objects. */
#ifndef STACK_WRAPPERS_H
#define STACK_WRAPPERS_H

#include "account/thread.h"

/* Allocate the list of modules when recording starts. Return false without memory. */
bool wrappers_start(void);

/* Return true if FRAME, a return address with its module, is in a function that only obtains memory
 * for its caller, as far as the symbols of its object show. T is the calling thread's struct. */
bool wrappers_have(struct thread *t, uint64_t frame);

#endif
