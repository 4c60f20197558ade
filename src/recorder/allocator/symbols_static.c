/* symbols_static.c: empty, since objects that a static program loads are not supported. */
#include "allocator/symbols.h"

/* The recorder is a part of the program, and its functions come first. */
bool
symbols_program_defines(const char *name)
{
    (void)name;
    return false;
}

void
symbols_unload_begins(void)
{
}

void
symbols_unload_ends(void)
{
}
