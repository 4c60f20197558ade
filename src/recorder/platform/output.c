/* output.c: names and creates the profile file, and writes messages.
 *
 * HEAPTAP_OUT is a path. In it %p is the process id, %e the program's name, %% a percent sign, and
 * %n the lowest number from 1 on that makes the name unused. The default is heaptap.%e.%p.heaptap
 * in the current directory. If the path is a directory, the file gets the default name inside it.
 * The file is created with O_EXCL and never replaced. If another child of the run, or another image
 * of the same process, has already used the name, program and process id are appended, then a
 * number.
 *
 * Messages. Descriptor 2 belongs to the program. The program may have closed it and reused the
 * number for another file, or it may lead to a program that parses the output. So a message is
 * written only to the file that descriptor 2 was when the program began. If the environment names
 * the stderr of `heaptap run`, the file must be that one too. A message is not written if the write
 * would wait, raise SIGPIPE, or split the line (a pipe accepts PIPE_BUF bytes at once). */
#include "platform/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fmt.h"
#include "format/environment.h"
#include "format/format.h"
#include "format/run_stderr.h"
#include "platform/host.h"
#include "platform/process.h"
#include "platform/selection.h"
#include "platform/sys.h"

enum { NAME_ATTEMPTS = 1000 };

/* Identity of the file that descriptor 2 was when the program began. A process constant, valid in
 * children. */
static struct {
    bool known; // Descriptor 2 was open, and was the stderr of `heaptap run` if the environment
                // names that.
    dev_t device;
    ino_t inode;
} first_stderr;

/* Set first_stderr. Runs before main, or at the first event if that comes earlier. */
__attribute__((constructor)) static void
remember_stderr(void)
{
    static bool done;
    const char *wanted = host_environment(ENVIRONMENT_STDERR);
    struct stat st;

    if (done)
        return;
    done = true;
    first_stderr.known = sys_fstat(2, &st) == 0 &&
                         (wanted == NULL || run_stderr_is(wanted, st.st_dev, st.st_ino));
    if (first_stderr.known) {
        first_stderr.device = st.st_dev;
        first_stderr.inode = st.st_ino;
    }
}

static const struct {
    int error;
    const char *text; // Cause and remedy.
} causes[] = {
    {EACCES, "permission denied; choose another place with -o"},
    {EPERM, "a sandbox forbids it; try --reserve"},
    {EROFS, "read-only file system; choose another place with -o"},
    {ENOSPC, "disk full; free some space or choose another place with -o"},
    {EDQUOT, "disk quota exceeded; free some space or choose another place with -o"},
    {EFBIG, "the limit on file size is too low; raise it with ulimit -f"},
    {ENOENT, "no such directory; create it or choose another place with -o"},
    {ENOTDIR, "no such directory; create it or choose another place with -o"},
    {ESTALE, "the file was removed, renamed or replaced; leave it alone until the program ends"},
    {EEXIST, "the file exists and is never overwritten; choose another name with -o"},
    {EMFILE, "too many open files; raise the limit with ulimit -n"},
    {ENFILE, "too many open files in the system; close some programs"},
    {ENAMETOOLONG, "the file's whole path is too long; choose a shorter one with -o"},
    {ENOMEM, "no memory; raise the limits (ulimit -v, -d and -l) or free some memory"},
    {EAGAIN, "the limit on locked memory is too low; raise it with ulimit -l"},
    {ELIBBAD, "a sanitizer has taken malloc's place; run a build without it"},
    {ENOSYS, "this system lacks a required system call; use Linux 4.14 or later"},
};

/* Text for EACCES when the kernel refuses a file that the recorder has opened before. */
static const char no_longer_permitted[] =
    "permission denied, as after dropping privileges; try --reserve, which opens the file once";

const char *
output_cause(enum output_event event, int error)
{
    if (event == OUTPUT_CANNOT_GROW && error == -EACCES)
        return no_longer_permitted;
    for (size_t i = 0; i < countof(causes); i++)
        if (causes[i].error == -error)
            return causes[i].text;
    return "the profile cannot be written; choose another place with -o";
}

