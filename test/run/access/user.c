/* user.c: call a function of libuse.c. The library is linked to this program, or loaded by dlopen
 * if its path is the argument. A block of 160 bytes gets 9 writes there and, if this file is
 * instrumented, 5 writes here. */
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
