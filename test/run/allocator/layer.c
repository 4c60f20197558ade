/* layer.c: a library with some of an allocator's functions (LAYER_MALLOC and so on). Each calls the
 * next library's function or, with LAYER_LIBC, libc's function by its other name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#ifdef LAYER_LIBC
#define FIND(name) __libc_##name
#else
#define FIND(name) dlsym(RTLD_NEXT, #name)
#endif

#define LAYER(type, name, parameters, arguments)                                                   \
    type __libc_##name parameters;                                                                 \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*next) parameters;                                                             \
                                                                                                   \
        if (next == NULL)                                                                          \
            *(void **)&next = (void *)FIND(name);                                                  \
        return next arguments;                                                                     \
    }

#ifdef LAYER_MALLOC
LAYER(void *, malloc, (size_t size_bytes), (size_bytes))
#endif
#ifdef LAYER_FREE
LAYER(void, free, (void *p), (p))
#endif
#ifdef LAYER_CALLOC
LAYER(void *, calloc, (size_t count, size_t each_bytes), (count, each_bytes))
#endif
#ifdef LAYER_REALLOC
LAYER(void *, realloc, (void *p, size_t size_bytes), (p, size_bytes))
#endif
#ifdef LAYER_MEMALIGN
LAYER(void *, memalign, (size_t align, size_t size_bytes), (align, size_bytes))
#endif
