/* replace.c: write the new file beside the target, then rename it over the target.
 *
 * The file has no name until it is complete, so a process killed while writing leaves no file
 * behind. It has a temporary name only between linking and renaming. Without /proc, or on file
 * systems without unnamed files, it has the temporary name from the start. */
#include "util/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Return a descriptor of a new unnamed file of MODE in the directory of PATH. Return a negative
 * number if the file system does not support that, or if the file could not be named later. */
static int
open_unnamed(const char *path, mode_t mode)
{
    const char *slash = strrchr(path, '/');
    struct strbuf directory = {0};
    int fd;

    if (access("/proc/self/fd", X_OK) != 0)
        return -1;
    strbuf_add(&directory, path, slash ? (size_t)(slash - path) + 1 : 0);
    fd = open(slash ? strbuf_text(&directory) : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    strbuf_release(&directory);
    return fd;
}

/* Set the mode of FD, which is 0600, to MODE less the umask. */
static bool
replace_set_mode(int fd, mode_t mode)
{
    mode_t mask = umask(0);

    umask(mask);
    return (mode & ~mask) == 0600 || fchmod(fd, mode & ~mask) == 0;
}

static bool
replace_has_name(int fd)
{
    struct stat st;

    return fstat(fd, &st) != 0 || st.st_nlink > 0;
}

/* Give FD the name TEMPORARY, unless it already has that name. */
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
replace_begin(struct replacement *r, const char *path, mode_t mode)
{
    *r = (struct replacement){.path = path, .fd = open_unnamed(path, mode)};
    if (r->fd >= 0) {
        strbuf_fmt(&r->temporary, "%s.%d", path, (int)getpid());
        return true;
    }
    strbuf_fmt(&r->temporary, "%s.XXXXXX", path);
    r->fd = mkostemp(r->temporary.text, O_CLOEXEC); // Creates it with mode 0600.
    if (r->fd >= 0 && replace_set_mode(r->fd, mode))
        return true;
    replace_drop(r);
    return false;
}

bool
replace_in_place(struct replacement *r, const char *path, mode_t mode)
{
    *r = (struct replacement){
        .path = path, .fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, mode)};
    return r->fd >= 0;
}

bool
replace_write(struct replacement *r, const void *data, size_t size_bytes)
{
    const char *rest = data;

    while (size_bytes > 0) {
        ssize_t n = write(r->fd, rest, size_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n < 0 ? errno : EIO;
            return false;
        }
        rest += n;
        size_bytes -= (size_t)n;
    }
    return true;
}

bool
replace_finish(struct replacement *r)
{
    bool beside = r->temporary.length > 0, done;
    int saved_errno;

    if (beside && !name_it(r->fd, r->temporary.text)) {
        replace_drop(r);
        return false;
    }
    done = close(r->fd) == 0 && (!beside || rename(r->temporary.text, r->path) == 0);
    saved_errno = errno;
    if (beside && !done)
        unlink(r->temporary.text);
    strbuf_release(&r->temporary);
    errno = saved_errno;
    return done;
}

void
replace_drop(struct replacement *r)
{
    int saved_errno = errno;

    if (r->fd >= 0) {
        if (r->temporary.length > 0 && replace_has_name(r->fd))
            unlink(r->temporary.text);
        close(r->fd);
    }
    strbuf_release(&r->temporary);
    errno = saved_errno;
}

bool
replace_file(const char *path, const struct file_owner *owner, const void *data, size_t size_bytes)
{
    struct replacement r;

    if (!replace_begin(&r, path, 0600))
        return false;
    if (give(r.fd, owner) && replace_write(&r, data, size_bytes))
        return replace_finish(&r);
    replace_drop(&r);
    return false;
}
