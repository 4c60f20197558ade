/* owner.c: is somebody still writing this profile?
 *
 * The header has the process id, but as the process itself counts it: in a container it is another
 * one here, and the number may be somebody else's. And what lives may not be in our /proc at all,
 * when we are in a container and it is not. So there are three ways, the cheapest first:
 *
 *     the process with that id     its start time is the recorded one
 *     the kernel                   a read lease (fcntl) is refused while anybody has the file open
 *                                  for writing, and a shared mapping keeps it open. The kernel
 *                                  tells that across all namespaces, but only to the file's owner
 *                                  and not on every file system
 *     all of /proc                 a process whose id in its innermost namespace is the recorded
 *                                  one, and which started then or has the file mapped
 *
 * If the kernel will not say, nobody is found, and /proc does not show all processes of the
 * machine, then it is not known. Whoever would replace the file has to be sure: the process would
 * go on writing into a file without a name.
 *
 * Nothing is known of processes on other machines that share the file system.
 */
#include "profile/owner.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "util/arena.h"

/* The first pid namespace, which sees all processes. The number is fixed in the kernel. */
#define FIRST_PID_NAMESPACE "pid:[4026531836]"

enum { CHUNK_BYTES = 4096 };

/* Read the first bytes of the file PATH of /proc into BUFFER; returns how many. */
static size_t
read_front(const char *path, char *buffer, size_t size_bytes)
{
    FILE *f = fopen(path, "re");
    size_t got = 0;

    if (f != NULL) {
        got = fread(buffer, 1, size_bytes - 1, f);
        fclose(f);
    }
    buffer[got] = '\0';
    return got;
}

