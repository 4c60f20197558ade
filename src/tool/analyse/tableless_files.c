/* tableless_files.c: list the files whose code ends stacks, because it has no unwind tables.
 *
 * Several modules may have one path: a library that was loaded twice, or in several processes of a
 * merged profile. The paths of modules are interned, so equal paths are equal pointers.
 *
 * Pure: no I/O; does not change the profile. */
#include "analyse/totals.h"

#include <stdlib.h>
#include <string.h>

static int
by_allocations(const void *left, const void *right)
{
    const struct tableless_file *a = left, *b = right;

    if (a->allocations != b->allocations)
        return a->allocations < b->allocations ? 1 : -1;
    return strcmp(a->path, b->path);
}

/* Add ALLOCATIONS to the row of PATH. */
static void
add_to_file(struct tableless_files *files, const char *path, uint64_t allocations)
{
    size_t i = 0;

    while (i < files->count && strcmp(files->v[i].path, path) != 0)
        i++;
    files->count += i == files->count;
    files->v[i].path = path;
    files->v[i].allocations += allocations;
}

void
tableless_files_build(const struct profile *p, struct arena *arena, struct tableless_files *ret)
{
    uint32_t *module_of = arena_array(arena, p->node_count, sizeof *module_of);
    uint64_t *sums = arena_array(arena, p->module_count, sizeof *sums);

    for (size_t i = 1; i < p->node_count; i++)
        module_of[i] = p->nodes[i].flags & NODE_NO_TABLE
                           ? p->locations[p->nodes[i].location].module
                           : module_of[p->nodes[i].parent];
    for (size_t i = 0; i < p->site_count; i++)
        sums[module_of[p->sites[i].node]] += (uint64_t)p->sites[i].counters.allocations;
    *ret = (struct tableless_files){arena_array(arena, p->module_count, sizeof *ret->v), 0};
    for (size_t i = 1; i < p->module_count; i++)
        if (sums[i] != 0 && *p->modules[i].path != '\0')
            add_to_file(ret, p->modules[i].path, sums[i]);
    qsort(ret->v, ret->count, sizeof *ret->v, by_allocations);
}
