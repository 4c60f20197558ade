/* libs: -ldl */
/* own_matrix.c: a minimal user of heaptap.h, in the common subset of C89 and C++.
 *
 *     own_matrix [PLUGIN]
 *
 * Allocates 7 objects of 3 bytes in a heaptap heap, then makes the events of libown_plugin.c,
 * loaded from PLUGIN. With -DLINKED, the plug-in is linked into the program, so that two files of
 * one program include the header. Prints whether there is a recorder, and exits with 3 if program
 * and plug-in disagree. */
#include <dlfcn.h>
#include <stdio.h>

#include "heaptap/heaptap.h"

void plugin_run(void);

typedef void entry(void);

union symbol {
    void *address;
    entry *entry_point;
};

static int
run_plugin(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW);
    union symbol run;

    run.address = handle != NULL ? dlsym(handle, "plugin_run") : NULL;
    if (run.address == NULL) {
        fprintf(stderr, "own_matrix: %s\n", dlerror());
        return 1;
    }
    run.entry_point();
    return 0;
}

int
main(int argc, char **argv)
{
    heaptap_heap *heap = heaptap_heap_create("matrix", 0);
    int i;

    for (i = 0; i < 7; i++)
        heaptap_alloc(heap, 0, 1, 3);
    if (argc > 1 && run_plugin(argv[1]) != 0)
        return 1;
#ifdef LINKED
    plugin_run();
#endif
    printf("%s\n", heaptap_is_present() ? "recorded" : "bare");
    return (heap != NULL) == heaptap_is_present() ? 0 : 3;
}
