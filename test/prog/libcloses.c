/* libs: -ldl */
/* libcloses.c: to be preloaded: a dlclose that looks up the next dlclose and calls it. */
#include <dlfcn.h>

int
dlclose(void *handle)
{
    int (*next)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");

    return next(handle);
}
