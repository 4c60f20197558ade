/* region.c: find the region of an attached recorder in a process.
 *
 * Any later heaptap must find it, so it begins with a magic number, and all changes are recorded in
 * it. A forked child has a copy. */
#include "attach/region.h"

#include <string.h>

uint64_t
region_find(const struct target *t, struct region *ret)
{
    for (size_t i = 0; i < t->map_count; i++) {
        const struct target_map *map = &t->maps[i];

        if ((*map->path == '\0' || strstr(map->path, "heaptap") != NULL) &&
            (map->access & TARGET_READ) && target_word(t, map->start) == REGION_MAGIC &&
            target_read(t, map->start, ret, sizeof *ret) && ret->version == REGION_VERSION)
            return map->start;
    }
    return 0;
}

void
region_report_rest(uint32_t pid, struct err *err)
{
    struct err first = *err;

    err_set(err, HEAPTAP_BAD_INPUT,
            "%s; its memory stays in the process until `heaptap detach %u`", first.text, pid);
}
