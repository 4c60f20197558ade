/* perfmap.c: read the /tmp/perf-PID.map that JIT compilers write for profilers.
 *
 * Anyone can write to the directory. Therefore the file must be regular, no link, and owned by our
 * user or, if we are root, by the user of the living process. Process ids are reused, so a file
 * last written before the process started belongs to another process. File timestamps have the
 * resolution of the clock's tick, so a file written right after the start may seem slightly older.
 * The text is untrusted: fields are parsed by hand within the buffer, and a bad line is skipped.
 *
 * Runtimes replace code, so ranges overlap. The last line that covers an address is the current
 * code; earlier code is lost. */
#include "symbol/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/path.h"

#define FILE_BYTES_MAX (256 * MIB)
#define TICK_NS UINT64_C(10000000) // Longest tick of any kernel.

/* Parse the hexadecimal number at *TEXT, before END, and the blank after it. Advance *TEXT past
 * both. */
static bool
perfmap_parse_hex(const char **text, const char *end, uint64_t *ret)
{
    const char *p = *text;
    uint64_t value = 0;
    unsigned digits = 0;

    if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        p += 2;
    for (; p < end && *p != ' '; p++, digits++) {
        unsigned digit;

        if (*p >= '0' && *p <= '9')
            digit = (unsigned)(*p - '0');
        else if ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'f')
            digit = (unsigned)((*p | 0x20) - 'a' + 10);
        else
            return false;
        value = value << 4 | digit;
    }
    if (digits == 0 || digits > 16 || p == end)
        return false;
    *text = p + 1;
    *ret = value;
    return true;
}

static void
perfmap_parse_line(struct perfmap *m, const char *line, const char *end)
{
    uint64_t start;
    uint64_t size_bytes;
    size_t length;

    if (!perfmap_parse_hex(&line, end, &start) || !perfmap_parse_hex(&line, end, &size_bytes))
        return;
    length = (size_t)(end - line);
    perfmap_add(m, start, size_bytes, line, length);
}

void
perfmap_add(struct perfmap *m, uint64_t start, uint64_t size_bytes, const char *name,
            size_t length)
{
    if (length == 0 || memchr(name, '\0', length) != NULL || size_bytes > UINT64_MAX - start)
        return;
    ranges_add(&m->ranges, &m->arena, start, start + size_bytes, (uint32_t)m->name_count);
    arena_grow(&m->arena, &m->names, &m->name_capacity, m->name_count, sizeof(const char *));
    m->names[m->name_count++] = arena_strndup(&m->arena, name, length);
}

void
perfmap_parse(struct perfmap *m, const char *text, size_t size_bytes)
{
    const char *end = text + size_bytes;

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *line_end = newline != NULL ? newline : end;

        perfmap_parse_line(m, text, line_end);
        text = line_end + 1;
    }
    ranges_sort(&m->ranges, &m->arena);
}

/* Return the owner of a trusted map: our user, or for root the user of the living process. */
static uid_t
believed_user(const struct profile_process *process)
{
    uint32_t pid = process->pid_here != 0 ? process->pid_here : process->pid;
    char path[32];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%u", pid);
    return geteuid() == 0 && !process->ended && stat(path, &st) == 0 ? st.st_uid : geteuid();
}

static bool
is_believable(const struct stat *st, uid_t user, uint64_t start_unix_ns)
{
    return S_ISREG(st->st_mode) && st->st_uid == user && st->st_size > 0 &&
           (uint64_t)st->st_size <= FILE_BYTES_MAX &&
           regular_changed_unix_ns(st) + TICK_NS >= start_unix_ns;
}

char *
perfmap_read(const char *path, const struct profile_process *process, size_t *ret_size_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    uid_t user = believed_user(process);
    char *bytes = NULL;
    struct stat st;
    size_t done = 0;
    ssize_t n;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && is_believable(&st, user, process->start_unix_ns)) {
        bytes = xmalloc((size_t)st.st_size);
        // A running process may truncate its map meanwhile; use the part that was read.
        while (done < (size_t)st.st_size
               && ((n = read(fd, bytes + done, (size_t)st.st_size - done)) > 0
                   || (n < 0 && errno == EINTR)))
            done += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    *ret_size_bytes = done;
    return bytes;
}

void
perfmap_load(struct perfmap *m, const struct profile_process *process, const char *sysroot)
{
    struct arena scratch = {0};
    const char *root = sysroot != NULL ? sysroot : "";
    size_t size_bytes;
    char *text;

    // In a container, the map is in the container's /tmp, under the process's id there.
    if (sysroot == NULL && process->pid_here != 0)
        root = arena_printf(&scratch, "/proc/%u/root", process->pid_here);
    text = perfmap_read(arena_printf(&scratch, "%s/tmp/perf-%u.map", root, process->pid), process,
                        &size_bytes);
    if (text != NULL)
        perfmap_parse(m, text, size_bytes);
    free(text);
    arena_release(&scratch);
}

const char *
perfmap_name(const struct perfmap *m, uint64_t address)
{
    size_t cursor = ranges_start(&m->ranges, address);
    const struct range *r;
    const char *name = NULL;
    uint32_t latest = 0;

    while ((r = ranges_next(&m->ranges, address, &cursor)) != NULL) {
        if (name == NULL || r->id > latest) {
            name = m->names[r->id];
            latest = r->id;
        }
    }
    return name;
}

void
perfmap_release(struct perfmap *m)
{
    arena_release(&m->arena);
    *m = (struct perfmap){0};
}
