/* scope_libc.h: calls of libc's allocator that bypass all libraries before libc. Separate functions
 * make the blocks, because dlopen makes blocks as well. */
#ifndef SCOPE_LIBC_H
#define SCOPE_LIBC_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "scope.h"

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static void *volatile libc_left;

NOINLINE static void
libc_blocks(void *(*get)(size_t), void (*put)(void *))
{
    if (get == NULL || put == NULL)
        abort();
    for (int i = 0; i < 10; i++) {
        void *p = kept(get(30));

        memset(p, 1, 30);
        if (i < 9)
            put(p);
        else
            libc_left = p;
    }
    say("  10 blocks\n");
}

SHOWN void
internal(void)
{
    libc_blocks(__libc_malloc, __libc_free);
}

/* Allocate 4 blocks of 60 bytes and free them; allocate a block of 20 and resize it to 60. */
SHOWN void
relatives(void)
{
    void *p = kept(__libc_realloc(kept(__libc_malloc(20)), 60));
    void *q = kept(__libc_calloc(6, 10));
    void *r = kept(__libc_memalign(64, 60));
    void *s = kept(__libc_realloc(NULL, 60));

    memset(p, 1, 60);
    memset(r, 1, 60);
    memset(s, 1, 60);
    say("  %d\n", *(char *)q);
    __libc_free(p);
    __libc_free(q);
    __libc_free(r);
    __libc_free(s);
}

/* Allocate 10 blocks of 30 bytes that cannot grow; free 9. */
SHOWN void
refused(void)
{
    volatile size_t too_much = PTRDIFF_MAX;
    int count = 0;

    for (int i = 0; i < 10; i++) {
        void *p = kept(__libc_malloc(30));

        count += __libc_realloc(p, too_much) == NULL;
        if (i < 9)
            __libc_free(p);
        else
            libc_left = p;
    }
    say("  %d refused\n", count);
}

/* Allocate 10 blocks of 30 bytes, half of them one way, and free all, half of them the other
 * way. */
SHOWN void
mixed(void)
{
    for (int i = 0; i < 5; i++) {
        void *p = kept(__libc_malloc(30));
        void *q = kept(malloc(30));

        free(p);
        __libc_free(q);
    }
    say("  mixed\n");
}

SHOWN void
handle(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

    if (libc == NULL)
        abort();
    libc_blocks(dlsym(libc, "malloc"), dlsym(libc, "free"));
    dlclose(libc);
}

#endif
