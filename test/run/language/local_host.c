/* local_host.c: a program that loads a plug-in with RTLD_LOCAL and, compiled with PLUGIN defined,
 * that plug-in. Only the plug-in needs libgc: it makes 1,000 objects of 100 bytes and frees every
 * second one. With PLUGIN_ECL, it needs ECL, and prints the length of a list.
 *
 *     local_host PLUGIN */
#if defined PLUGIN

#include <gc/gc.h>

int run(void);
int
run(void)
{
    GC_INIT();
    for (int i = 0; i < 1000; i++) {
        void *p = GC_MALLOC(100);

        if (i % 2 != 0)
            GC_FREE(p);
    }
    return 0;
}

#elif defined PLUGIN_ECL

#include <ecl/ecl.h>
#include <stdio.h>

int run(void);
int
run(void)
{
    static char name[] = "ecl", *argv[] = {name, NULL};
    cl_object form;

    cl_boot(1, argv);
    form = ecl_read_from_cstring("(length (make-list 1000))");
    printf("%ld\n", (long)ecl_to_fixnum(si_safe_eval(3, form, ECL_NIL, ECL_NIL)));
    cl_shutdown();
    return 0;
}

#else

#include <dlfcn.h>

int
main(int argc, char **argv)
{
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
    int (*run)(void);

    if (plugin == 0)
        return 2;
    *(void **)&run = dlsym(plugin, "run");
    return run();
}

#endif
