/* targets.c: the profiles that the server shows.
 *
 * Without directories these are the recorded processes of this machine. A directory has profiles of
 * running and of ended processes; profiles of a run's further processes are one level below. A
 * request can only select one of these profiles, by its name or its process id, so no request names
 * a path to open.
 *
 * Most processes of a machine do nothing. Their profiles are compared with the last reading by a
 * hash of their bytes, which takes microseconds, while symbols take milliseconds. */
#include "serve/targets.h"

#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/watch_find.h"
#include "profile/listing.h"
#include "profile/origin.h"
#include "profile/processes.h"
#include "util/path.h"

struct target_list {
    struct arena *arena;
    struct target *v;
    size_t count, capacity;
};

static uint64_t
mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t
identity(const struct disk_header *h)
{
    uint64_t id = mix(h->pid, h->process_start);

    return mix(mix(mix(id, h->start_unix_ns), h->start_monotonic_ns), h->session_id) | 1;
}

static void
target_add(struct target_list *l, const char *what, uint32_t pid)
{
    struct target t = {.what = what, .pid = pid, .inner_pid = pid};
    struct disk_header h;

    if (origin_header(what, &h)) {
        t.id = identity(&h);
        t.inner_pid = h.pid;
        if (pid == 0 && h.state != DISK_STATE_ENDED && h.state != DISK_STATE_PACKED)
            t.pid = owner_find(what, &h).pid;
    } else {
        t.id = mix(pid, processes_start(pid));
        for (const char *c = what; pid == 0 && *c != '\0'; c++)
            t.id = mix(t.id, (unsigned char)*c);
    }
    for (size_t i = 0; i < l->count; i++)
        if (l->v[i].id == t.id)
            return;
    arena_grow(l->arena, &l->v, &l->capacity, l->count, sizeof *l->v);
    l->v[l->count++] = t;
}

static void
add_directory(struct target_list *l, const char *directory)
{
    struct listing listing = {.arena = l->arena};
    const char **paths;
    glob_t below = {0};
    size_t count;

    listing_add(&listing, directory);
    if (glob(arena_printf(l->arena, "%s/*" ORIGIN_OTHERS_SUFFIX, directory), 0, NULL, &below) == 0)
        for (size_t i = 0; i < below.gl_pathc; i++)
            listing_add(&listing, arena_strdup(l->arena, below.gl_pathv[i]));
    globfree(&below);
    paths = listing_paths(&listing, &count);
    for (size_t i = 0; i < count; i++)
        target_add(l, paths[i], 0);
}

/* Return true if T's process runs, or its profile has changed since SINCE. */
static bool
is_recent(const struct target *t, int64_t since)
{
    struct stat st;

    return t->pid != 0 || stat(t->what, &st) != 0 || st.st_mtim.tv_sec >= since;
}

struct target *
targets_find(const struct serve_options *o, bool all, int64_t since, struct arena *arena,
             size_t *ret_count)
{
    struct target_list l = {.arena = arena};
    struct found *found = NULL;
    size_t count = 0, kept = 0;
    struct err err;

    if (o->directories.count == 0)
        watch_find(NULL, arena, &found, &count, &err);
    for (size_t i = 0; i < count; i++)
        target_add(&l, found[i].what, found[i].pid);
    for (size_t i = 0; i < o->directories.count; i++)
        add_directory(&l, o->directories.items[i]);
    for (size_t i = 0; i < l.count; i++)
        if (all || is_recent(&l.v[i], since))
            l.v[kept++] = l.v[i];
    *ret_count = kept;
    return l.v;
}

/* Return the hash of the bytes of FD from FROM to END, continued from HASH. */
static uint64_t
hash_part(int fd, off_t from, off_t end, uint64_t hash)
{
    uint64_t words[8192];

    while (from < end) {
        size_t wanted = end - from < (off_t)sizeof words ? (size_t)(end - from) : sizeof words;
        ssize_t n = pread(fd, words, wanted, from);

        if (n <= 0)
            break;
        memset((char *)words + n, 0, (sizeof words - (size_t)n) & 7);
        for (size_t i = 0; i < ((size_t)n + 7) / 8; i++)
            hash = mix(hash, words[i]);
        from += n;
    }
    return hash;
}

void
target_look(struct target *t)
{
    int fd = open(t->what, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    off_t from = 0, end;
    struct stat st;
    uint64_t hash = 1;

    t->content = 0;
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        while ((from = lseek(fd, from, SEEK_DATA)) >= 0) {
            end = lseek(fd, from, SEEK_HOLE);
            if (end <= from)
                break;
            hash = hash_part(fd, from, end, mix(hash, (uint64_t)from));
            from = end;
        }
        t->content = hash | 1;
    }
    close(fd);
}

size_t
targets_pick(struct target *v, size_t count, struct serve_request *r, struct arena *arena)
{
    size_t kept = 0;

    if (r->pid == 0 && r->profile == NULL)
        return count;
    for (size_t i = 0; i < count; i++) {
        bool picked = r->profile != NULL ? strcmp(v[i].what, r->profile) == 0 ||
                                               strcmp(path_basename(v[i].what), r->profile) == 0
                                         : v[i].pid == r->pid || v[i].inner_pid == r->pid;

        if (picked)
            v[kept++] = v[i];
    }
    if (kept == 1)
        return 1;
    r->status = kept == 0 ? 404 : 409;
    r->why = kept == 0 ? "no such process is recorded here; /sd lists the processes"
                       : arena_printf(arena,
                                      "%zu profiles match; name one by ?profile= with its path, "
                                      "such as %s",
                                      kept, v[0].what);
    return 0;
}
