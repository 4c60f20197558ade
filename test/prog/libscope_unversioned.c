/* cflags: -fno-builtin */
/* libscope_unversioned.c: a plug-in in C that refers to operators without a version, like a library
 * linked without a C++ library. It allocates 1 block of 10 bytes. */
#include "scope.h"

void *_Znwm(size_t);
void _ZdlPv(void *);

SHOWN void
use(void)
{
    void *p;

    say("  new");
    p = kept(_Znwm(10));
    say(", delete");
    _ZdlPv(p);
    say("\n");
}
