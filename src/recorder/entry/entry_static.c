/* entry_static.c: functions that do nothing in a static program. It has one libc and no namespaces,
 * its functions cannot be looked up, and it unloads nothing. */
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
