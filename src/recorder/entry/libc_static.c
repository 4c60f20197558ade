/* libc_static.c: empty, because the functions of a static program cannot be looked up. */
#include "entry/entry.h"

void
libc_prepare(void)
{
}