void
output_message(enum output_event event, int error, const char *path)
{
    static const char *const what[] = {
        [OUTPUT_NOT_RECORDING] = "not recording: ",
        [OUTPUT_CANNOT_GROW] = "the profile cannot grow and lacks all later events: ",
        [OUTPUT_CUT_SHORT] = ("another program truncated the profile, or its disk failed; later "
                              "events are lost, the program continues"),
    };
    static char line[PIPE_BUF]; // Static, because the stack may belong to a coroutine or a signal
                                // handler.
    struct fmt f = fmt_init(line, sizeof line - 1);
    struct stat st;

    if (host_given_profile() >= 0) {
        host_note_failure(error); // The tool that has attached the recorder reports to its user.
        return;
    }
    remember_stderr();
    if (!first_stderr.known || sys_fstat(2, &st) != 0 || st.st_dev != first_stderr.device ||
        st.st_ino != first_stderr.inode)
        return;
    fmt_str(&f, "heaptap: ");
    fmt_str(&f, what[event]);
    if (event != OUTPUT_CUT_SHORT)
        fmt_str(&f, output_cause(event, error));
    if (*path != '\0') {
        fmt_str(&f, ": ");
        fmt_str(&f, path);
    }
    line[f.length] = '\n';
    sys_write_politely(2, line, f.length + 1);
}

enum { PROGRAM_BYTES = 64 };

/* Return the last component of the executable's path, with shell metacharacters replaced. The first
 * call reads the path and caches the component in NAME, which is empty before. Few patterns need
 * this component. */
static const char *
program_name(char name[PROGRAM_BYTES])
{
    char path[4096];
    const char *base;
    struct fmt f;

    if (*name != '\0')
        return name;
    f = fmt_init(name, PROGRAM_BYTES);
    host_executable(path, sizeof path);
    base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (*base == '\0')
        base = "program";
    for (; *base != '\0' && *base != ' '; base++)
        fmt_char(&f, (char)(*base > ' ' && *base < 0x7f && *base != '%' ? *base : '_'));
    return name;
}

