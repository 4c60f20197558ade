/* watch_find.c: find recorded processes.
 *
 * Without an argument these are the processes of this machine that have a profile mapped, as far as
 * we may see them. A process with self-contained core dumps has its profile in private memory; the
 * recorder's library shows that, and its process id names it. A directory has its profiles, of
 * living and of ended processes, each recording once (profile/listing.c). */
#include "live/watch_find.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "format/environment.h"
#include "profile/listing.h"
#include "profile/origin.h"
#include "profile/processes.h"

struct found_list {
    struct arena *arena;
    struct found *v;
    size_t count, capacity;
};

static void
watch_find_add(struct found_list *l, const char *what, uint32_t pid)
{
    arena_grow(l->arena, &l->v, &l->capacity, l->count, sizeof *l->v);
    l->v[l->count++] = (struct found){what, pid};
}

/* Return true if the profile of process PID is in its private memory. */
static bool
is_self_contained(uint32_t pid)
{
    return processes_has_variable(pid, ENVIRONMENT_SELF_CONTAINED) && mapped_recorder(pid);
}

static void
add_process(struct found_list *l, uint32_t pid)
{
    struct mapped mapped;
    enum mapped_result result = mapped_profile(pid, l->arena, &mapped);

    if (result == MAPPED_FOUND)
        watch_find_add(l, mapped.path, pid);
    else if (result == MAPPED_NONE && is_self_contained(pid))
        watch_find_add(l, arena_printf(l->arena, "%u", pid), pid);
}

static int
find_all(struct found_list *l, struct err *err)
{
    DIR *d = opendir("/proc");
    struct dirent *e;

    if (d == NULL)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot read /proc");
    while ((e = readdir(d)) != NULL)
        if (isdigit((unsigned char)e->d_name[0]))
            add_process(l, (uint32_t)strtoul(e->d_name, NULL, 10));
    closedir(d);
    return 0;
}

/* Add the profiles of the directory WHAT, which may have none yet. */
static int
find_in_directory(struct found_list *l, const char *what, struct err *err)
{
    const char **paths;
    size_t count;
    DIR *d;

    if (profile_list_session(what, l->arena, &paths, &count, err) != 0) {
        d = opendir(what);
        if (d == NULL)
            return HEAPTAP_BAD_INPUT;
        closedir(d);
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        watch_find_add(l, paths[i], 0);
    return 0;
}

static int
find_process(struct found_list *l, uint32_t pid, struct err *err)
{
    const char *path;
    int r;

    if (is_self_contained(pid)) {
        watch_find_add(l, arena_printf(l->arena, "%u", pid), pid);
        return 0;
    }
    r = origin_of_pid(pid, l->arena, &path, err);
    if (r == 0)
        watch_find_add(l, path, pid);
    return r;
}

int
watch_find(const char *what, struct arena *arena, struct found **ret, size_t *ret_count,
           struct err *err)
{
    struct found_list l = {.arena = arena};
    struct stat st;
    uint32_t pid;
    int r = 0;

    if (what == NULL)
        r = find_all(&l, err);
    else if (origin_is_pid(what, &pid))
        r = find_process(&l, pid, err);
    else if (stat(what, &st) == 0 && S_ISDIR(st.st_mode))
        r = find_in_directory(&l, what, err);
    else
        watch_find_add(&l, what, 0);
    *ret = l.v;
    *ret_count = l.count;
    return r;
}
