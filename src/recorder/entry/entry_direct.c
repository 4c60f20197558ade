/* entry_direct.c: stubs of functions that have no work in a static program. A static program has
 * one libc and no namespaces, its functions cannot be looked up, and it unloads no objects. */
#include "entry/entry.h"

void
bypass_look(uint64_t slot)
{
    (void)slot;
}

void
hook_names_invalidate(void)
{
}

void
libc_prepare(void)
{
}
