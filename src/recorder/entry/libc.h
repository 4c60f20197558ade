/* libc.h: redirect the program's libc, whose allocator can be called past the recorder. See
 * libc_dynamic.c. */
#ifndef ENTRY_LIBC_H
#define ENTRY_LIBC_H

#include "base/base.h"

/* Redirect libc now, before the first lookup by the program. */
void libc_prepare(void);

/* Prepare for the program's call of the dynamic linker's function WHICH from SLOT. Return the
 * function to jump to. */
void *libc_before_lookup(uint64_t slot, uint32_t which);

#endif
