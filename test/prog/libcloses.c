/* libs: -ldl */
/* libcloses.c: to be preloaded, a dlclose that goes on to the next one, which it looks up. */
#include <dlfcn.h>

int
dlclose(void *handle)
{
    int (*next)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");

    return next(handle);
}
