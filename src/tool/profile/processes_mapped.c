/* processes_mapped.c: find the profile that a process writes.
 *
 * A recorded process has its profile mapped, shared and writable, from the first page on, until it
 * ends. /proc/PID/maps lists this mapping with the file's inode and a path. The path alone is
 * unreliable. It may name another file in another mount namespace or below another root, and the
 * file may be unlinked. Therefore three paths are tried, and each result is compared with the
 * mapped file:
 *
 *     PATH                              in our own namespace, also for files below a chroot
 *     /proc/PID/root/PATH               in another mount namespace
 *     /proc/PID/map_files/START-END     the mapped file itself, with a name or without. The kernel
 *                                       lets root alone follow it
 *
 * Root can identify the mapped file by map_files. Other users compare device and inode. Some file
 * systems show other numbers in maps than in stat (overlayfs on older kernels, btrfs). There, the
 * header must have the process's id and start time.
 *
 * Only regular files are opened: opening a device or a FIFO may have side effects. */
#include "profile/processes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/path.h"

/* Parse the number at *S in BASE, which the character AFTER must follow. Advance *S past that. */
static bool
take_number(char **s, int base, char after, uint64_t *ret)
{
    char *end;

    *ret = strtoull(*s, &end, base);
    if (end == *s || *end != after)
        return false;
    *s = end + 1;
    return true;
}

bool
mapping_parse(char *line, struct mapping *ret)
{
    static const char permissions[] = "rw-s ";
    uint64_t off, device_major, device_minor;
    struct mapping m = {0};
    char *s = line;

    if (!take_number(&s, 16, '-', &m.start) || !take_number(&s, 16, ' ', &m.end) ||
        strncmp(s, permissions, sizeof permissions - 1) != 0)
        return false;
    s += sizeof permissions - 1;
    if (!take_number(&s, 16, ' ', &off) || off != 0 ||
        !take_number(&s, 16, ':', &device_major) || !take_number(&s, 16, ' ', &device_minor) ||
        !take_number(&s, 10, ' ', &m.inode))
        return false;
    s += strspn(s, " ");
    if (*s != '/')
        return false;
    s[strcspn(s, "\n")] = '\0';
    m.path = s;
    m.device_major = (uint32_t)device_major;
    m.device_minor = (uint32_t)device_minor;
    *ret = m;
    return true;
}

/* State of a search for a mapping's file. */
struct search {
    // The process, and the thread with the /proc directory that shows its files.
    uint32_t pid, thread;
    const struct mapping *mapping;
    bool sure;        // map_files has identified the mapped file.
    struct stat file; // Status of that file.
    int error;        // Error of the last attempt to read a file; 0 = none.
};

/* Return true if the file with status ST and header H is the mapped file. */
static bool
is_the_file(const struct search *s, const struct stat *st, const struct disk_header *h)
{
    const struct mapping *m = s->mapping;

    if (s->sure)
        return st->st_dev == s->file.st_dev && st->st_ino == s->file.st_ino;
    if (st->st_dev == makedev(m->device_major, m->device_minor) && st->st_ino == m->inode)
        return true;
    return h->pid == processes_inner_pid(s->pid) &&
           (h->process_start == 0 || h->process_start == processes_start(s->pid));
}

enum place {
    PLACE_OF_PROFILE,
    PLACE_OF_OTHER, // The mapped file was found and is not a profile.
    PLACE_UNKNOWN,  // No file, another file, or a file that we lack permission to read.
};

/* Open PATH below ROOT (or NULL), and store its header in RET if it is the mapped profile. */
static enum place
look_there(struct search *s, const char *root, const char *path, struct disk_header *ret)
{
    struct disk_header h = {0};
    struct stat st;
    bool is_profile;
    int fd = regular_open(root, path, &st);

    if (fd == -ENODEV)
        return is_the_file(s, &st, &h) ? PLACE_OF_OTHER : PLACE_UNKNOWN;
    if (fd < 0) {
        s->error = -fd;
        return PLACE_UNKNOWN;
    }
    is_profile = pread(fd, &h, sizeof h, 0) == sizeof h && h.magic == DISK_MAGIC;
    close(fd);
    if (!is_the_file(s, &st, &h))
        return PLACE_UNKNOWN;
    *ret = h;
    return is_profile ? PLACE_OF_PROFILE : PLACE_OF_OTHER;
}

/* Set RET if the mapping is of a profile. Return MAPPED_HIDDEN if it may be one whose file is
 * inaccessible. */
static enum mapped_result
mapped_look_at(struct search *s, struct arena *arena, struct mapped *ret)
{
    const struct mapping *m = s->mapping;
    const char *link = arena_printf(arena, "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, s->thread,
                                    m->start, m->end);
    const struct {
        const char *root, *path;
    } places[] = {
        {NULL, m->path},
        {arena_printf(arena, "/proc/%u/root", s->thread), m->path},
        {NULL, link},
    };

    s->error = 0;
    s->sure = stat(link, &s->file) == 0;
    for (size_t i = 0; i < countof(places); i++) {
        const char *root = places[i].root;
        enum place place = look_there(s, root, places[i].path, &ret->header);

        if (place == PLACE_UNKNOWN)
            continue;
        ret->path = arena_printf(arena, "%s%s", root != NULL ? root : "", places[i].path);
        return place == PLACE_OF_PROFILE ? MAPPED_FOUND : MAPPED_NONE;
    }
    ret->path = arena_strdup(arena, m->path);
    ret->error = s->error;
    return MAPPED_HIDDEN;
}

enum mapped_result
mapped_profile(uint32_t pid, struct arena *arena, struct mapped *ret)
{
    struct search s = {.pid = pid, .thread = processes_thread(pid)};
    enum mapped_result result = MAPPED_NONE;
    struct mapped m = {0};
    char path[64], *line = NULL;
    size_t capacity = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%u/maps", s.thread);
    f = fopen(path, "re");
    if (f == NULL) {
        *ret = (struct mapped){.error = errno};
        return MAPPED_HIDDEN;
    }
    while (result != MAPPED_FOUND && getline(&line, &capacity, f) > 0) {
        struct mapping mapping;
        enum mapped_result r;

        if (!mapping_parse(line, &mapping))
            continue;
        s.mapping = &mapping;
        r = mapped_look_at(&s, arena, &m);
        // Among several inaccessible files, prefer one that is named like a profile.
        if (r == MAPPED_FOUND ||
            (r == MAPPED_HIDDEN &&
             (result == MAPPED_NONE || strstr(m.path, ".heaptap") != NULL))) {
            result = r;
            *ret = m;
        }
    }
    free(line);
    fclose(f);
    return result;
}

bool
mapped_recorder(uint32_t pid)
{
    char path[64], *line = NULL;
    size_t capacity = 0;
    bool found = false;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%u/maps", processes_thread(pid));
    f = fopen(path, "re");
    while (f != NULL && !found && getline(&line, &capacity, f) > 0)
        found = strstr(line, "/libheaptap.so\n") != NULL ||
                strstr(line, "/libheaptap-access.so\n") != NULL;
    free(line);
    if (f != NULL)
        fclose(f);
    return found;
}
