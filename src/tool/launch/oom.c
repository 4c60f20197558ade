/* oom.c: find kills by the kernel when memory ran out.
 *
 * A killed process cannot report the cause of a SIGKILL. But the kernel counts its kills for each
 * control group. The root group of version 2 has no such file; then the machine's number in
 * /proc/vmstat is used. */
#include "launch/oom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Read the file at PATH, which the kernel generates, into RET of SIZE bytes. Return false if it
 * cannot be read. A longer text is cut. */
static bool
read_kernel_file(const char *path, char *ret, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t got;

    if (file == NULL)
        return false;
    got = fread(ret, 1, size - 1, file);
    ret[got] = '\0';
    fclose(file);
    return got > 0;
}

uint64_t
oom_kills_in(const char *text)
{
    static const char name[] = "oom_kill ";

    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, sizeof name - 1) == 0)
            return strtoull(line + sizeof name - 1, NULL, 10);
    }
    return UINT64_MAX;
}

/* Return the path in LINE, "ID:CONTROLLERS:PATH", if CONTROLLERS has the WANTED one; else NULL. */
static const char *
path_of_line(const char *line, const char *wanted)
{
    const char *first = strchr(line, ':'), *second = first != NULL ? strchr(first + 1, ':') : NULL;
    size_t length = strlen(wanted);

    if (second == NULL)
        return NULL;
    if (length == 0)
        return second == first + 1 ? second + 1 : NULL;
    for (const char *c = first + 1; c < second; c += strcspn(c, ",:") + 1)
        if (strncmp(c, wanted, length) == 0 && (c[length] == ',' || c[length] == ':'))
            return second + 1;
    return NULL;
}

bool
oom_group(const char *text, char *ret_path, size_t size, const char **ret_file)
{
    static const struct {
        const char *controller, *root, *file;
    } versions[] = {{"memory", "/sys/fs/cgroup/memory", "memory.oom_control"},
                    {"", "/sys/fs/cgroup", "memory.events"}};

    for (size_t i = 0; i < countof(versions); i++)
        for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
            const char *path = path_of_line(line, versions[i].controller);
            int length = path == NULL ? 0 : (int)strcspn(path, "\n");

            if (length > 0) {
                *ret_file = versions[i].file;
                return (size_t)snprintf(ret_path, size, "%s%.*s", versions[i].root, length, path) <
                       size;
            }
            if (line[strcspn(line, "\n")] == '\0')
                break;
        }
    return false;
}

uint64_t
oom_kills(void)
{
    char text[8192], group[4096], path[4200];
    uint64_t count = UINT64_MAX;
    const char *file;

    if (read_kernel_file("/proc/self/cgroup", text, sizeof text) &&
        oom_group(text, group, sizeof group, &file)) {
        snprintf(path, sizeof path, "%s/%s", group, file);
        if (read_kernel_file(path, text, sizeof text))
            count = oom_kills_in(text);
    }
    if (count == UINT64_MAX && read_kernel_file("/proc/vmstat", text, sizeof text))
        count = oom_kills_in(text);
    return count != UINT64_MAX ? count : 0;
}
