/* host.c: the environment, limits and executable of the host process, from system calls and from
 * memory that the kernel has filled in. Calls no function that the program could replace. */
#include "platform/host.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fmt.h"
#include "platform/process.h"
#include "platform/sys.h"

// What a tool has passed; NULL = nothing. Process constants.
static const char *settings_given;
static int profile_given;
static bool profile_taken;

static int failure; // Written by the thread that starts recording.

void
host_use_settings(const char *settings, int fd)
{
    settings_given = settings;
    profile_given = fd;
}

int
host_given_profile(void)
{
    return settings_given != NULL ? profile_given : -1;
}

void
host_profile_is_taken(void)
{
    profile_taken = true;
}

void
host_drop_profile(void)
{
    if (host_given_profile() >= 0 && !profile_taken)
        sys_close(profile_given);
}

void
host_note_failure(int error)
{
    if (failure == 0)
        failure = error;
}

int
host_failure(void)
{
    return failure;
}

static const char *
host_setting(const char *name, size_t length)
{
    for (const char *s = settings_given; *s != '\0'; s += strlen(s) + 1)
        if (strncmp(s, name, length) == 0 && s[length] == '=')
            return s + length + 1;
    return NULL;
}

const char *
host_environment(const char *name)
{
    size_t length = strlen(name);
    char **e;

    if (settings_given != NULL)
        return host_setting(name, length);
    e = process_environment();
    if (process_value(AT_SECURE) != 0 || e == NULL)
        return NULL;
    for (; *e != NULL; e++)
        if (strncmp(*e, name, length) == 0 && (*e)[length] == '=')
            return *e + length + 1;
    return NULL;
}

uint64_t
host_number(const char *name)
{
    const char *text = host_environment(name);

    return text != NULL ? parse_uint(&text) : 0;
}

uint64_t
host_address_limit(void)
{
    return sys_limit(RLIMIT_AS);
}

/* A reader of the lines of /proc/self/maps, "START-END rights offset device inode PATH". */
struct map_line {
    uint64_t bounds[2];
    uint32_t bound;     // Index of the bound being read; 2 = both are known.
    bool in_path;
    struct fmt path;
};

/* Read the character C. Return true at the end of a line whose range includes ADDRESS. */
static bool
map_line_read(struct map_line *l, char c, uint64_t address)
{
    if (c == '\n')
        return l->bounds[0] <= address && address < l->bounds[1];
    l->in_path |= c == '/';
    if (l->in_path)
        fmt_char(&l->path, c);
    else if (c == '-' || c == ' ')
        l->bound += l->bound < 2;
    else if (l->bound < 2)
        l->bounds[l->bound] = l->bounds[l->bound] << 4 |
                              (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    return false;
}

/* Store the path of the file that is mapped at ADDRESS. Return its length; 0 if there is none. */
static size_t
mapped_path(uint64_t address, char *ret_path, size_t path_bytes)
{
    int fd = sys_open("/proc/self/maps", O_RDONLY, 0);
    struct map_line line = {.path = fmt_init(ret_path, path_bytes)};
    size_t length = 0;
    char text[512];
    long got;

    if (fd < 0)
        return 0;
    for (uint64_t off = 0; length == 0 && (got = sys_pread(fd, text, sizeof text, off)) > 0;
         off += (uint64_t)got)
        for (long i = 0; i < got && length == 0; i++) {
            if (map_line_read(&line, text[i], address))
                length = line.path.cut ? 0 : line.path.length;
            else if (text[i] == '\n')
                line = (struct map_line){.path = fmt_init(ret_path, path_bytes)};
        }
    sys_close(fd);
    return length;
}

size_t
host_executable(char *ret_path, size_t path_bytes)
{
    // Without an interpreter, the kernel has started a static program or the dynamic linker, which
    // then loads the program and corrects AT_PHDR.
    long length = process_value(AT_BASE) == 0
                      ? (long)mapped_path(process_value(AT_PHDR), ret_path, path_bytes)
                      : 0;
    const char *name = (const char *)(uintptr_t)process_value(AT_EXECFN);
    struct fmt f;

    if (length == 0)
        length = sys_readlink("/proc/self/exe", ret_path, path_bytes - 1);
    if (length > 0) {
        ret_path[length] = '\0';
        return (size_t)length;
    }
    f = fmt_init(ret_path, path_bytes);
    // Without /proc, use the name that exec received.
    if (name != NULL && *name != '/' && sys_getcwd(ret_path, path_bytes) > 0) {
        f.length = strlen(ret_path);
        fmt_char(&f, '/');
    }
    fmt_str(&f, name != NULL ? name : "");
    return f.length;
}
