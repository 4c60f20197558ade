/* real_calls.h: the functions that the recorder calls: the next ones in link order, or those put in
 * front of them. */
#ifndef ENTRY_REAL_CALLS_H
#define ENTRY_REAL_CALLS_H

#include "allocator/real.h"

/* No function is NULL; only an address to jump to may be. Before real_calls_resolve has run, each
 * function runs it first and then continues. A function that does not exist fails. */
extern struct real_allocator real;

/* Resolve all of them; does nothing the second time. Async-signal-safe; any number of threads may
 * run it at once. */
void real_calls_resolve(void);

#endif
