/* symbols_direct.c: empty, since objects that a static program loads are not supported. */
#include "allocator/symbols.h"

/* The recorder is a part of the program, and its functions come first. */
const char *
symbols_defined_before(const char *name)
{
    (void)name;
    return NULL;
}

void
symbols_unload_begins(void)
{
}

void
symbols_unload_ends(void)
{
}
