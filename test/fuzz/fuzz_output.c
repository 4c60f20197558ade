/* fuzz_output.c: make the name of the profile from any pattern in HEAPTAP_OUT.
 *
 * The input's first byte is the number of names already in use, and whether the dynamic linker was
 * started as a program. The second byte selects whether the name is a directory and how long the
 * buffer is. The other bytes are the pattern, and also the process's memory map. The name must be
 * absolute, end within its buffer, and differ from all names in use. System calls that must not
 * happen (writing, unlinking) end the program. */
/* covers: output.c host.c */
#include <stdlib.h>
#include <string.h>

#include "platform/host.c"
#include "platform/output.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NAMES_MAX = 8, NAME_BYTES = 512, MAPS_FD = 8, AT_PHDR_VALUE = 0x40 };

static char taken[NAMES_MAX][NAME_BYTES];
static uint32_t taken_count, taken_wanted;
static bool names_directory;
static size_t buffer_bytes;
static bool linker_started;
static const char *maps;

/* Stub: there is one process, which creates no directory. */
const char *
selection_output(void)
{
    return host_environment("HEAPTAP_OUT");
}

int
selection_make_directory(char *path)
{
    (void)path;
    return -EACCES;
}

/* Names are tried by the ordinary path: there are no unnamed files here. */
int
sys_open(const char *path, int flags, int mode)
{
    (void)mode;
    if ((flags & O_TMPFILE) == O_TMPFILE)
        return -EOPNOTSUPP;
    if (strcmp(path, "/proc/self/maps") == 0)
        return MAPS_FD;
    if (flags & O_PATH)
        return names_directory ? 7 : -ENOENT;
    if (path[0] != '/' || strnlen(path, buffer_bytes) == buffer_bytes)
        abort();
    for (uint32_t i = 0; i < taken_count; i++)
        if (strcmp(path, taken[i]) == 0)
            abort();
    if (taken_count == taken_wanted || taken_count == NAMES_MAX || strlen(path) >= NAME_BYTES)
        return -EACCES;
    memcpy(taken[taken_count++], path, strlen(path) + 1);
    return -EEXIST;
}

uint64_t
sys_limit(int resource)
{
    (void)resource;
    return UINT64_MAX;
}

char **
process_environment(void)
{
    return environ;
}

uint64_t
process_value(uint32_t type)
{
    return type == AT_PHDR ? AT_PHDR_VALUE : type == AT_BASE && !linker_started;
}

long
sys_pread(int fd, void *buffer, size_t size_bytes, uint64_t off)
{
    size_t got = strlen(maps);

    if (fd != MAPS_FD || off > got)
        abort();
    got = got - off < size_bytes ? got - off : size_bytes;
    memcpy(buffer, maps + off, got);
    return (long)got;
}

int
sys_close(int fd)
{
    return fd == 7 || fd == MAPS_FD ? 0 : -EBADF;
}

int
sys_getcwd(char *buffer, size_t size_bytes)
{
    if (size_bytes < sizeof "/here")
        return -ERANGE;
    memcpy(buffer, "/here", sizeof "/here");
    return sizeof "/here";
}

long
sys_readlink(const char *path, char *buffer, size_t size_bytes)
{
    static const char link[] = "/usr/bin/a%pro gram";
    size_t got = sizeof link - 1 < size_bytes ? sizeof link - 1 : size_bytes;

    (void)path;
    memcpy(buffer, link, got);
    return (long)got;
}

int
identity_pid(void)
{
    return 12345;
}

long
sys_write(int fd, const void *data, size_t size_bytes)
{
    (void)fd;
    (void)data;
    (void)size_bytes;
    abort();
}

void
sys_write_politely(int fd, const void *data, size_t size_bytes)
{
    sys_write(fd, data, size_bytes);
}

int
sys_fstat(int fd, struct stat *ret_stat)
{
    (void)fd;
    memset(ret_stat, 0, sizeof *ret_stat);
    return 0;
}

int
sys_lstat(const char *path, struct stat *ret_stat)
{
    (void)path;
    (void)ret_stat;
    abort();
}

bool
sys_is_file(int fd, uint64_t device, uint64_t inode)
{
    (void)fd;
    (void)device;
    (void)inode;
    abort();
}

int
sys_unlink(const char *path)
{
    (void)path;
    abort();
}

int
sys_link(int fd, const char *path)
{
    (void)fd;
    (void)path;
    abort();
}

int
sys_ftruncate(int fd, uint64_t size_bytes)
{
    (void)fd;
    (void)size_bytes;
    abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char name[] = "HEAPTAP_OUT=";
    char *variable, *path;
    char *fake_environment[2] = {NULL, NULL};
    char **before = environ;

    if (size < 2)
        return 0;
    variable = malloc(sizeof name + size);
    buffer_bytes = (size_t)(data[1] >> 1) * 4 + 1;
    path = malloc(buffer_bytes);
    if (variable == NULL || path == NULL)
        abort();
    memcpy(variable, name, sizeof name - 1);
    memcpy(variable + sizeof name - 1, data + 2, size - 2);
    variable[sizeof name - 1 + size - 2] = '\0';
    fake_environment[0] = variable;
    taken_count = 0;
    taken_wanted = data[0] % (NAMES_MAX + 1);
    linker_started = data[0] / (NAMES_MAX + 1) % 2 == 1;
    maps = variable + sizeof name - 1;
    names_directory = data[1] & 1;
    environ = fake_environment;
    if (output_open(path, buffer_bytes) >= 0)
        abort();
    environ = before;
    free(path);
    free(variable);
    return 0;
}
