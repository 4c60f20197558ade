/* bypass.h: intercepts calls of libc's own allocator that do not follow link order. See
 * bypass_dynamic.c. */
#ifndef ENTRY_BYPASS_H
#define ENTRY_BYPASS_H

#include "allocator/real.h"

/* Return the functions that replace those of the program's libc, or NULL if none are needed: if the
 * real allocator is libc's, or if libc is unknown. */
const struct real_allocator *bypass_front(void);

/* Call dlclose of the program's libc, which must be known. The next dlclose in link order may
 * belong to an object that has looked up libc's and found this one. */
dlclose_fn bypass_dlclose;

/* Redirect lookups of allocator functions in the program's libc to FRONT. Call once, when libc is
 * known. A failure is counted as a loss. */
void bypass_take(const struct real_allocator *front);

/* Examine a call of calloc from SLOT during dlmopen, because it may come from the dynamic
 * linker. */
void bypass_look(uint64_t slot);

#endif
