/* sink.c: one way to write results, to stdout or to a file.
 *
 * The contents are complete before the first byte goes out. Large ones go out in parts, but only
 * once all that can be wrong with the input has been said; so a view that fails leaves an older
 * file alone. A full disk is reported. An input is recognised by device and inode, whatever its
 * name. No profile is ever overwritten: a process may have it mapped, and would be killed when it
 * touches pages that are gone.
 */
#include "command/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/format.h"
#include "option/opts.h"
#include "util/ascii.h"
#include "util/regular.h"

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

static void
sink_open_file(struct sink *s)
{
    s->rc = sink_check(s->path, s->set);
    if (s->rc != 0)
        return;
    s->f = fopen(s->path, "we");
    if (s->f != NULL)
        return;
    message_error("%s cannot be written: %s", s->path, strerror(errno));
    s->rc = EXIT_USAGE;
}

/* Write the contents of B; after a failure only drop them. */
static void
sink_drain(struct strbuf *b)
{
    struct sink *s = b->drain_arg;

    if (s->f == NULL && s->path == NULL)
        s->f = stdout;
    else if (s->f == NULL && s->rc == 0)
        sink_open_file(s);
    if (s->is_text)
        ascii_strbuf(b);
    errno = 0;
    if (s->f != NULL && s->error == 0 && fwrite(strbuf_text(b), 1, b->length, s->f) != b->length)
        s->error = errno ? errno : EIO;
    strbuf_clear(b);
}

struct strbuf
sink_begin(struct sink *s)
{
    return (struct strbuf){.drain = sink_drain, .drain_arg = s};
}

static int
end_stdout(const struct sink *s)
{
    // A reader that closed the pipe has seen enough.
    if (s->error == 0 || s->error == EPIPE)
        return 0;
    message_error("the output could not be written: %s", strerror(s->error));
    return EXIT_BAD_INPUT;
}

static int
end_file(const struct sink *s)
{
    struct stat st;

    if (s->error == 0)
        return 0;
    if (stat(s->path, &st) == 0 && S_ISREG(st.st_mode))
        unlink(s->path);
    message_error("%s could not be written: %s", s->path, strerror(s->error));
    return EXIT_BAD_INPUT;
}

int
sink_end(struct strbuf *out)
{
    struct sink *s = out->drain_arg;
    bool is_file = s->path != NULL;

    sink_drain(out);
    strbuf_release(out);
    if (s->f == NULL)
        return s->rc;
    errno = 0;
    if ((is_file ? fclose(s->f) : fflush(s->f)) != 0 && s->error == 0)
        s->error = errno;
    return is_file ? end_file(s) : end_stdout(s);
}

void
sink_abandon(struct strbuf *out)
{
    struct sink *s = out->drain_arg;

    strbuf_release(out);
    if (s->path != NULL && s->f != NULL)
        fclose(s->f);
}

int
sink_print(const char *text)
{
    struct sink s = {.is_text = true};
    struct strbuf out = sink_begin(&s);

    strbuf_str(&out, text);
    return sink_end(&out);
}
