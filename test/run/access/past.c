/* past.c: a library for user.c, with blocks from libc that bypass the interposed allocator, which
 * must not be called with them. A block of 80 bytes with 5 writes is freed, another stays, and a
 * block of 144 bytes with 9 writes grows to 208, with 2 more. user.c's block gets 3 writes. */
#include <dlfcn.h>
#include <stddef.h>

typedef void *allocate(size_t size_bytes);
typedef void *resize(void *p, size_t size_bytes);
typedef void release(void *p);

void lib_use(volatile char *p);

static void *volatile kept;

static void
write_to(volatile char *p, int times)
{
    for (int i = 0; i < times; i++)
        p[0] = 1;
}

void
lib_use(volatile char *p)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), *ended, *grown;
    allocate *libc_malloc = NULL;
    resize *libc_realloc = NULL;
    release *libc_free = NULL;

    write_to(p, 3);
    *(void **)&libc_malloc = dlsym(libc, "malloc");
    *(void **)&libc_realloc = dlsym(libc, "realloc");
    *(void **)&libc_free = dlsym(libc, "free");
    ended = libc_malloc(80);
    write_to(ended, 5);
    libc_free(ended);
    kept = libc_malloc(80);
    write_to(kept, 5);
    grown = libc_malloc(144);
    write_to(grown, 9);
    grown = libc_realloc(grown, 208);
    write_to(grown, 2);
    libc_free(grown);
}
