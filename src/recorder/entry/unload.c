/* unload.c: dlclose, after which what was known of an object may be wrong. */
#include "entry/unload.h"

#include "allocator/symbols.h"
#include "entry/hook_names.h"
#include "entry/next.h"
#include "event/event.h"

int dlclose(void *handle);

EXPORT int
dlclose(void *handle)
{
    int result;

    symbols_unload_begins();
    result = next.dlclose(handle);
    symbols_unload_ends();
    hook_names_forget();
    event_unloaded(ARCH_SLOT());
    return result;
}

/* The same for ourselves. */
__asm__(".globl own_dlclose\n\t.hidden own_dlclose\n\t.set own_dlclose, dlclose");
