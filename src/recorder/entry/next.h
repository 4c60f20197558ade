/* next.h: the functions that we call, those behind us or what we have put in front of them. */
#ifndef ENTRY_NEXT_H
#define ENTRY_NEXT_H

#include "allocator/behind.h"

/* No function is NULL; only an address to jump to may be. Before next_resolve has run, a function
 * runs it first and then goes on; one that nobody has fails. */
extern struct next next;

/* Find all of them; does nothing the second time. Signal-safe, and any number of threads may be
 * the first. */
void next_resolve(void);

#endif
