/* sink.c: write results to stdout or to a file.
 *
 * Small results are complete before the first byte is written. Large results are written in parts,
 * but only after all errors of the input were reported; so a view that fails does not change an
 * older file. A full disk is reported, and does not change an older file either. The new file is
 * written beside the old one and replaces it when complete (util/replace.h), with its mode and
 * owner.
 *
 * Some files must be written in place:
 * - devices and FIFOs;
 * - files that are open in this process, such as stdout, because others also write to them;
 * - mount points, which cannot be replaced;
 * - hard links, which would become separate files;
 * - files whose owner the new file could not have;
 * - files in directories where nothing can be created.
 *
 * An input is recognised by device and inode, whatever its name. No profile is ever overwritten,
 * because a process that has it mapped would be killed by touching pages that no longer exist. */
#include "command/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/format.h"
#include "option/opts.h"
#include "util/amount.h"
#include "util/path.h"

enum {
    DESCRIPTORS_MAX = 256, // The descriptors that a shell opens are below this number.
    MODE_OF_NEW = 0666,
};

static bool
sink_is_profile(const char *path)
{
    uint64_t magic = 0;
    struct stat st;
    int fd = regular_open(NULL, path, &st);

    if (fd < 0)
        return false;
    if (pread(fd, &magic, sizeof magic, 0) != (ssize_t)sizeof magic)
        magic = 0;
    close(fd);
    return magic == DISK_MAGIC;
}

int
sink_check_input(const char *path, const char *input, const char *what)
{
    if (!regular_is_same(path, input))
        return 0;
    message_error("%s is the %s that is being read; choose another name for the output", path,
                  what);
    return EXIT_USAGE;
}

int
sink_check(const char *path, const struct view_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (sink_check_input(path, set->v[i]->path, "profile") != 0)
            return EXIT_USAGE;
    if (sink_is_profile(path)) {
        message_error("%s is a profile; choose another name for the output", path);
        return EXIT_USAGE;
    }
    return 0;
}

static bool
is_open_here(const struct stat *file)
{
    struct stat st;

    for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
        if (fstat(fd, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino)
            return true;
    return false;
}

static bool
is_mount_point(const char *path)
{
    struct statx st;

    return statx(AT_FDCWD, path, 0, 0, &st) == 0 &&
           (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/* Return true if PATH can be opened for writing. Only opening the file takes every reason for a
 * refusal into account. */
static bool
sink_is_writable(const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Return the name of the file to replace for PATH, and its status in *OLD (st_nlink 0 = it does not
 * exist). Return NULL if PATH must be written in place. The caller frees the name. */
static char *
sink_target(const char *path, struct stat *old)
{
    char *target;

    *old = (struct stat){0};
    if (lstat(path, old) != 0)
        return errno == ENOENT ? strdup(path) : NULL;
    if (stat(path, old) != 0 || !S_ISREG(old->st_mode) || old->st_nlink != 1 ||
        (geteuid() != 0 && old->st_uid != geteuid()) || is_open_here(old) ||
        !sink_is_writable(path))
        return NULL;
    target = realpath(path, NULL);
    if (target != NULL && regular_is_same(target, path) && !is_mount_point(target))
        return target;
    free(target);
    return NULL;
}

static bool
keep_rights(int fd, const struct stat *old)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return false;
    if ((st.st_uid != old->st_uid || st.st_gid != old->st_gid) &&
        fchown(fd, old->st_uid, old->st_gid) != 0)
        return false;
    return ((st.st_mode ^ old->st_mode) & 0777) == 0 || fchmod(fd, old->st_mode & 0777) == 0;
}

/* Begin a file that replaces the one at S's path. Return false if that is impossible. */
static bool
sink_replace(struct sink *s)
{
    struct stat old;

    s->target = sink_target(s->path, &old);
    if (s->target != NULL &&
        replace_begin(&s->file, s->target, old.st_nlink > 0 ? 0600 : MODE_OF_NEW)) {
        if (old.st_nlink == 0 || keep_rights(s->file.fd, &old))
            return true;
        replace_drop(&s->file);
    }
    free(s->target);
    s->target = NULL;
    return false;
}

static void
sink_open_file(struct sink *s)
{
    s->rc = sink_check(s->path, s->set);
    if (s->rc != 0)
        return;
    s->is_open = sink_replace(s) || replace_in_place(&s->file, s->path, MODE_OF_NEW);
    if (s->is_open)
        return;
    message_error("%s cannot be written: %s", s->path, strerror(errno));
    s->rc = EXIT_USAGE;
}

static bool
sink_write(struct sink *s, const struct strbuf *b)
{
    errno = 0;
    if (s->path != NULL)
        return replace_write(&s->file, strbuf_text(b), b->length);
    return fwrite(strbuf_text(b), 1, b->length, stdout) == b->length;
}

/* Write the contents of B and clear B. After a failure, only clear it. */
static void
sink_drain(struct strbuf *b)
{
    struct sink *s = b->drain_arg;

    if (s->path == NULL)
        s->is_open = true;
    else if (!s->is_open && s->rc == 0)
        sink_open_file(s);
    if (s->is_text)
        ascii_strbuf(b);
    if (s->is_open && s->error == 0 && !sink_write(s, b))
        s->error = errno ? errno : EIO;
    strbuf_clear(b);
}

struct strbuf
sink_begin(struct sink *s)
{
    return (struct strbuf){.drain = sink_drain, .drain_arg = s};
}

static int
end_stdout(struct sink *s)
{
    errno = 0;
    if (fflush(stdout) != 0 && s->error == 0)
        s->error = errno;
    // A reader that has closed the pipe needs no more output.
    if (s->error == 0 || s->error == EPIPE)
        return 0;
    message_error("the output could not be written: %s", strerror(s->error));
    return EXIT_BAD_INPUT;
}

/* Remove the file of S, which was written in place. If the path is a symbolic link, remove its
 * target. */
static void
sink_remove(const struct sink *s)
{
    char *target = realpath(s->path, NULL);
    struct stat st;

    if (target != NULL && stat(target, &st) == 0 && S_ISREG(st.st_mode))
        unlink(target);
    free(target);
}

static int
end_file(struct sink *s)
{
    if (s->error != 0)
        replace_drop(&s->file);
    else if (!replace_finish(&s->file))
        s->error = errno;
    if (s->error != 0 && s->target == NULL)
        sink_remove(s);
    free(s->target);
    if (s->error == 0)
        return 0;
    message_error("%s could not be written: %s", s->path, strerror(s->error));
    return EXIT_BAD_INPUT;
}

int
sink_end(struct strbuf *out)
{
    struct sink *s = out->drain_arg;

    sink_drain(out);
    strbuf_release(out);
    if (!s->is_open)
        return s->rc;
    return s->path != NULL ? end_file(s) : end_stdout(s);
}

void
sink_abandon(struct strbuf *out)
{
    struct sink *s = out->drain_arg;

    strbuf_release(out);
    if (s->path == NULL || !s->is_open)
        return;
    replace_drop(&s->file);
    free(s->target);
}

int
sink_print(const char *text)
{
    struct sink s = {.is_text = true};
    struct strbuf out = sink_begin(&s);

    strbuf_str(&out, text);
    return sink_end(&out);
}
