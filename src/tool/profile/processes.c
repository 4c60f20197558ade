/* processes.c: living processes and their ids.
 *
 * A process has an id in each pid namespace in which it is visible. /proc uses the ids of our
 * namespace. The process and its recorder use the ids of the innermost namespace. NSpid in
 * /proc/PID/status has both:
 *
 *     NSpid:  4711  2         here it is 4711, for itself 2
 *
 * A process whose first thread has ended is alive while other threads run. /proc/PID then shows the
 * state of a zombie and no mappings, but the directories of its other threads show the mappings. */
#include "profile/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { CHUNK_BYTES = 4096, FIELD_THREADS = 20, FIELD_START = 22 };

/* Read the first bytes of the file PATH of /proc into BUFFER. Return their number. */
static size_t
read_front(const char *path, char *buffer, size_t size_bytes)
{
    FILE *f = fopen(path, "re");
    size_t got = 0;

    if (f != NULL) {
        got = fread(buffer, 1, size_bytes - 1, f);
        fclose(f);
    }
    buffer[got] = '\0';
    return got;
}

/* Return the state of process PID and set *RET_THREADS and *RET_START; return 0 if it is gone. */
static char
read_stat(uint32_t pid, uint64_t *ret_threads, uint64_t *ret_start)
{
    char text[1024], path[64], *p;
    char state;

    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    read_front(path, text, sizeof text);
    p = strrchr(text, ')'); // The name before the ")" may contain any bytes.
    if (p == NULL || p[1] != ' ')
        return 0;
    state = p[2];
    for (int field = 2; field < FIELD_START; field++) {
        p = strchr(p + 1, ' ');
        if (p == NULL)
            return 0;
        if (field + 1 == FIELD_THREADS)
            *ret_threads = strtoull(p + 1, NULL, 10);
    }
    *ret_start = strtoull(p + 1, NULL, 10);
    return state;
}

uint64_t
processes_start(uint32_t pid)
{
    uint64_t threads = 0, start = 0;
    char state = read_stat(pid, &threads, &start);

    return state == 0 || state == 'X' || (state == 'Z' && threads <= 1) ? 0 : start;
}

uint32_t
processes_inner_pid(uint32_t pid)
{
    char text[CHUNK_BYTES], path[64], *line, *last;

    snprintf(path, sizeof path, "/proc/%u/status", pid);
    if (read_front(path, text, sizeof text) == 0)
        return 0;
    line = strstr(text, "\nNSpid:");
    if (line == NULL)
        return pid;
    line += strlen("\nNSpid:");
    line[strcspn(line, "\n")] = '\0';
    last = strrchr(line, '\t');
    return last == NULL ? pid : (uint32_t)strtoul(last + 1, NULL, 10);
}

uint32_t
processes_thread(uint32_t pid)
{
    uint64_t threads = 0, start = 0;
    uint32_t found = pid;
    struct dirent *e;
    char path[64];
    DIR *d;

    if (read_stat(pid, &threads, &start) != 'Z' || threads <= 1)
        return pid;
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    d = opendir(path);
    while (d != NULL && found == pid && (e = readdir(d)) != NULL) {
        uint32_t thread = (uint32_t)strtoul(e->d_name, NULL, 10);
        char state;

        if (thread == 0 || thread == pid)
            continue;
        state = read_stat(thread, &threads, &start);
        if (state != 0 && state != 'X' && state != 'Z')
            found = thread;
    }
    if (d != NULL)
        closedir(d);
    return found;
}

bool
processes_has_variable(uint32_t pid, const char *name)
{
    size_t length = strlen(name), capacity = 0;
    char path[64], *variable = NULL;
    bool found = false;
    FILE *f;

    snprintf(path, sizeof path, pid != 0 ? "/proc/%u/environ" : "/proc/self/environ",
             pid != 0 ? processes_thread(pid) : 0);
    f = fopen(path, "re");
    while (f != NULL && !found && getdelim(&variable, &capacity, '\0', f) > 0)
        found = strncmp(variable, name, length) == 0 &&
                variable[length] == (strchr(name, '=') != NULL ? '\0' : '=');
    free(variable);
    if (f != NULL)
        fclose(f);
    return found;
}

/* Return true if the link NAME of process PID in /proc has another target than ours. */
static bool
differs(uint32_t pid, const char *name)
{
    char path[64];
    struct stat ours, theirs;

    snprintf(path, sizeof path, "/proc/self/%s", name);
    if (stat(path, &ours) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
    return stat(path, &theirs) == 0 &&
           (theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino);
}

const char *
processes_root(uint32_t pid, struct arena *arena)
{
    uint32_t thread = processes_thread(pid);

    // Another mount namespace may share our root but not the mounts below it.
    return differs(thread, "ns/mnt") || differs(thread, "root")
               ? arena_printf(arena, "/proc/%u/root", thread)
               : NULL;
}

const struct processes_unrelated *
processes_find_unrelated(size_t *ret_count)
{
    // Age at which the list of processes is renewed; a session with many profiles would otherwise
    // make many lists.
    enum { LIST_NS = 500000000 };
    static struct arena arena;
    static struct processes_unrelated *list;
    static size_t count, capacity;
    static uint64_t made_ns;
    struct timespec t;
    struct dirent *e;
    uint64_t now_ns;
    DIR *d;

    clock_gettime(CLOCK_MONOTONIC, &t);
    now_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    if (made_ns == 0 || now_ns - made_ns > LIST_NS) {
        count = 0;
        d = opendir("/proc");
        while (d != NULL && (e = readdir(d)) != NULL) {
            uint32_t pid = isdigit((unsigned char)e->d_name[0])
                               ? (uint32_t)strtoul(e->d_name, NULL, 10)
                               : 0;
            uint32_t inner_pid = pid ? processes_inner_pid(pid) : 0;

            if (inner_pid == 0 || inner_pid == pid)
                continue;
            arena_grow(&arena, &list, &capacity, count, sizeof *list);
            list[count++] = (struct processes_unrelated){pid, inner_pid};
        }
        if (d != NULL)
            closedir(d);
        made_ns = now_ns;
    }
    *ret_count = count;
    return list;
}
