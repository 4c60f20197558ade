/* proc.c: read the state of processes from /proc.
 *
 * A process may change or end between two reads, and an ended process shows nothing. So each query
 * is one read, and its result describes one moment. */
#include "launch/proc.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read the start of /proc/PID/NAME into RET, at most SIZE_BYTES including a NUL; "" if the process
 * is gone. Returns RET. */
static const char *
read_proc(pid_t pid, const char *name, char *ret, size_t size_bytes)
{
    char path[64];
    ssize_t got;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    got = fd >= 0 ? read(fd, ret, size_bytes - 1) : -1;
    if (fd >= 0)
        close(fd);
    ret[got > 0 ? got : 0] = '\0';
    return ret;
}

/* Return the value of the line NAME of /proc/PID/status, which is in kB, in bytes; 0 if there is
 * none. */
static int64_t
bytes_in(const char *status, const char *name)
{
    const char *line = strstr(status, name);

    return line != NULL ? strtoll(line + strlen(name), NULL, 10) * 1024 : 0;
}

/* Return the size of the main thread's stack. VmStk would count every mapping that grows like a
 * stack, including the recorder's reservations. */
static int64_t
stack_bytes(pid_t pid)
{
    static const char name[] = "[stack]\n";
    char path[64], line[PATH_MAX + 128];
    int64_t bytes = 0;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    while (maps != NULL && bytes == 0 && fgets(line, sizeof line, maps) != NULL) {
        size_t length = strlen(line);
        char *end;
        uint64_t start;

        if (length < sizeof name || strcmp(line + length - (sizeof name - 1), name) != 0)
            continue;
        start = strtoull(line, &end, 16);
        bytes = (int64_t)(strtoull(end + (*end == '-'), NULL, 16) - start);
    }
    if (maps != NULL)
        fclose(maps);
    return bytes;
}

int64_t
proc_anonymous_bytes(pid_t pid)
{
    char status[4096];
    int64_t bytes;

    read_proc(pid, "status", status, sizeof status);
    bytes = bytes_in(status, "\nRssAnon:");
    bytes -= bytes > 0 ? stack_bytes(pid) : 0;
    return bytes > 0 ? bytes : 0;
}

int64_t
proc_resident_bytes(pid_t pid)
{
    char status[4096];

    return bytes_in(read_proc(pid, "status", status, sizeof status), "\nVmRSS:");
}

const char *
proc_executable(pid_t pid, struct arena *arena)
{
    char link[64], path[PATH_MAX];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    length = readlink(link, path, sizeof path);
    return length > 0 ? arena_strndup(arena, path, (size_t)length) : NULL;
}

const char *
proc_variable(pid_t pid, const char *name, struct arena *arena)
{
    size_t length = strlen(name), capacity = 0;
    char path[64], *variable = NULL;
    const char *value = NULL;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    f = fopen(path, "re");
    while (f != NULL && value == NULL && getdelim(&variable, &capacity, '\0', f) > 0)
        if (strncmp(variable, name, length) == 0 && variable[length] == '=')
            value = arena_strdup(arena, variable + length + 1);
    free(variable);
    if (f != NULL)
        fclose(f);
    return value;
}

static bool
proc_is_among(const char *file, const char *const *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i], file) == 0)
            return true;
    return false;
}

size_t
proc_add_code_files(pid_t pid, struct arena *arena, const char **files, size_t count, size_t max)
{
    char path[64], line[PATH_MAX + 128];
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    if (maps == NULL)
        return count;
    while (fgets(line, sizeof line, maps) != NULL) {
        const char *permissions = strchr(line, ' ');
        char *file = strchr(line, '/');

        if (permissions == NULL || file == NULL || permissions[3] != 'x')
            continue;
        file[strcspn(file, "\n")] = '\0';
        if (count < max && !proc_is_among(file, files, count))
            files[count++] = arena_strdup(arena, file);
    }
    fclose(maps);
    return count;
}

size_t
proc_children(pid_t pid, pid_t ret[PROC_CHILDREN_MAX])
{
    // The id of a child takes at least a digit and a blank.
    char path[64], text[2 * PROC_CHILDREN_MAX];
    const char *next = text;
    size_t count = 0;

    snprintf(path, sizeof path, "task/%d/children", (int)pid);
    read_proc(pid, path, text, sizeof text);
    while (*next != '\0') {
        char *end;
        long child = strtol(next, &end, 10);

        if (end == next || *end != ' ') // The text was cut off here.
            break;
        ret[count++] = (pid_t)child;
        next = end + 1;
    }
    return count;
}
