/* libc_static.c: nothing, since nobody looks up functions of a static program. */
#include "entry/libc.h"

void
libc_prepare(void)
{
}
