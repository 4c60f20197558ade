/* layer.c: a library with some of an allocator's functions (LAYER_MALLOC and so on), each of which
 * goes on to the next one; with LAYER_LIBC to libc's own by its other name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#ifdef LAYER_LIBC
#define NEXT(name) __libc_##name
#else
#define NEXT(name) (next != NULL ? next : (*(void **)&next = dlsym(RTLD_NEXT, #name), next))
#endif

#ifdef LAYER_MALLOC
void *__libc_malloc(size_t size_bytes);
void *
malloc(size_t size_bytes)
{
    static __typeof__(malloc) *next;

    (void)next;
    return NEXT(malloc)(size_bytes);
}
#endif

#ifdef LAYER_FREE
void __libc_free(void *p);
void
free(void *p)
{
    static __typeof__(free) *next;

    (void)next;
    NEXT(free)(p);
}
#endif

#ifdef LAYER_CALLOC
void *__libc_calloc(size_t count, size_t each_bytes);
void *
calloc(size_t count, size_t each_bytes)
{
    static __typeof__(calloc) *next;

    (void)next;
    return NEXT(calloc)(count, each_bytes);
}
#endif

#ifdef LAYER_REALLOC
void *__libc_realloc(void *p, size_t size_bytes);
void *
realloc(void *p, size_t size_bytes)
{
    static __typeof__(realloc) *next;

    (void)next;
    return NEXT(realloc)(p, size_bytes);
}
#endif

#ifdef LAYER_MEMALIGN
void *__libc_memalign(size_t align, size_t size_bytes);
void *
memalign(size_t align, size_t size_bytes)
{
    static __typeof__(memalign) *next;

    (void)next;
    return NEXT(memalign)(align, size_bytes);
}
#endif
