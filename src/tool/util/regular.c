/* regular.c: open a file only after checking its type.
 *
 * Names in a profile or in debug information are untrusted. Opening a FIFO would block, and opening
 * some devices has side effects (a watchdog starts, a tape rewinds). After open(), a check of the
 * type is too late. Before open(), it is too early, because the name may be rebound in between.
 * O_PATH returns a handle without opening the file; /proc/self/fd then opens the checked handle.
 *
 * Below another process's root, symbolic links resolve as in that process (RESOLVE_IN_ROOT), so
 * none leads out of the root. Linux before 5.6 lacks this flag and resolves them in our root. The
 * result may then be a local file of the same name, which callers must detect by its build id. */
#include "util/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int
handle_below(const char *root, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    int directory = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd, saved_errno;

    if (directory < 0)
        return -1;
    fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
        while (*path == '/')
            path++;
        fd = openat(directory, path, O_PATH | O_CLOEXEC);
    }
    saved_errno = errno;
    close(directory);
    errno = saved_errno;
    return fd;
}

int
regular_open(const char *root, const char *path, struct stat *ret_stat)
{
    int handle = root != NULL ? handle_below(root, path) : open(path, O_PATH | O_CLOEXEC);
    char link[32];
    int fd;

    if (handle < 0)
        return -errno;
    if (fstat(handle, ret_stat) != 0 || !S_ISREG(ret_stat->st_mode)) {
        close(handle);
        return -ENODEV;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        fd = -errno;
    close(handle);
    return fd;
}

uint64_t
regular_changed_unix_ns(const struct stat *st)
{
    return (uint64_t)st->st_mtim.tv_sec * UINT64_C(1000000000) + (uint64_t)st->st_mtim.tv_nsec;
}

bool
regular_is_trusted(const struct stat *st)
{
    return (st->st_uid == 0 || st->st_uid == geteuid()) && (st->st_mode & S_IWOTH) == 0;
}

bool
regular_is_same(const char *a, const char *b)
{
    struct stat first, second;

    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}
