/* cflags: -fno-builtin */
/* libscope_aligns.c: an allocator whose malloc calls its memalign, by the public name. */
#include <malloc.h>

#include "scope.h"

void *__libc_memalign(size_t, size_t);

NOINLINE void *
memalign(size_t align, size_t size)
{
    return kept(__libc_memalign(align, size));
}

void *
malloc(size_t size)
{
    return kept(memalign(64, size));
}
