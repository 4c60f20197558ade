/* source_files.c: read the source files that a profile names.
 *
 * The profile may come from another user, and the text is shown and may be passed on. Therefore
 * only regular files that everybody may read are opened, unless the user has named a directory. */
#include "open/symbolise.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/path.h"

#define SOURCE_BYTES_MAX (64 * MIB)

/* Read the text file PATH below ROOT (or NULL), if its size is plausible. A file that not
 * everybody may read is opened only if the user ASKED for its directory, because a profile may
 * name any file. */
static bool
source_files_read_text(const char *root, const char *path, bool asked, struct strbuf *ret,
                       uint64_t *ret_unix_ns)
{
    char chunk[65536];
    struct stat st;
    int fd = regular_open(root, path, &st);
    ssize_t n = 0;

    if (fd < 0)
        return false;
    if (st.st_size <= (off_t)SOURCE_BYTES_MAX && (asked || (st.st_mode & S_IROTH) != 0))
        while (ret->length < SOURCE_BYTES_MAX && (n = read(fd, chunk, sizeof chunk)) > 0)
            strbuf_add(ret, chunk, (size_t)n);
    close(fd);
    *ret_unix_ns = regular_changed_unix_ns(&st);
    return ret->length > 0 && memchr(ret->text, '\0', ret->length) == NULL;
}

static bool
source_files_leads_out(const char *path)
{
    for (const char *s = path; s != NULL; s = strchr(s, '/')) {
        s += strspn(s, "/");
        if (strncmp(s, "..", 2) == 0 && (s[2] == '/' || s[2] == '\0'))
            return true;
    }
    return false;
}

bool
source_read(const char *directory, const char *sysroot, const char *path, struct arena *arena,
            struct strbuf *ret, uint64_t *ret_unix_ns)
{
    for (const char *tail = path; tail != NULL && directory != NULL; tail = strchr(tail, '/')) {
        while (*tail == '/')
            tail++;
        if (!source_files_leads_out(tail) &&
            source_files_read_text(NULL, arena_printf(arena, "%s/%s", directory, tail), true, ret,
                                   ret_unix_ns))
            return true;
        strbuf_clear(ret);
    }
    if (sysroot != NULL && source_files_read_text(sysroot, path, false, ret, ret_unix_ns))
        return true;
    strbuf_clear(ret);
    if (source_files_read_text(NULL, path, false, ret, ret_unix_ns))
        return true;
    strbuf_clear(ret);
    return false;
}
