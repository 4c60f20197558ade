/* memory_share.c: the smallest of the machine's memory and the limits of the control groups.
 *
 * A group's limit holds for all groups inside it. So each group on the path from this process's to
 * the root is asked, in version 2 (memory.max) and in version 1 (memory.limit_in_bytes). The
 * hierarchies are expected where systemd and container engines mount them, below /sys/fs/cgroup. In
 * a container that shows its own group as the root, the path in /proc/self/cgroup may name groups
 * that are not visible there: these are skipped. */
#include "platform/memory_share.h"

#include <fcntl.h>
#include <string.h>

#include "base/fmt.h"
#include "platform/sys.h"

#define SHARE_UNKNOWN ((uint64_t)1 << 30)
enum { SHARE = 4, SHARE_PATH_BYTES = 4096, SHARE_TEXT_BYTES = 4096 };

/* Static, because the stack may be small. */
static char share_text[SHARE_TEXT_BYTES], share_path[SHARE_PATH_BYTES];

/* Read the file at PATH into TEXT, ended by a NUL. Return false on failure. */
static bool
share_read(const char *path, char *text, size_t size_bytes)
{
    int fd = sys_open(path, O_RDONLY, 0);
    long n;

    if (fd < 0)
        return false;
    n = sys_pread(fd, text, size_bytes - 1, 0);
    sys_close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    return true;
}

/* Return the smaller of LEAST and the limit in file NAME of the group at share_path. */
static uint64_t
share_of_group(struct fmt group, const char *name, uint64_t least)
{
    char text[32];
    const char *p = text;
    uint64_t limit;

    fmt_str(&group, name);
    if (group.cut || !share_read(share_path, text, sizeof text) || text[0] < '0' || text[0] > '9')
        return least; // The text "max" means no limit.
    limit = parse_uint(&p);
    return limit < least ? limit : least;
}

/* Return the minimum of LEAST and the limits of the group PATH and of all groups around it. PATH
 * ends with its line and is relative to MOUNT. A group's limit is in its file NAME. */
static uint64_t
share_of_groups(const char *mount, const char *path, const char *name, uint64_t least)
{
    struct fmt f = fmt_init(share_path, sizeof share_path);
    size_t mount_length;

    fmt_str(&f, mount);
    mount_length = f.length;
    for (; *path != '\0' && *path != '\n'; path++)
        fmt_char(&f, *path);
    while (!f.cut) {
        while (f.length > mount_length && share_path[f.length - 1] == '/')
            share_path[--f.length] = '\0';
        least = share_of_group(f, name, least);
        if (f.length == mount_length)
            break;
        while (f.length > mount_length && share_path[f.length - 1] != '/')
            share_path[--f.length] = '\0';
    }
    return least;
}

/* Return true if LIST, the part of a line up to a colon, has the controller for memory. */
static bool
share_lists_memory(const char *list)
{
    static const char name[] = "memory";

    for (const char *p = list;; p++) {
        if (strncmp(p, name, sizeof name - 1) == 0 &&
            (p[sizeof name - 1] == ':' || p[sizeof name - 1] == ','))
            return true;
        while (*p != ',' && *p != ':' && *p != '\0')
            p++;
        if (*p != ',')
            return false;
    }
}

/* Return the smaller of LEAST and the limit of the group in LINE: "number:controllers:path". */
static uint64_t
share_of_line(const char *line, uint64_t least)
{
    const char *list = strchr(line, ':');
    const char *path = list != NULL ? strchr(list + 1, ':') : NULL;

    if (path == NULL)
        return least;
    if (path == list + 1) // In version 2 the list of controllers is empty.
        return share_of_groups("/sys/fs/cgroup", path + 1, "/memory.max", least);
    if (share_lists_memory(list + 1))
        return share_of_groups("/sys/fs/cgroup/memory", path + 1, "/memory.limit_in_bytes", least);
    return least;
}

/* Return the machine's memory; UINT64_MAX if it is not known. */
static uint64_t
share_of_machine(void)
{
    static const char name[] = "MemTotal:";
    const char *p = share_text;
    uint64_t kilobytes;

    // The first line of /proc/meminfo has the total.
    if (!share_read("/proc/meminfo", share_text, sizeof share_text) ||
        strncmp(p, name, sizeof name - 1) != 0)
        return UINT64_MAX;
    for (p += sizeof name - 1; *p == ' ';)
        p++;
    kilobytes = parse_uint(&p);
    return kilobytes != 0 ? kilobytes << 10 : UINT64_MAX;
}

COLD uint64_t
memory_share(void)
{
    uint64_t least = share_of_machine();

    if (share_read("/proc/self/cgroup", share_text, sizeof share_text))
        for (const char *line = share_text; line != NULL; line = strchr(line, '\n')) {
            line += *line == '\n';
            least = share_of_line(line, least);
        }
    return least != UINT64_MAX ? least / SHARE : SHARE_UNKNOWN;
}
