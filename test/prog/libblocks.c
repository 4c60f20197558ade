/* libblocks.c: take a snapshot and print the interpreter's statistics (sys._debugmallocstats) on
 * stderr, without creating an object in between. For Python programs, called through
 * ctypes.PyDLL. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

#include "heaptap/heaptap.h"

void
blocks_now(const char *name)
{
    void *(*find)(const char *), *(*call)(void *), *stats;

    *(void **)&find = dlsym(RTLD_DEFAULT, "PySys_GetObject");
    *(void **)&call = dlsym(RTLD_DEFAULT, "PyObject_CallNoArgs");
    stats = find("_debugmallocstats");
    fprintf(stderr, "snapshot %s\n", name);
    heaptap_snapshot(name);
    call(stats);
}
