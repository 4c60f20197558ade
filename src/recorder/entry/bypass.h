/* bypass.h: calls of libc's own allocator that do not reach it through link order. See
 * bypass_dynamic.c. */
#ifndef ENTRY_BYPASS_H
#define ENTRY_BYPASS_H

#include "allocator/real.h"

/* Return the functions to put in front of the program's libc if the real allocator is another one;
 * NULL if it is libc's own, or libc is not known. */
const struct real_allocator *bypass_front(void);

/* dlclose of the program's libc, which must be known. The next dlclose in link order may belong to
 * an object that has looked up libc's, and found this one. */
dlclose_fn bypass_dlclose;

/* From now on, lookups of allocator functions in the program's libc find those in FRONT. Call once,
 * when libc is known. A failure is counted as a loss. */
void bypass_take(const struct real_allocator *front);

/* Examine a call of calloc from SLOT during dlmopen: it may come from the dynamic linker. */
void bypass_look(uint64_t slot);

#endif
