/* cflags: -fno-builtin */
/* libs: -ldl */
/* scope_nested.cc: call operators that allocate and free other blocks. The library that precedes
 * libstdc++ at run time (libscope_registry.so and others) defines these operators.
 *
 *     objects     1,000 objects of 100 bytes, 500 of them deleted
 *     arrays      100 arrays of 300 bytes, deleted; each form calls another
 *     deferred    64 blocks of 100,000 bytes that a delete frees
 *     refused     1,000 calls of new with an alignment that it refuses; the exceptions are dropped
 *     kept_all    as refused, but the exceptions stay until the end */
#include <dlfcn.h>
#include <string.h>

#include <exception>
#include <new>

#include "scope.h"

static void *made[1000];
static std::exception_ptr errors[1000];

NOINLINE static void
objects()
{
    for (void *&p : made)
        p = kept(operator new(100));
    for (int i = 0; i < 500; i++)
        operator delete(made[i], 100);
    __asm__ volatile("");
}

NOINLINE static void
arrays()
{
    for (int i = 0; i < 100; i++)
        operator delete[](kept(operator new[](300)));
    __asm__ volatile("");
}

NOINLINE static void
makes_deferred(void (*defer)(void *))
{
    for (int i = 0; i < 64; i++)
        defer(kept(malloc(100000)));
    __asm__ volatile("");
}

NOINLINE static void
deferred()
{
    void (*defer)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "defer");

    if (defer == nullptr)
        abort();
    makes_deferred(defer);
    operator delete(kept(operator new(10)));
}

NOINLINE static int
refuses(bool keep)
{
    volatile size_t odd = 3;
    int count = 0;

    for (std::exception_ptr &e : errors) {
        try {
            kept(operator new(100, std::align_val_t(odd)));
        } catch (const std::bad_alloc &) {
            if (keep)
                e = std::current_exception();
            count++;
        }
    }
    return count;
}

int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "objects") == 0)
            objects();
        else if (strcmp(argv[i], "arrays") == 0)
            arrays();
        else if (strcmp(argv[i], "deferred") == 0)
            deferred();
        else
            say("%d refused\n", refuses(strcmp(argv[i], "kept_all") == 0));
    }
    say("done\n");
    _exit(0); // Skip exit handlers, so that no further block is freed.
}
