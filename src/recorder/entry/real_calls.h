/* real_calls.h: the functions that the recorder calls: the next ones in link order, or their
 * replacements. */
#ifndef ENTRY_REAL_CALLS_H
#define ENTRY_REAL_CALLS_H

#include "allocator/real.h"

/* The functions. None is NULL, except addresses to jump to. Before real_calls_resolve has run, each
 * function first runs it and then continues. A function that does not exist fails. */
extern struct real_allocator real;

/* Resolve all functions. Has no effect when called again. Async-signal-safe; threads may run it
 * concurrently. */
void real_calls_resolve(void);

#endif
