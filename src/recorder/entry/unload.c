/* unload.c: intercepts dlclose, which may invalidate data about an object. */
#include "entry/entry.h"

#include "access/counted_blocks.h"
#include "allocator/symbols.h"
#include "event/event.h"

int dlclose(void *handle);

int
unload(dlclose_fn *close, void *handle, uint64_t slot)
{
    int result;

    access_unloads();
    symbols_unload_begins();
    result = close(handle);
    symbols_unload_ends();
    hook_names_invalidate();
    event_unloaded(slot);
    return result;
}

EXPORT int
dlclose(void *handle)
{
    return unload(real.dlclose, handle, ARCH_SLOT());
}
