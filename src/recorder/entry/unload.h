/* unload.h: dlclose, which may invalidate data about an object. */
#ifndef ENTRY_UNLOAD_H
#define ENTRY_UNLOAD_H

#include "allocator/real.h"

/* Close HANDLE by CLOSE, and drop data about objects that are gone. SLOT is the address of the
 * call's return address. */
int unload(dlclose_fn *close, void *handle, uint64_t slot);

#endif
