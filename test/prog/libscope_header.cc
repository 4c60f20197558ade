/* cflags: -fno-builtin */
/* libscope_header.cc: operators that put 16 bytes in front of each block. */
#include <new>

#include "scope.h"

void *
operator new(size_t size)
{
    size_t *p = (size_t *)kept(malloc(size + 16));

    if (p == nullptr)
        throw std::bad_alloc();
    *p = size;
    return p + 2;
}

void
operator delete(void *p) noexcept
{
    if (p != nullptr)
        free((size_t *)p - 2);
}

void
operator delete(void *p, size_t size) noexcept
{
    if (p != nullptr && ((size_t *)p)[-2] != size) {
        say("this block is not mine\n");
        abort();
    }
    operator delete(p);
}
