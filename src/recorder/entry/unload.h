/* unload.h: dlclose, after which what was known of an object may be wrong. */
#ifndef ENTRY_UNLOAD_H
#define ENTRY_UNLOAD_H

#include "allocator/behind.h"

/* Close HANDLE by CLOSE, and forget what was known of what has gone. SLOT is where the return
 * address of the call is. */
int unload(dlclose_fn *close, void *handle, uint64_t slot);

#endif
