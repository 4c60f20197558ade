/* output.c: naming and creating the profile file.
 *
 * HEAPTAP_OUT is a path in which %p is the process id, %e the program's name, %n a number from 1
 * on that makes the name new, %% a percent sign. Without it: heaptap.%e.%p.heaptap in the current
 * directory. A path that is a directory gets that default name inside it. The file is created
 * with O_EXCL and never replaced: a name that is taken (a child of the run, or another image of
 * the same process) gets program and process id appended, then a number.
 */
#include "monitor/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "base/fmt.h"
#include "format/format.h"
#include "monitor/sys.h"

#define DEFAULT_NAME "heaptap.%e.%p.heaptap"
#define SUFFIX ".heaptap"

enum { NAME_ATTEMPTS = 1000 };

extern char **environ;

const char *
output_environment(const char *name)
{
    size_t length = strlen(name);

    if (getauxval(AT_SECURE) || environ == NULL)
        return NULL;
    for (char **e = environ; *e != NULL; e++)
        if (strncmp(*e, name, length) == 0 && (*e)[length] == '=')
            return *e + length + 1;
    return NULL;
}

void
output_message(const char *text, const char *detail)
{
    char line[4608];
    struct fmt f = fmt_init(line, sizeof line - 1);

    fmt_str(&f, "heaptap: ");
    fmt_str(&f, text);
    fmt_str(&f, detail);
    line[f.length] = '\n';
    sys_write(2, line, f.length + 1);
}

const char *
output_reason(int error)
{
    switch (-error) {
    case EACCES:
        return "permission denied, not recording (choose another place with -o): ";
    case EROFS:
        return "read-only file system, not recording (choose another place with -o): ";
    case ENOSPC:
    case EDQUOT:
        return "disk full, not recording: ";
    case EFBIG:
        return "the limit on file size is too low (ulimit -f), not recording";
    case ENOENT:
    case ENOTDIR:
        return "no such directory, not recording: ";
    case EEXIST:
        return "the file exists and is never overwritten, not recording: ";
    case EMFILE:
    case ENFILE:
        return "too many open files, not recording: ";
    case ENAMETOOLONG:
        return "file name too long, not recording: ";
    default:
        return "cannot create the profile, not recording: ";
    }
}

uint64_t
output_limit(int resource)
{
    struct rlimit limit;

    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

/* The last component of the executable's path, with what would trouble a shell replaced. */
static void
program_name(char *ret_name, size_t name_bytes)
{
    char path[4096];
    long length = sys_readlink("/proc/self/exe", path, sizeof path - 1);
    struct fmt f = fmt_init(ret_name, name_bytes);
    const char *base;

    path[length > 0 ? length : 0] = '\0';
    base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (*base == '\0')
        base = "program";
    for (; *base != '\0' && *base != ' '; base++)
        fmt_char(&f, (char)(*base > ' ' && *base < 0x7f && *base != '%' ? *base : '_'));
}

/* True if NUMBER is in the result. */
static bool
expand(struct fmt *f, const char *pattern, const char *program, uint32_t number)
{
    bool numbered = false;

    for (const char *p = pattern; *p != '\0'; p++) {
        if (*p != '%' || p[1] == '\0') {
            fmt_char(f, *p);
            continue;
        }
        switch (*++p) {
        case 'p':
            fmt_uint(f, (uint64_t)sys_getpid());
            break;
        case 'e':
            fmt_str(f, program);
            break;
        case 'n':
            fmt_uint(f, number);
            numbered = true;
            break;
        case '%':
            fmt_char(f, '%');
            break;
        default:
            fmt_char(f, '%');
            fmt_char(f, *p);
        }
    }
    return numbered;
}

/* Make NAME another one: NAME without suffix, program, process id and, from the second time on,
 * NUMBER. */
static void
vary(struct fmt *f, const char *program, uint32_t number)
{
    size_t suffix = sizeof SUFFIX - 1;

    if (f->length > suffix && strcmp(f->text + f->length - suffix, SUFFIX) == 0)
        f->text[f->length -= suffix] = '\0';
    fmt_char(f, '.');
    fmt_str(f, program);
    fmt_char(f, '.');
    fmt_uint(f, (uint64_t)sys_getpid());
    if (number > 2) {
        fmt_char(f, '.');
        fmt_uint(f, number - 1);
    }
    fmt_str(f, SUFFIX);
}

static bool
is_directory(const char *path)
{
    int fd = sys_open(path, O_PATH | O_DIRECTORY, 0);

    if (fd >= 0)
        sys_close(fd);
    return fd >= 0;
}

/* Fill in what makes an empty file an empty profile. */
static bool
write_first_words(int fd)
{
    struct disk_header h = {
        .magic = DISK_MAGIC, .version = DISK_VERSION, .header_bytes = sizeof h};
    size_t first_bytes = offsetof(struct disk_header, state);

    return sys_ftruncate(fd, DISK_DATA_OFF) == 0 &&
           sys_write(fd, &h, first_bytes) == (long)first_bytes;
}

/* Create PATH, which must not exist, as an empty profile. It gets its name when it is one, so a
 * process killed on the way leaves nothing, where the file system can do that. */
static int
create(char *path)
{
    char *slash = strrchr(path, '/');
    int fd, error;

    *slash = '\0';
    fd = sys_open(slash == path ? "/" : path, O_TMPFILE | O_RDWR, 0600);
    *slash = '/';
    if (fd >= 0) {
        error = write_first_words(fd) ? sys_link(fd, path) : -ENOSPC;
        sys_close(fd);
        if (error == 0)
            return sys_open(path, O_RDWR | O_NOFOLLOW, 0);
        if (error == -EEXIST || error == -ENOSPC)
            return error;
    }
    fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd >= 0 && !write_first_words(fd)) {
        sys_unlink(path);
        sys_close(fd);
        return -ENOSPC;
    }
    return fd;
}

int
output_open(char *ret_path, size_t path_bytes)
{
    const char *pattern = output_environment("HEAPTAP_OUT");
    char program[64];
    int fd = -EEXIST;

    // Beyond the limit the kernel would send a signal that kills.
    if (output_limit(RLIMIT_FSIZE) < DISK_DATA_OFF)
        return -EFBIG;
    program_name(program, sizeof program);
    if (pattern == NULL || *pattern == '\0')
        pattern = DEFAULT_NAME;
    for (uint32_t number = 1; number <= NAME_ATTEMPTS && fd == -EEXIST; number++) {
        struct fmt f = fmt_init(ret_path, path_bytes);
        bool numbered;

        if (pattern[0] != '/') {
            if (sys_getcwd(ret_path, path_bytes) < 0 || ret_path[0] != '/')
                return -ENOENT;
            f.length = strlen(ret_path);
            fmt_char(&f, '/');
        }
        numbered = expand(&f, pattern, program, number);
        if (is_directory(ret_path)) {
            fmt_char(&f, '/');
            expand(&f, DEFAULT_NAME, program, number);
        }
        if (number > 1 && !numbered)
            vary(&f, program, number);
        if (f.cut)
            return -ENAMETOOLONG;
        fd = create(ret_path);
    }
    return fd;
}