/* When process PID started, in ticks; 0 if it does not live. */
static uint64_t
start_of(uint32_t pid)
{
    char text[1024], path[64], *p;

    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    read_front(path, text, sizeof text);
    p = strrchr(text, ')');
    if (p == NULL || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X')
        return 0;
    for (int field = 2; field < 22 && p != NULL; field++)
        p = strchr(p + 1, ' ');
    return p != NULL ? strtoull(p + 1, NULL, 10) : 0;
}

/* The id of process PID in its innermost namespace; 0 if that is this one, or it is gone. */
static uint32_t
inner_pid(uint32_t pid)
{
    char text[CHUNK_BYTES], path[64], *line, *last;

    snprintf(path, sizeof path, "/proc/%u/status", pid);
    read_front(path, text, sizeof text);
    line = strstr(text, "\nNSpid:");
    if (line == NULL)
        return 0;
    line += strlen("\nNSpid:");
    line[strcspn(line, "\n")] = '\0';
    last = strrchr(line, '\t');
    return last == NULL || last == line ? 0 : (uint32_t)strtoul(last + 1, NULL, 10);
}

/* Whether process PID has the file ST mapped for writing. */
static bool
maps_file(uint32_t pid, const struct stat *st)
{
    char path[64], wanted[64], *line = NULL;
    size_t capacity = 0;
    bool found = false;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    snprintf(wanted, sizeof wanted, " %02x:%02x %" PRIu64 " ", major(st->st_dev),
             minor(st->st_dev), (uint64_t)st->st_ino);
    f = fopen(path, "re");
    if (f == NULL)
        return false;
    while (!found && getline(&line, &capacity, f) > 0)
        found = strstr(line, " rw-s ") != NULL && strstr(line, wanted) != NULL;
    free(line);
    fclose(f);
    return found;
}

/* A process of another pid namespace. */
struct stranger {
    uint32_t pid, inner;
};

/* The strangers that live, found anew only when the list is older than LIST_NS, because a session
 * has many profiles. */
static const struct stranger *
strangers(size_t *ret_count)
{
    enum { LIST_NS = 500000000 };
    static struct arena arena;
    static struct stranger *list;
    static size_t count, capacity;
    static uint64_t made_ns;
    struct timespec t;
    struct dirent *e;
    uint64_t now_ns;
    DIR *d;

    clock_gettime(CLOCK_MONOTONIC, &t);
    now_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    if (made_ns == 0 || now_ns - made_ns > LIST_NS) {
        count = 0;
        d = opendir("/proc");
        while (d != NULL && (e = readdir(d)) != NULL) {
            uint32_t pid = isdigit((unsigned char)e->d_name[0])
                               ? (uint32_t)strtoul(e->d_name, NULL, 10)
                               : 0;
            uint32_t inner = pid ? inner_pid(pid) : 0;

            if (inner == 0)
                continue;
            arena_grow(&arena, &list, &capacity, count, sizeof *list);
            list[count++] = (struct stranger){pid, inner};
        }
        if (d != NULL)
            closedir(d);
        made_ns = now_ns;
    }
    *ret_count = count;
    return list;
}

/* Look for the process in other pid namespaces; false if it is not there. */
static bool
find_stranger(const struct stat *st, const struct disk_header *h, struct owner *ret)
{
    size_t count;
    const struct stranger *list = strangers(&count);

    for (size_t i = 0; i < count; i++) {
        uint64_t start = list[i].inner == h->pid ? start_of(list[i].pid) : 0;

        // In a time namespace the recorded start is another one.
        if (start == 0 || (start != h->process_start && !maps_file(list[i].pid, st)))
            continue;
        *ret = (struct owner){OWNER_LIVES, list[i].pid, start};
        return true;
    }
    return false;
}

/* Whether the kernel's word on FD's file can be relied on: elsewhere another inode than this one
 * may be mapped (overlayfs), or another machine may have it open. */
static bool
is_local(int fd)
{
    static const uint32_t magics[] = {0xef53, 0x58465342, 0x9123683e, 0x01021994, 0xf2f52010};
    struct statfs fs;

    if (fstatfs(fd, &fs) != 0)
        return false;
    for (size_t i = 0; i < countof(magics); i++)
        if ((uint32_t)fs.f_type == magics[i]) // ext, xfs, btrfs, tmpfs, f2fs
            return true;
    return false;
}

/* What the kernel knows of the file behind FD. */
static enum owner_state
ask_kernel(int fd)
{
    // If somebody opens it for writing at this very moment, the kernel sends us a signal.
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
    enum owner_state state = OWNER_UNKNOWN;

    sigaction(SIGIO, &ignored, &before);
    if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
        fcntl(fd, F_SETLEASE, F_UNLCK);
        state = is_local(fd) ? OWNER_GONE : OWNER_UNKNOWN;
    } else if (errno == EAGAIN) {
        state = OWNER_LIVES;
    }
    sigaction(SIGIO, &before, NULL);
    return state;
}

/* Whether /proc has every process that can have a file of this machine open. */
static bool
sees_all(void)
{
    char namespace[64] = "";
    ssize_t length = readlink("/proc/self/ns/pid", namespace, sizeof namespace - 1);

    return length > 0 && strcmp(namespace, FIRST_PID_NAMESPACE) == 0 && start_of(1) != 0;
}

struct owner
owner_find(const char *path, const struct disk_header *h)
{
    struct owner ret = {OWNER_GONE, h->pid, h->process_start};
    struct stat st;
    int fd;

    if (h->process_start != 0 && start_of(h->pid) == h->process_start &&
        inner_pid(h->pid) == 0) {
        ret.state = OWNER_LIVES;
        return ret;
    }
    ret.pid = 0;
    fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0)
            close(fd);
        return ret;
    }
    ret.state = ask_kernel(fd);
    close(fd);
    if (ret.state != OWNER_GONE && !find_stranger(&st, h, &ret) && ret.state == OWNER_UNKNOWN &&
        sees_all())
        ret.state = OWNER_GONE;
    return ret;
}

bool
owner_still_lives(const struct owner *o)
{
    return o->pid == 0 || start_of(o->pid) == o->start_ticks;
}
