/* user.c: call libuse.c, which is linked or, with its path as the argument, loaded. A block of 160
 * bytes gets 9 writes there and 5 here, if this file is instrumented. */
#include <dlfcn.h>
#include <stdlib.h>

void lib_use(volatile char *p) __attribute__((weak));

static void *volatile kept;

int
main(int argc, char **argv)
{
    void (*use)(volatile char *) = lib_use;
    volatile char *p;

    kept = malloc(160);
    p = kept;
    if (argc > 1)
        *(void **)&use = dlsym(dlopen(argv[1], RTLD_NOW), "lib_use");
    use(p);
    for (int i = 0; i < 5; i++)
        p[i] = 1;
    return 0;
}
