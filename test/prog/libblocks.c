/* libblocks.c: for Python programs, by ctypes.PyDLL: a snapshot, and at the same moment what the
 * interpreter writes to stderr of its allocator (sys._debugmallocstats), called so that no object
 * is made in between. It does so only if the allocator is there alone, without hooks. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

#include "heaptap/heaptap.h"

int
blocks_now(const char *name)
{
    void *(*find)(const char *), *(*call)(void *), *stats, *hooks[5];
    int (*set_default)(int, void *);
    void (*set)(int, void *);

    *(void **)&find = dlsym(RTLD_DEFAULT, "PySys_GetObject");
    *(void **)&call = dlsym(RTLD_DEFAULT, "PyObject_CallNoArgs");
    *(void **)&set = dlsym(RTLD_DEFAULT, "PyMem_SetAllocator");
    *(void **)&set_default = dlsym(RTLD_DEFAULT, "_PyMem_SetDefaultAllocator");
    if (set_default == NULL)
        return 0;
    stats = find("_debugmallocstats");
    fprintf(stderr, "snapshot %s\n", name);
    heaptap_snapshot(name);
    set_default(2, hooks);
    call(stats);
    set(2, hooks);
    return 1;
}
