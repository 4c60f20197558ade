/* write_file.c: one way to write an output file.
 *
 * The contents are complete before the file is opened, so a view that fails leaves an older file
 * alone. An input is recognised by device and inode, whatever its name. No profile is ever
 * overwritten: a process may have it mapped, and would lose the pages and its life.
 */
#include "cli/write_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/format.h"
#include "util/regular.h"

static bool
is_profile(const char *path)
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
write_file_check(const char *path, const struct view_set *set)
{
    struct stat mine, theirs;

    if (stat(path, &mine) != 0)
        return 0;
    for (size_t i = 0; i < set->count; i++)
        if (stat(set->v[i]->path, &theirs) == 0 && theirs.st_dev == mine.st_dev &&
            theirs.st_ino == mine.st_ino) {
            say_error("%s is the profile that is being read; choose another name for the output",
                      path);
            return EXIT_USAGE;
        }
    if (is_profile(path)) {
        say_error("%s is a profile; choose another name for the output", path);
        return EXIT_USAGE;
    }
    return 0;
}

int
write_file(const char *path, const struct strbuf *out, const struct view_set *set)
{
    struct stat st;
    size_t written;
    FILE *f;
    bool failed;
    int error, rc = write_file_check(path, set);

    if (rc != 0)
        return rc;
    f = fopen(path, "we");
    if (f == NULL) {
        say_error("%s cannot be written: %s", path, strerror(errno));
        return EXIT_USAGE;
    }
    errno = 0;
    written = fwrite(strbuf_text(out), 1, out->length, f);
    failed = written != out->length;
    failed |= fclose(f) != 0;
    if (!failed)
        return 0;
    error = errno;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        unlink(path);
    say_error("%s could not be written: %s", path, strerror(error));
    return EXIT_BAD_INPUT;
}
