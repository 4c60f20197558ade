/* bypass_static.c: empty, because a static program has one libc and no namespaces. */
#include "entry/entry.h"

void
bypass_look(uint64_t slot)
{
    (void)slot;
}
