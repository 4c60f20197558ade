/* write_file.c: one way to write an output file.
 *
 * The contents are complete before the file is opened, so a view that fails leaves an older file
 * alone; what is too large to keep is begun when there is much of it. An input is recognised by
 * device and inode, whatever its name. No profile is ever overwritten: a process may have it
 * mapped, and would lose the pages and its life.
 */
#include "command/write_file.h"

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

static void
open_output(struct output_file *o)
{
    o->rc = write_file_check(o->path, o->set);
    if (o->rc != 0)
        return;
    o->f = fopen(o->path, "we");
    if (o->f != NULL)
        return;
    say_error("%s cannot be written: %s", o->path, strerror(errno));
    o->rc = EXIT_USAGE;
}

/* Write what B has; after a failure it goes nowhere. */
static void
drain_to_file(struct strbuf *b)
{
    struct output_file *o = b->drain_arg;

    if (o->f == NULL && o->rc == 0)
        open_output(o);
    errno = 0;
    if (o->f != NULL && o->error == 0 &&
        fwrite(strbuf_text(b), 1, b->length, o->f) != b->length)
        o->error = errno ? errno : EIO;
    strbuf_clear(b);
}

struct strbuf
write_file_output(struct output_file *o)
{
    return (struct strbuf){.drain = drain_to_file, .drain_arg = o};
}

int
write_file_end(struct strbuf *out)
{
    struct output_file *o = out->drain_arg;
    struct stat st;

    drain_to_file(out);
    strbuf_release(out);
    if (o->f == NULL)
        return o->rc;
    errno = 0;
    if (fclose(o->f) != 0 && o->error == 0)
        o->error = errno;
    if (o->error == 0)
        return 0;
    if (stat(o->path, &st) == 0 && S_ISREG(st.st_mode))
        unlink(o->path);
    say_error("%s could not be written: %s", o->path, strerror(o->error));
    return EXIT_BAD_INPUT;
}
