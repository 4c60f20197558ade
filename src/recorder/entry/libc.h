/* libc.h: the program's libc, whose allocator can be called past us. See libc_dynamic.c. */
#ifndef ENTRY_LIBC_H
#define ENTRY_LIBC_H

#include "base/base.h"

/* Do now what is to be done before the first lookup behind us. */
void libc_prepare(void);

/* The program calls the dynamic linker's function WHICH from SLOT. Get ready for that, and return
 * the function that is to be jumped to. */
void *libc_before_lookup(uint64_t slot, uint32_t which);

#endif
