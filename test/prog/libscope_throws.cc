/* cflags: -fno-builtin */
/* libscope_throws.cc: an allocator that throws on a request for 77,777 bytes. */
#include <new>

#include "scope.h"

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

static void
look(size_t size)
{
    if (size == 77777)
        throw std::bad_alloc();
}

// These are defined by their names in the object file, because no declaration with throw() may
// precede them.
void *throws_malloc(size_t) __asm__("malloc");
void *throws_calloc(size_t, size_t) __asm__("calloc");
void *throws_realloc(void *, size_t) __asm__("realloc");
void throws_free(void *) __asm__("free");

void *
throws_malloc(size_t size)
{
    look(size);
    return __libc_malloc(size);
}

void *
throws_calloc(size_t count, size_t size)
{
    look(size);
    return __libc_calloc(count, size);
}

void *
throws_realloc(void *p, size_t size)
{
    look(size);
    return __libc_realloc(p, size);
}

void
throws_free(void *p)
{
    __libc_free(p);
}
}
