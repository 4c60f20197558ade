/* libown_plugin.c: a plug-in that allocates from a heaptap heap; also linked into own_matrix. */
#include "heaptap/heaptap.h"

void plugin_run(void);

/* Allocate 5 objects of 11 bytes each. */
void
plugin_run(void)
{
    heaptap_heap *heap = heaptap_heap_create("plug-in", 0);
    int i;

    for (i = 0; i < 5; i++)
        heaptap_alloc(heap, 0, 1, 11);
}
