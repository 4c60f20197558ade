/* listing.c: find the profiles in a directory, one for each recording.
 *
 * A session is a directory. For a run with several processes, `heaptap run` may create the
 * directory beside the first process's profile, for all other processes; the session's id links the
 * two.
 *
 * A file called *.heaptap is a profile, even if it is empty, truncated or unreadable: its reader
 * reports the problem. Skipping it would silently make a sum incomplete. A recorder writes the
 * header before it names the file (docs/format.md), so a file without a header is not one under
 * creation. A file with another name is a profile if it starts like one. Links are followed in
 * directories that the user named.
 *
 * One file may have several names, and one recording may have several files. In descending order of
 * closeness to the recorder's output:
 *
 *     the recorder's file, whose process has exited
 *     packed after the process ended       in place, or beside it
 *     not ended                            the recorder's, or a copy (cp, heaptap_write)
 *     live blocks from a core dump         heaptap core -o FILE DUMP
 *     packed while the process lived       heaptap pack -o FILE PID
 *     live blocks of a living process      heaptap core --pid PID -o FILE
 *
 * Only the closest file of a recording is listed, and the latest among equals: the other files are
 * copies, or earlier states of the same process. Equal states are all listed if one is damaged.
 * Files whose recording is unknown are all listed, because it would be a guess that two are the
 * same.
 *
 * A run recognises the recorder's own file by its name, and leaves copies alone that the program
 * has made. A program may also put a copy in the place of the file, which has the same name and an
 * earlier state. So the inode decides first. */
#include "profile/listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/environment.h"
#include "profile/origin.h"
#include "profile/raw.h"
#include "util/map.h"

/* Maximum number of sessions beside a profile that are checked for containing it. */
enum { SESSIONS_TRIED = 64 };

enum { NEARNESS_PACKED = 4, NEARNESS_ENDED = 5 };

static uint32_t
nearness_of(const struct disk_header *h)
{
    // A profile of live blocks lacks the lifetimes of all others.
    bool is_snapshot = (h->compatible & DISK_COMPATIBLE_LIVES) == 0;

    if (h->state != DISK_STATE_PACKED)
        return h->state == DISK_STATE_ENDED ? NEARNESS_ENDED : 3;
    if (h->process_flags & DISK_PROCESS_GONE)
        return is_snapshot ? 2 : NEARNESS_PACKED;
    return is_snapshot ? 0 : 1;
}

/* Return the identity of the recording with header H. For a merged profile and for one made from a
 * copy of memory, it names no process. */
static struct recording_key
listing_key_of(const struct disk_header *h)
{
    return (struct recording_key){
        .process_start = h->process_start,
        .start_unix_ns = h->start_unix_ns,
        .start_monotonic_ns = h->start_monotonic_ns,
        .session_id = h->session_id,
        .pid = h->pid,
    };
}

/* Return the member `original` of a file with the status ST and the header H. */
static int
originality_of(const struct stat *st, const struct disk_header *h)
{
    if (h->file_inode == 0)
        return 0;
    return origin_is_original(st, h) ? 1 : -1;
}

static bool
listing_is_known(const struct recording_key *key)
{
    return key->pid != 0 && key->process_start != 0;
}

static bool
is_called_profile(const char *path)
{
    size_t length = strlen(path), suffix = sizeof PROFILE_SUFFIX - 1;

    return length > suffix && strcmp(path + length - suffix, PROFILE_SUFFIX) == 0;
}

/* Fill in *RET for PATH. Return false if L's filters reject it, or if it was removed meanwhile. */
static bool
listing_look(const struct listing *l, const char *path, struct listed *ret)
{
    struct disk_header h;
    struct stat st;
    bool is_present = lstat(path, &st) == 0, is_gone = !is_present && errno == ENOENT;

    *ret = (struct listed){.path = path, .is_link = is_present && S_ISLNK(st.st_mode)};
    if (is_gone || (ret->is_link && l->session_id != 0))
        return false;
    if (ret->is_link)
        is_present = stat(path, &st) == 0;
    if (is_present && (!S_ISREG(st.st_mode) || st.st_ctim.tv_sec < l->since))
        return false;
    if (is_present) {
        ret->device = (uint64_t)st.st_dev;
        ret->inode = (uint64_t)st.st_ino;
    }
    if (is_present && origin_header(path, &h)) {
        ret->key = listing_key_of(&h);
        ret->nearness = nearness_of(&h);
        ret->last_ns = h.shared.last_ns;
        ret->is_readable = true;
        if (l->fit_of != NULL) {
            ret->fit = l->fit_of(l->fit_arg, path, h.pid);
            ret->original = originality_of(&st, &h);
        }
        // The program may pack its profile after it has copied it.
        if (ret->fit > 0 && ret->nearness == NEARNESS_PACKED)
            ret->nearness = NEARNESS_ENDED;
        return l->session_id == 0 || h.session_id == l->session_id;
    }
    return l->session_id == 0 && is_called_profile(path) &&
           (lstat(path, &st) == 0 || errno != ENOENT);
}

