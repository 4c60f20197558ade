/* libblocks.c: for Python programs, by ctypes.PyDLL: a snapshot and, at the same moment, the
 * interpreter's statistics on stderr (sys._debugmallocstats), called so that no object is made in
 * between. */
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
