/* region.c: find the region of an attached recorder in a process.
 *
 * Any later heaptap must find it, so it begins with a magic number, and all changes are recorded in
 * it. A forked child has a copy. */
#include "attach/region.h"

#include <string.h>

/* Return true if REGION can have been written by an attach. The process may have changed it, and
 * all counts in it are trusted from here on. */
static bool
is_sane(const struct region *region)
{
    bool sane = region->patch_count <= countof(region->patches) &&
                region->branch_count <= countof(region->branches) && region->has_finder <= 1 &&
                region->annex_count <= countof(region->annexes) &&
                region->has_finder <= region->patch_count;

    for (uint64_t i = 0; sane && i < region->patch_count; i++)
        sane = region->patches[i].count <= PATCH_MOVED_MAX;
    return sane && memchr(region->profile, '\0', sizeof region->profile) != NULL;
}

uint64_t
region_find(const struct target *t, struct region *ret)
{
    for (size_t i = 0; i < t->map_count; i++) {
        const struct target_map *map = &t->maps[i];

        if ((*map->path == '\0' || strstr(map->path, "heaptap") != NULL) &&
            (map->access & TARGET_READ) && target_word(t, map->start) == REGION_MAGIC &&
            target_read(t, map->start, ret, sizeof *ret) && ret->version == REGION_VERSION &&
            is_sane(ret))
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
