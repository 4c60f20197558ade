/* cflags: -O1 -fno-builtin */
/* libs: -Lbuild/test/prog -llinkage -ldl -Wl,-rpath,$ORIGIN */
/* linkage.c [PLUGIN]: call malloc in every way, each in a function named after it. How the recorder
 * is linked decides which calls are recorded (linked.py).
 *
 *     by_call       10 of 10 bytes    malloc, called by the executable
 *     by_pointer    11 of 11          through a pointer to malloc
 *     by_library    12 of 12          called by a library that it is linked with
 *     by_libc       13 of 13          strdup
 *     by_plugin     14 of 14          by the library PLUGIN, loaded by dlopen (not if STATIC)
 *     by_lookup     15 of 15          dlsym finds malloc (not if STATIC)
 *     by_array      16 of 16          reallocarray, which calls realloc
 *     by_alignment  17 of 17          posix_memalign, which in musl calls aligned_alloc
 *     by_zeroes     18 of 18          calloc, which in musl calls malloc
 *
 * Each block is freed at once, in the same way. Prints "ran N", the number of blocks. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef STATIC
#include <dlfcn.h>
#endif

#define OWN __attribute__((noinline, noclone))

void *library_alloc(size_t size_bytes);
void library_free(void *p);

typedef void *alloc_fn(size_t);
typedef void free_fn(void *);

static int ran;

static void
block(void *p, free_fn *give_back)
{
    if (p == NULL)
        exit(1);
    ran++;
    give_back(p);
}

OWN static void
by_call(void)
{
    for (int i = 0; i < 10; i++)
        block(malloc(10), free);
}

OWN static void
by_pointer(void)
{
    alloc_fn *volatile f = malloc;
    free_fn *volatile g = free;

    for (int i = 0; i < 11; i++)
        block(f(11), g);
}

OWN static void
by_library(void)
{
    for (int i = 0; i < 12; i++)
        block(library_alloc(12), library_free);
}

OWN static void
by_libc(void)
{
    for (int i = 0; i < 13; i++)
        block(strdup("twelve chars"), free);
}

#ifndef STATIC
static void
by_dlsym(void *where, const char *alloc_name, const char *free_name, int count)
{
    alloc_fn *f = (alloc_fn *)dlsym(where, alloc_name);
    free_fn *g = (free_fn *)dlsym(where, free_name);

    if (f == NULL || g == NULL)
        exit(1);
    for (int i = 0; i < count; i++)
        block(f((size_t)count), g);
}

OWN static void
by_plugin(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (plugin == NULL)
        exit(1);
    by_dlsym(plugin, "library_alloc", "library_free", 14);
    dlclose(plugin);
}

OWN static void
by_lookup(void)
{
    by_dlsym(RTLD_DEFAULT, "malloc", "free", 15);
}
#endif

OWN static void
by_array(void)
{
    for (int i = 0; i < 16; i++)
        block(reallocarray(NULL, 4, 4), free);
}

OWN static void
by_alignment(void)
{
    for (int i = 0; i < 17; i++) {
        void *p = NULL;

        if (posix_memalign(&p, 64, 17) != 0)
            exit(1);
        block(p, free);
    }
}

OWN static void
by_zeroes(void)
{
    for (int i = 0; i < 18; i++)
        block(calloc(9, 2), free);
}

int
main(int argc, char **argv)
{
    by_call();
    by_pointer();
    by_library();
    by_libc();
#ifndef STATIC
    if (argc > 1)
        by_plugin(argv[1]);
    by_lookup();
#else
    (void)argc;
    (void)argv;
#endif
    by_array();
    by_alignment();
    by_zeroes();
    printf("ran %d\n", ran);
    return 0;
}
