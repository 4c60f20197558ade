/* libs: -ldl -lpthread */
/* dlraces.c: in two threads, load, call and unload one library each, 3,000 times. One thread
 * returns from dlclose while the other unmaps its library. So a recorder that reads libraries at
 * that moment may read unmapped memory.
 *
 *     plugin (libplugin_one.so)    <- turns     3,000 blocks  30,000 bytes
 *     plugin (libplugin_two.so)    <- turns     3,000 blocks  60,000 bytes */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TURNS = 3000 };

typedef void *plugin_fn(void);

static char directory[PATH_MAX];

static void *
turns(void *name)
{
    char path[2 * PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", directory, (const char *)name);
    for (int i = 0; i < TURNS; i++) {
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        plugin_fn *plugin;

        if (handle == NULL)
            _exit(2);
        plugin = (plugin_fn *)(uintptr_t)dlsym(handle, "plugin");
        free(plugin());
        if (dlclose(handle) != 0)
            _exit(3);
    }
    return NULL;
}

int
main(void)
{
    static char one[] = "libplugin_one.so", two[] = "libplugin_two.so";
    pthread_t thread;

    if (readlink("/proc/self/exe", directory, sizeof directory - 1) < 0)
        return 4;
    dirname(directory);
    if (pthread_create(&thread, NULL, turns, one) != 0)
        return 5;
    turns(two);
    return pthread_join(thread, NULL);
}
