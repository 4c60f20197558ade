/* libscope_sized.cc: a plug-in in C++ with a sized delete of its own, and nothing else. */
#include "scope_use.h"

NOINLINE void
operator delete(void *p, size_t size) noexcept
{
    say(" <sized>");
    free(p);
}
