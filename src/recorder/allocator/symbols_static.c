/* symbols_static.c: nothing, since what a static program loads and unloads is beyond us. */
#include "allocator/symbols.h"

void
symbols_unload_begins(void)
{
}

void
symbols_unload_ends(void)
{
}
