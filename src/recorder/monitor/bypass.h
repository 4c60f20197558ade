/* bypass.h: libc's own allocator, when that is called and not what comes first in link order. See
 * bypass.c. */
#ifndef MONITOR_BYPASS_H
#define MONITOR_BYPASS_H

#include "monitor/next.h"

/* The intercepted functions (shim.c), for ourselves. */
alloc_fn own_malloc, own_valloc, own_pvalloc;
calloc_fn own_calloc;
realloc_fn own_realloc;
free_fn own_free;
posix_memalign_fn own_posix_memalign;
memalign_fn own_aligned_alloc, own_memalign;
dlclose_fn own_dlclose;

/* What is to be done before the first lookup behind us, done now. */
void bypass_prepare(void);

/* A call of calloc from SLOT while dlmopen is under way, perhaps by the dynamic linker. */
void bypass_look(uint64_t slot);

/* Before the program's call, from SLOT, of the dynamic linker's function WHICH: where that is. */
void *bypass_before_lookup(uint64_t slot, uint32_t which);

#endif
