/* symbols_static.c: empty, since objects that a static program loads are not supported. */
#include "allocator/symbols.h"

void
symbols_unload_begins(void)
{
}

void
symbols_unload_ends(void)
{
}
