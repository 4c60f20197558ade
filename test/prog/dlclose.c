/* libs: -ldl */
/* dlclose.c: load, call twice and unload two libraries in turn, 50 times each. They are normally
 * loaded at the same address, so unwind rules of the old code are wrong after each turn. Prints
 * "same N", the number of times that the second library had the address of the first.
 *
 *     one_inner      <- plugin (libplugin_one.so)               <- main    100 blocks  1000 bytes
 *     two_innermost  <- two_inner <- plugin (libplugin_two.so)  <- main    100 blocks  2000 bytes
 *
 * Below dlopen, the loader allocates memory for itself. */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *plugin_fn(void);

static char directory[PATH_MAX];

/* Load, call twice and unload the library; return the page that its code was in. */
__attribute__((noinline)) static uintptr_t
turn(const char *name)
{
    char path[2 * PATH_MAX];
    plugin_fn *plugin;
    uintptr_t page;
    void *handle;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        _exit(2);
    plugin = (plugin_fn *)(uintptr_t)dlsym(handle, "plugin");
    page = (uintptr_t)plugin / 4096;
    free(plugin());
    free(plugin());
    dlclose(handle);
    return page;
}

int
main(void)
{
    char text[64];
    int length, same = 0;

    if (readlink("/proc/self/exe", directory, sizeof directory - 1) < 0)
        return 2;
    dirname(directory);
    for (int i = 0; i < 50; i++)
        same += turn("libplugin_one.so") == turn("libplugin_two.so");
    length = snprintf(text, sizeof text, "same %d\n", same);
    return write(1, text, (size_t)length) != length;
}
