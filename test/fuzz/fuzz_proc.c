/* fuzz_proc.c: read any bytes as files of /proc: a path may have any length and nearly any bytes,
 * and a process chooses its own name.
 *
 * The input's first eight bytes are the address to look up, the ninth limits the bytes of a read,
 * and the rest is the file. The recorder's search for a mapping must agree with a search of the
 * whole text that skips lines too long for the recorder's buffer. The tools' searches, for the
 * profile of a process that does not exist and for the writer of a profile, must stay in bounds
 * (sanitizers) and refuse with a sentence. */
/* covers: processes.c processes_mapped.c origin.c processes_owner.c bounds.c */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *contents;
static size_t contents_bytes, contents_read, read_bytes_max;

/* Stub of the tools' access to /proc. */
static FILE *
fake_fopen(const char *path, const char *mode)
{
    (void)path;
    (void)mode;
    return contents_bytes > 0 ? fmemopen((void *)(uintptr_t)contents, contents_bytes, "r") : NULL;
}

/* Files named in the input, and other processes, are not read. */
static int
fake_regular_open(const char *root, const char *path, struct stat *ret_stat)
{
    (void)root;
    (void)path;
    *ret_stat = (struct stat){0};
    return -ENOENT;
}

static DIR *
fake_opendir(const char *path)
{
    (void)path;
    return NULL;
}

#define fopen fake_fopen
#define opendir fake_opendir
#define regular_open fake_regular_open
#include "profile/origin.c"
#include "profile/processes.c"
#include "profile/processes_mapped.c"
#include "profile/processes_owner.c"
#undef fopen
#undef opendir
#undef regular_open

#include "stack/bounds.c"

struct state *state;

int
sys_open(const char *path, int flags, int mode)
{
    (void)path;
    (void)flags;
    (void)mode;
    contents_read = 0;
    return 0;
}

long
sys_pread(int fd, void *buffer, size_t size_bytes, uint64_t off)
{
    size_t left = contents_bytes - contents_read;
    size_t got = left < size_bytes ? left : size_bytes;

    (void)fd;
    if (off != contents_read)
        abort();
    got = got < read_bytes_max ? got : read_bytes_max;
    memcpy(buffer, contents + contents_read, got);
    contents_read += got;
    return (long)got;
}

int
sys_close(int fd)
{
    return fd;
}

uint64_t
sys_limit(int resource)
{
    (void)resource;
    return UINT64_MAX;
}

uint64_t
process_value(uint32_t type)
{
    (void)type;
    return 0;
}

uint64_t
process_stack_start(void)
{
    return 0;
}

int
sys_getpid(void)
{
    return 1;
}

int
sys_gettid(void)
{
    return 1;
}

bool
sys_is_readable(uint64_t address)
{
    (void)address;
    return false;
}

/* Return the first whole line that covers ADDRESS. */
static bool
slow_mapping(uint64_t address, size_t line_bytes_max, uint64_t *ret_low, uint64_t *ret_high)
{
    const char *end = contents + contents_bytes;
    const char *newline;

    for (const char *line = contents; line < end; line = newline + 1) {
        const char *s = line;

        newline = memchr(line, '\n', (size_t)(end - line));
        if (newline == NULL)
            return false;
        if ((size_t)(newline - line) > line_bytes_max)
            continue;
        *ret_low = parse_hex(&s);
        s += *s == '-';
        *ret_high = parse_hex(&s);
        if (address >= *ret_low && address < *ret_high)
            return true;
    }
    return false;
}

static void
compare_mappings(uint64_t address)
{
    static struct thread thread;
    uint64_t low, high, slow_low, slow_high;
    bool found = find_mapping(&thread, address, &low, &high);

    if (found != slow_mapping(address, sizeof thread.text - 2, &slow_low, &slow_high))
        abort();
    if (found && (low != slow_low || high != slow_high || address < low || address >= high))
        abort();
}

/* A result must be part of the line that it was read from. */
static void
compare_lines(void)
{
    char line[4096];

    for (size_t off = 0; off < contents_bytes;) {
        size_t length = strcspn(contents + off, "\n");
        struct mapping m;

        snprintf(line, sizeof line, "%.*s\n", (int)length, contents + off);
        if (mapping_parse(line, &m) &&
            (m.path[0] != '/' || strchr(m.path, '\n') != NULL || m.path < line ||
             m.path >= line + sizeof line || strstr(line, " rw-s ") == NULL))
            abort();
        off += length + 1;
    }
}

static void
proc_find_profile(void)
{
    struct arena arena = {0};
    struct err err = {""};
    const char *path;

    if (origin_of_pid(UINT32_MAX, &arena, &path, &err) != HEAPTAP_BAD_INPUT || err.text[0] == '\0')
        abort();
    owner_find(NULL, &(struct disk_header){.pid = UINT32_MAX, .process_start = 42});
    processes_thread(UINT32_MAX);
    compare_lines();
    arena_release(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t address;
    char *copy;

    if (size < 9)
        return 0;
    memcpy(&address, data, sizeof address);
    read_bytes_max = (size_t)data[8] * 16 + 1;
    contents_bytes = size - 9;
    copy = malloc(contents_bytes + 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, data + 9, contents_bytes);
    copy[contents_bytes] = '\0';
    contents = copy;
    compare_mappings(address);
    proc_find_profile();
    free(copy);
    return 0;
}
