/* unload.h: intercepts dlclose, which may invalidate data about an object. */
#ifndef ENTRY_UNLOAD_H
#define ENTRY_UNLOAD_H

#include "allocator/real.h"

/* Close HANDLE by calling CLOSE, and drop data about unloaded objects. SLOT is the address of the
 * call's return address. */
int unload(dlclose_fn *close, void *handle, uint64_t slot);

#endif
