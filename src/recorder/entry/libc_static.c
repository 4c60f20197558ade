/* libc_static.c: empty, since a static program's functions cannot be looked up. */
#include "entry/libc.h"

void
libc_prepare(void)
{
}