static void
listing_append(struct listing *l, const struct listed *one)
{
    arena_grow(l->arena, &l->v, &l->capacity, l->count, sizeof *l->v);
    l->v[l->count++] = *one;
}

int
listing_add(struct listing *l, const char *directory)
{
    DIR *d = opendir(directory);
    struct dirent *e;

    if (d == NULL)
        return -1;
    while ((e = readdir(d)) != NULL) {
        const char *path = strcmp(directory, ".") == 0
                               ? arena_strdup(l->arena, e->d_name)
                               : arena_printf(l->arena, "%s/%s", directory, e->d_name);
        struct listed one;

        // A hidden file is listed only if its header names the session.
        if ((e->d_name[0] != '.' || l->session_id != 0) && listing_look(l, path, &one))
            listing_append(l, &one);
    }
    closedir(d);
    return 0;
}

/* Append PATH to L if it exists and cannot be read. Its name is a profile's. */
static void
add_unreadable(struct listing *l, const char *path)
{
    const struct listing any = {.arena = l->arena};
    struct listed one;

    if (listing_look(&any, path, &one) && !one.is_readable)
        listing_append(l, &one);
}

/* Return the id of a session of profiles in L; 0 = none. */
static uint64_t
session_in(const struct listing *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->v[i].key.session_id != 0)
            return l->v[i].key.session_id;
    return 0;
}

/* Compare so that the files of one recording are adjacent, the preferred file first. */
static int
by_recording(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    int order = memcmp(&x->key, &y->key, sizeof x->key);

    if (order != 0)
        return order;
    if (x->original != y->original)
        return x->original > y->original ? -1 : 1;
    if (x->nearness != y->nearness)
        return x->nearness > y->nearness ? -1 : 1;
    if (x->last_ns != y->last_ns)
        return x->last_ns > y->last_ns ? -1 : 1;
    if (x->fit != y->fit)
        return x->fit > y->fit ? -1 : 1;
    if (x->is_link != y->is_link)
        return x->is_link ? 1 : -1;
    return strcmp(x->path, y->path);
}

static int
by_path(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;

    return strcmp(x->path, y->path);
}

/* Map the file at PATH. Returns NULL if it cannot be read or is empty; otherwise the caller must
 * unmap it. */
static const void *
map_whole(const char *path, size_t *ret_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *mapped = MAP_FAILED;
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
        mapped = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    *ret_bytes = mapped != MAP_FAILED ? (size_t)st.st_size : 0;
    return mapped != MAP_FAILED ? mapped : NULL;
}

/* Return true if DATA is a packed profile without damage. */
static bool
listing_is_whole(const void *data, size_t size_bytes)
{
    const struct disk_header *h = data;

    return size_bytes >= sizeof *h && h->state == DISK_STATE_PACKED && h->check != 0 &&
           raw_check(data, size_bytes) == h->check;
}

/* Return true if the files at A_PATH and B_PATH, which have the same state of a recording, are
 * equal, or packed in two ways and whole. */
static bool
listing_are_equal(const char *a_path, const char *b_path)
{
    size_t a_bytes, b_bytes;
    const void *a = map_whole(a_path, &a_bytes), *b = map_whole(b_path, &b_bytes);
    bool equal = a != NULL && b != NULL &&
                 ((a_bytes == b_bytes && memcmp(a, b, a_bytes) == 0) ||
                  (listing_is_whole(a, a_bytes) && listing_is_whole(b, b_bytes)));

    if (a != NULL)
        munmap((void *)(uintptr_t)a, a_bytes);
    if (b != NULL)
        munmap((void *)(uintptr_t)b, b_bytes);
    return equal;
}

/* Return true if ONE is a copy or an earlier state of the recording that LAST belongs to. One of
 * two equal states may be damaged, which a gate must notice, so they are copies only if their
 * contents are equal, or if one is known as the recorder's. */
static bool
listing_is_copy(const struct listed *one, const struct listed *last)
{
    return listing_is_known(&one->key) && memcmp(&one->key, &last->key, sizeof one->key) == 0 &&
           (one->original < last->original || one->nearness < last->nearness ||
            one->last_ns < last->last_ns || one->fit < last->fit ||
            listing_are_equal(one->path, last->path));
}

const char **
listing_paths(struct listing *l, size_t *ret_count)
{
    const char **paths = arena_array(l->arena, l->count, sizeof *paths);
    struct map files = {0};
    size_t kept = 0;

    if (l->count > 0)
        qsort(l->v, l->count, sizeof *l->v, by_recording);
    for (size_t i = 0; i < l->count; i++) {
        const struct listed *one = &l->v[i];
        bool is_new = true;

        if (kept > 0 && listing_is_copy(one, &l->v[kept - 1]))
            continue;
        if (one->inode != 0)
            map_put(&files, one->device << 40 ^ one->inode, &is_new);
        if (is_new)
            l->v[kept++] = *one;
    }
    map_release(&files);
    l->count = *ret_count = kept;
    if (kept > 0)
        qsort(l->v, kept, sizeof *l->v, by_path);
    for (size_t i = 0; i < kept; i++)
        paths[i] = l->v[i].path;
    return paths;
}

