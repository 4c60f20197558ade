/* shim.h: private names for the intercepted functions of shim.c, so that the recorder reaches them
 * whatever the exported names resolve to. */
#ifndef ENTRY_SHIM_H
#define ENTRY_SHIM_H

#include "allocator/real.h"

alloc_fn own_malloc, own_valloc, own_pvalloc;
calloc_fn own_calloc;
realloc_fn own_realloc;
free_fn own_free;
posix_memalign_fn own_posix_memalign;
memalign_fn own_aligned_alloc, own_memalign;

#endif