/* Expand PATTERN. Return true if the result contains NUMBER. */
static bool
output_expand(struct fmt *f, const char *pattern, char program[PROGRAM_BYTES], uint32_t number)
{
    bool numbered = false;

    for (const char *p = pattern; *p != '\0'; p++) {
        if (*p != '%' || p[1] == '\0') {
            fmt_char(f, *p);
            continue;
        }
        switch (*++p) {
        case 'p':
            fmt_uint(f, (uint64_t)identity_pid());
            break;
        case 'e':
            fmt_str(f, program_name(program));
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

/* Vary the name in F: strip the suffix, then append program and process id, and NUMBER from the
 * second attempt on. */
static void
vary(struct fmt *f, char program[PROGRAM_BYTES], uint32_t number)
{
    size_t suffix = sizeof PROFILE_SUFFIX - 1;

    if (f->length > suffix && strcmp(f->text + f->length - suffix, PROFILE_SUFFIX) == 0)
        f->text[f->length -= suffix] = '\0';
    fmt_char(f, '.');
    fmt_str(f, program_name(program));
    fmt_char(f, '.');
    fmt_uint(f, (uint64_t)identity_pid());
    if (number > 2) {
        fmt_char(f, '.');
        fmt_uint(f, number - 1);
    }
    fmt_str(f, PROFILE_SUFFIX);
}

static bool
output_is_directory(const char *path)
{
    int fd = sys_open(path, O_PATH | O_DIRECTORY, 0);

    if (fd >= 0)
        sys_close(fd);
    return fd >= 0;
}

/* Write the first words of an empty profile. Return 0, or a negative error number. */
static int
write_first_words(int fd)
{
    struct disk_header h = {.magic = DISK_MAGIC,
                            .version = DISK_VERSION,
                            .header_bytes = sizeof h,
                            .compatible = DISK_COMPATIBLE_LIVES};
    size_t first_bytes = offsetof(struct disk_header, state);
    int r = sys_ftruncate(fd, DISK_DATA_OFF);
    long written = r == 0 ? sys_write(fd, &h, first_bytes) : r;

    if (written < 0)
        return (int)written;
    return written == (long)first_bytes ? 0 : -ENOSPC;
}

/* Return true if FD, which was just opened, is the file at PATH. The program may have closed FD and
 * reused the number for another file, which must not be written to. */
static bool
output_is_named(int fd, const char *path)
{
    struct stat st;

    return sys_lstat(path, &st) == 0 && sys_is_file(fd, (uint64_t)st.st_dev, (uint64_t)st.st_ino);
}

static bool
has_no_name(int fd)
{
    struct stat st;

    return sys_fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0;
}

/* Like create, but give the file its name only when it is a valid profile, so that a process that
 * is killed meanwhile leaves no file. Not every file system supports this. */
static int
create_whole(char *path)
{
    char *slash = strrchr(path, '/');
    int fd, named, error;

    *slash = '\0';
    fd = sys_open(slash == path ? "/" : path, O_TMPFILE | O_RDWR, 0600);
    *slash = '/';
    if (fd < 0 || !has_no_name(fd))
        return fd < 0 ? fd : -EBADF;
    error = write_first_words(fd);
    if (error == 0)
        error = sys_link(fd, path);
    // /proc shows for a mapping the name with which its file was opened. So open the file again by
    // PATH.
    named = error == 0 ? sys_open(path, O_RDWR | O_NOFOLLOW, 0) : error;
    if (error == 0 && (named < 0 || !output_is_named(named, path)))
        return fd;
    sys_close(fd);
    return named;
}

/* Create PATH, which must not exist, as an empty profile. Return a descriptor, or a negative error
 * number. */
static int
create(char *path)
{
    int fd = create_whole(path);
    int error;

    if (fd >= 0 || fd == -EEXIST || fd == -ENOSPC || fd == -EDQUOT)
        return fd;
    fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd == -EBADF) // sys_open has created the file, but the program has closed the descriptor.
        sys_unlink(path);
    if (fd < 0)
        return fd;
    error = output_is_named(fd, path) ? write_first_words(fd) : -EBADF;
    if (error == 0)
        return fd;
    sys_unlink(path);
    sys_close(fd);
    return error;
}

/* Use the profile that a tool has created as PATH and opened for this process. */
static int
take_given(const char *path, char *ret_path, size_t path_bytes)
{
    struct fmt f = fmt_init(ret_path, path_bytes);
    int error = write_first_words(host_given_profile());

    fmt_str(&f, path);
    if (error != 0)
        return error;
    host_profile_is_taken();
    return host_given_profile();
}

int
output_open(char *ret_path, size_t path_bytes)
{
    const char *pattern = selection_output();
    char program[PROGRAM_BYTES] = "";
    int fd = -EEXIST;

    // Do not exceed the limit: the kernel would send SIGXFSZ, which ends the process.
    if (sys_limit(RLIMIT_FSIZE) < DISK_DATA_OFF)
        return -EFBIG;
    if (host_given_profile() >= 0)
        return take_given(pattern, ret_path, path_bytes);
    if (pattern == NULL || *pattern == '\0')
        pattern = PROFILE_DEFAULT_NAME;
    for (uint32_t number = 1; number <= NAME_ATTEMPTS && fd == -EEXIST; number++) {
        struct fmt f = fmt_init(ret_path, path_bytes);
        bool numbered;

        if (pattern[0] != '/') {
            int length = sys_getcwd(ret_path, path_bytes);

            if (length == -ENAMETOOLONG || length == -ERANGE) {
                f = fmt_init(ret_path, path_bytes);
                fmt_str(&f, pattern);
                return -ENAMETOOLONG;
            }
            if (length < 0 || ret_path[0] != '/')
                return -ENOENT;
            f.length = strlen(ret_path);
            fmt_char(&f, '/');
        }
        numbered = output_expand(&f, pattern, program, number);
        if (output_is_directory(ret_path)) {
            fmt_char(&f, '/');
            output_expand(&f, PROFILE_DEFAULT_NAME, program, number);
        }
        if (number > 1 && !numbered)
            vary(&f, program, number);
        if (f.cut)
            return -ENAMETOOLONG;
        fd = create(ret_path);
        if (fd == -ENOENT && (fd = selection_make_directory(ret_path)) == 0)
            fd = create(ret_path);
    }
    return fd;
}
