/* libc.h: the program's libc, whose allocator can be called past us. See libc_dynamic.c. */
#ifndef ENTRY_LIBC_H
#define ENTRY_LIBC_H

#include "base/base.h"

/* What is to be done before the first lookup behind us, done now. */
void libc_prepare(void);

/* Before the program's call, from SLOT, of the dynamic linker's function WHICH: where that is. */
void *libc_before_lookup(uint64_t slot, uint32_t which);

#endif
