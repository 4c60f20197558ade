/* libscope_sized.cc: a plug-in in C++ that defines a sized delete, and no other operator. */
#include "scope_use.h"

NOINLINE void
operator delete(void *p, size_t size) noexcept
{
    say(" <sized>");
    free(p);
}
