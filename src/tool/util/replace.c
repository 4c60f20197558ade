/* replace.c: write the new file beside the target, then rename it over the target.
 *
 * The file has no name until it is complete, so a process killed while writing leaves nothing
 * behind. It has a temporary name only between linking and renaming. On file systems without
 * unnamed files, it has one from the start. */
#include "util/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/strbuf.h"

static bool
replace_write_all(int fd, const char *data, size_t size_bytes)
{
    while (size_bytes > 0) {
        ssize_t n = write(fd, data, size_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        size_bytes -= (size_t)n;
    }
    return true;
}

/* A new file beside PATH for writing, without a name if the file system can do that; else with the
 * name TEMPORARY. */
static int
open_beside(const char *path, struct strbuf *temporary)
{
    const char *slash = strrchr(path, '/');
    struct strbuf directory = {0};
    int fd;

    strbuf_add(&directory, path, slash ? (size_t)(slash - path) + 1 : 0);
    fd = open(slash ? strbuf_text(&directory) : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    strbuf_release(&directory);
    if (fd >= 0) {
        strbuf_fmt(temporary, "%s.%d", path, (int)getpid());
        return fd;
    }
    strbuf_fmt(temporary, "%s.XXXXXX", path);
    return mkostemp(temporary->text, O_CLOEXEC); // Makes it with mode 0600.
}

static bool
replace_has_name(int fd)
{
    struct stat st;

    return fstat(fd, &st) != 0 || st.st_nlink > 0;
}

/* Give FD the name TEMPORARY, unless it has it already. */
static bool
name_it(int fd, const char *temporary)
{
    char self[64];

    if (replace_has_name(fd))
        return true;
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0;
}

static bool
give(int fd, const struct file_owner *owner)
{
    return owner == NULL || geteuid() != 0 || owner->uid == 0 ||
           fchown(fd, owner->uid, owner->gid) == 0;
}

bool
replace_file(const char *path, const struct file_owner *owner, const void *data, size_t size_bytes)
{
    struct strbuf temporary = {0};
    bool done = false, named = false;
    int saved_errno, fd;

    fd = open_beside(path, &temporary);
    if (fd >= 0) {
        done = give(fd, owner) && replace_write_all(fd, data, size_bytes);
        named = (done || replace_has_name(fd)) && name_it(fd, temporary.text);
        done = done && named;
        done = close(fd) == 0 && done && rename(temporary.text, path) == 0;
        saved_errno = errno;
        if (!done && named)
            unlink(temporary.text);
        errno = saved_errno;
    }
    strbuf_release(&temporary);
    return done;
}
