/* libc.h: redirects the program's libc, whose allocator can be called without the recorder. See
 * libc_dynamic.c. */
#ifndef ENTRY_LIBC_H
#define ENTRY_LIBC_H

#include "base/base.h"

/* Redirect libc, before the program's first lookup. */
void libc_prepare(void);

/* Prepare for the program's call of the dynamic linker's function number WHICH from SLOT. Return
 * the function to jump to. */
void *libc_before_lookup(uint64_t slot, uint32_t which);

#endif
