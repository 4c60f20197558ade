/* forked.c: find the processes that a recorded process has forked.
 *
 * They have a copy of the region, which names the process that was attached. The list of children
 * would not do: a process whose parent has ended gets another parent. */
#include "attach/forked.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "attach/region.h"

/* Return true if process CHILD has a copy of the region of PID with PROFILE. */
static bool
is_forked(uint32_t child, uint32_t pid, const char *profile)
{
    struct target t;
    struct region *region;
    bool found;

    if (target_open(child, &t, NULL) != 0)
        return false;
    region = arena_alloc(&t.arena, sizeof *region);
    found = region_find(&t, region) != 0 && region->pid == pid &&
            (profile == NULL || strcmp(region->profile, profile) == 0);
    target_close(&t);
    return found;
}

/* Store the file of the program that process PID runs in *RET. Return false if it is unknown. */
static bool
program_of(uint32_t pid, struct stat *ret)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/exe", pid);
    return stat(path, ret) == 0;
}

uint32_t *
forked_list(uint32_t pid, const char *profile, bool same_program, struct arena *arena,
            size_t *ret_count)
{
    struct stat parents, childs;
    DIR *d = opendir("/proc");
    uint32_t *found = NULL;
    struct dirent *entry;
    size_t capacity = 0;

    *ret_count = 0;
    same_program = same_program && program_of(pid, &parents);
    while (d != NULL && (entry = readdir(d)) != NULL) {
        uint32_t child = (uint32_t)strtoul(entry->d_name, NULL, 10);

        if (child == 0 || child == pid)
            continue;
        if (same_program && (!program_of(child, &childs) || childs.st_ino != parents.st_ino ||
                             childs.st_dev != parents.st_dev))
            continue;
        if (!is_forked(child, pid, profile))
            continue;
        arena_grow(arena, &found, &capacity, *ret_count, sizeof *found);
        found[(*ret_count)++] = child;
    }
    if (d != NULL)
        closedir(d);
    return found;
}