/* Return the name of the profile of a run's first process if DIR is the directory for the run's
 * other processes; otherwise NULL. */
static const char *
name_of_first(const char *dir, struct arena *arena)
{
    static const char suffix[] = ORIGIN_OTHERS_SUFFIX;
    size_t length = strlen(dir), suffix_length = sizeof suffix - 1;

    while (length > 1 && dir[length - 1] == '/')
        length--;
    if (length < suffix_length ||
        strncmp(dir + length - suffix_length, suffix, suffix_length) != 0)
        return NULL;
    return arena_printf(arena, "%.*s" PROFILE_SUFFIX, (int)(length - suffix_length), dir);
}

/* Return the directory that contains DIR if DIR is the directory for a run's other processes;
 * otherwise NULL. */
static const char *
place_of_first(const char *dir, struct arena *arena)
{
    const char *path = name_of_first(dir, arena);
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;

    if (path == NULL)
        return NULL;
    return slash == NULL   ? "."
           : slash == path ? "/"
                           : arena_strndup(arena, path, (size_t)(slash - path));
}

/* List the profiles of the directory DIR, and those beside it that belong to the same run. Returns
 * 0; or HEAPTAP_BAD_INPUT with ERR set, if DIR cannot be read or has no profile. */
static int
list_directory(const char *dir, struct arena *arena, const char ***ret_paths, size_t *ret_count,
               struct err *err)
{
    const char *beside = place_of_first(dir, arena);
    struct listing l = {.arena = arena};

    if (listing_add(&l, dir) < 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot read the directory %s", dir);
    if (beside != NULL && (l.session_id = session_in(&l)) != 0)
        listing_add(&l, beside);
    if (beside != NULL) // An unreadable profile has no session id, but its name identifies it.
        add_unreadable(&l, name_of_first(dir, arena));
    if (l.count == 0)
        return err_set(err, HEAPTAP_BAD_INPUT, "the directory %s has no heaptap profile in it",
                       dir);
    *ret_paths = listing_paths(&l, ret_count);
    return 0;
}

int
profile_list_session(const char *what, struct arena *arena, const char ***ret_paths,
                     size_t *ret_count, struct err *err)
{
    struct stat st;

    if (stat(what, &st) == 0 && S_ISDIR(st.st_mode))
        return list_directory(what, arena, ret_paths, ret_count, err);
    *ret_paths = arena_array(arena, 1, sizeof **ret_paths);
    (*ret_paths)[0] = arena_strdup(arena, what);
    *ret_count = 1;
    return 0;
}

/* Return the number of profiles of session ONLY_SESSION in DIR and beside it; 0 if DIR has none. */
static size_t
count_session(const char *dir, uint64_t only_session, struct arena *arena)
{
    struct listing l = {.arena = arena, .session_id = only_session};
    const char *beside = place_of_first(dir, arena);
    size_t count;

    if (listing_add(&l, dir) < 0 || l.count == 0)
        return 0;
    if (beside != NULL)
        listing_add(&l, beside);
    listing_paths(&l, &count);
    return count;
}

/* Return the directory part of PATH, with a slash, or "". */
static const char *
listing_directory_of(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? arena_strndup(arena, path, (size_t)(slash - path) + 1) : "";
}

const char *
listing_session_of(const char *path, struct arena *arena, size_t *ret_count)
{
    const char *dir = listing_directory_of(path, arena), *session = NULL;
    size_t length = strlen(path), suffix = strlen(PROFILE_SUFFIX);
    struct disk_header h;
    glob_t found = {0};

    if (!origin_header(path, &h) || h.session_id == 0)
        return NULL;
    if (place_of_first(dir, arena) != NULL)
        session = arena_strndup(arena, dir, strlen(dir) - 1);
    else if (length >= suffix && strcmp(path + length - suffix, PROFILE_SUFFIX) == 0)
        session =
            arena_printf(arena, "%.*s" ORIGIN_OTHERS_SUFFIX, (int)(length - suffix), path);
    if (session != NULL && (*ret_count = count_session(session, h.session_id, arena)) > 1)
        return session;
    // The session is named after the first process, and PATH may be of another one. Try the others
    // beside it.
    session = NULL;
    if (glob(arena_printf(arena, "%s*" ORIGIN_OTHERS_SUFFIX, dir), 0, NULL, &found) == 0)
        for (size_t i = 0; session == NULL && i < found.gl_pathc && i < SESSIONS_TRIED; i++)
            if ((*ret_count = count_session(found.gl_pathv[i], h.session_id, arena)) > 1)
                session = arena_strdup(arena, found.gl_pathv[i]);
    globfree(&found);
    return session;
}
