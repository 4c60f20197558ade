/* bytes.c: the functions of <string.h> that the recorder uses, and those that compilers call.
 *
 * A program may replace libc's functions of these names, and the replacements may count, check or
 * load something in the first call. The functions here are hidden. So all calls of the recorder
 * lead here, including those that compilers generate for assignments and loops.
 *
 * The fast path of events calls none of them. They copy and compare short data: names, paths,
 * labels. So they are simple, and process whole words where that needs little code. KEEP in each
 * loop hides a value from the compiler, which would otherwise recognise the loop and replace it by
 * a call of the function itself.
 *
 * test/harness omits this file, because the sanitizers have their own versions. */
#include <stdint.h>
#include <string.h>

#include "base/base.h"

/* A word at any alignment, which may be a part of an object of any type. */
typedef uint64_t __attribute__((aligned(1), may_alias)) any_word;

enum { WORD_BYTES = sizeof(any_word) };

static inline void *
copy_forwards(void *to, const void *from, size_t size_bytes)
{
    unsigned char *t = to;
    const unsigned char *f = from;

    for (; size_bytes >= WORD_BYTES; size_bytes -= WORD_BYTES) {
        *(any_word *)(void *)t = *(const any_word *)(const void *)f;
        t += WORD_BYTES;
        f += WORD_BYTES;
        KEEP(t);
    }
    for (; size_bytes > 0; size_bytes--) {
        *t++ = *f++;
        KEEP(t);
    }
    return to;
}

void *
memcpy(void *restrict to, const void *restrict from, size_t size_bytes)
{
    return copy_forwards(to, from, size_bytes);
}

void *
memmove(void *to, const void *from, size_t size_bytes)
{
    unsigned char *t = to;
    const unsigned char *f = from;

    // Copying forwards is safe if TO is below FROM: each word is read before any of its bytes is
    // written.
    if ((uintptr_t)to - (uintptr_t)from >= size_bytes)
        return copy_forwards(to, from, size_bytes);
    while (size_bytes > 0) {
        size_bytes--;
        t[size_bytes] = f[size_bytes];
        KEEP(t);
    }
    return to;
}

void *
memset(void *to, int c, size_t size_bytes)
{
    unsigned char *t = to;
    uint64_t word = (unsigned char)c * UINT64_C(0x0101010101010101);

    for (; size_bytes >= WORD_BYTES; size_bytes -= WORD_BYTES) {
        *(any_word *)(void *)t = word;
        t += WORD_BYTES;
        KEEP(t);
    }
    for (; size_bytes > 0; size_bytes--) {
        *t++ = (unsigned char)c;
        KEEP(t);
    }
    return to;
}

int
memcmp(const void *a, const void *b, size_t size_bytes)
{
    const unsigned char *p = a, *q = b;

    for (; size_bytes > 0; size_bytes--, p++, q++) {
        if (*p != *q)
            return *p - *q;
        KEEP(p);
    }
    return 0;
}

/* Compare like memcmp; clang calls this function if the order does not matter. */
int bcmp(const void *a, const void *b, size_t size_bytes);

int
bcmp(const void *a, const void *b, size_t size_bytes)
{
    return memcmp(a, b, size_bytes);
}

size_t
strlen(const char *s)
{
    const char *p = s;

    while (*p != '\0') {
        p++;
        KEEP(p);
    }
    return (size_t)(p - s);
}

static inline int
bytes_compare(const char *a, const char *b, size_t bytes_max)
{
    for (; bytes_max > 0; bytes_max--, a++, b++) {
        if (*a != *b || *a == '\0')
            return (unsigned char)*a - (unsigned char)*b;
        KEEP(a);
    }
    return 0;
}

int
strcmp(const char *a, const char *b)
{
    return bytes_compare(a, b, SIZE_MAX);
}

int
strncmp(const char *a, const char *b, size_t bytes_max)
{
    return bytes_compare(a, b, bytes_max);
}

char *
strchr(const char *s, int c)
{
    for (; *s != (char)c; s++) {
        if (*s == '\0')
            return NULL;
        KEEP(s);
    }
    return (char *)(uintptr_t)s;
}

char *
strrchr(const char *s, int c)
{
    const char *found = NULL;

    for (;; s++) {
        if (*s == (char)c)
            found = s;
        if (*s == '\0')
            return (char *)(uintptr_t)found;
        KEEP(s);
    }
}
