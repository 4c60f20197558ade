/* run_process.c: choose the main process of a run.
 *
 * A user of ./wrap.sh or `bash -c 'exec ./server'` with -o server.heaptap wants the server's
 * profile, not the shell's. `heaptap run --help` states the rule:
 *
 *     the process that was started, with its last program by exec; but
 *     if it is a shell, the process that allocated most, when that is more than the shell;
 *     if another allocated more than twenty times as much, that other one;
 *     among those that allocated about as much as the largest, the one with the highest peak.
 *
 * Shells are recognised by name, because their allocations prove little: bash allocates 80 KiB for
 * a script of three lines, and the program that it starts may be small. Without the exception for
 * shells, a compiler would sometimes replace the build tool that started it, unpredictably. The
 * last line is for forked workers: they share a server's work evenly, and the worker that has grown
 * is of interest. A process that still lives keeps writing to its path and is never chosen. */
#include "launch/run.h"

#include <string.h>

#include "util/path.h"

enum {
    LITTLE = 20, // An amount below 1/LITTLE of another one is little.
    ABOUT = 10,  // An amount that is less by at most 1/ABOUT is about the same.
};

static bool
is_shell(const char *executable)
{
    static const char *const shells[] = {"sh",  "bash", "dash", "zsh",  "ksh",
                                         "mksh", "ash",  "fish", "busybox"};

    for (size_t i = 0; i < countof(shells); i++)
        if (strcmp(path_basename(executable), shells[i]) == 0)
            return true;
    return false;
}

size_t
run_process_last(const struct run_process *v, size_t count, pid_t pid)
{
    size_t last = count;

    for (size_t i = 0; i < count; i++)
        if (v[i].pid == (uint32_t)pid &&
            (last == count || v[i].start_unix_ns >= v[last].start_unix_ns))
            last = i;
    return last;
}

static size_t
find_most(const struct run_process *v, size_t count)
{
    size_t most = count;

    for (size_t i = 0; i < count; i++)
        if (!v[i].running &&
            (most == count || v[i].totals.allocated_bytes > v[most].totals.allocated_bytes))
            most = i;
    return most;
}

/* Return the process with the highest peak among those that allocated about as much as MOST, except
 * process FIRST_PID; MOST on a tie. */
static size_t
highest_of_alike(const struct run_process *v, size_t count, size_t most, uint32_t first_pid)
{
    int64_t bytes = v[most].totals.allocated_bytes, about = bytes - bytes / ABOUT;
    size_t highest = most;

    for (size_t i = 0; i < count; i++)
        if (!v[i].running && v[i].pid != first_pid && v[i].totals.allocated_bytes >= about &&
            v[i].totals.peak_bytes > v[highest].totals.peak_bytes)
            highest = i;
    return highest;
}

static bool
did_little(const struct run_process *first, const struct run_process *most)
{
    int64_t limit = most->totals.allocated_bytes;

    if (!is_shell(first->executable))
        limit /= LITTLE;
    return first->totals.allocated_bytes < limit;
}

enum run_head
run_process_head(const struct run_process *v, size_t count, pid_t first_pid, size_t *ret)
{
    size_t first = run_process_last(v, count, first_pid), most = find_most(v, count);
    size_t alike = 0;

    if (count == 0)
        return HEAD_NONE;
    if (most < count)
        alike = highest_of_alike(v, count, most, (uint32_t)first_pid);
    *ret = first < count ? first : alike;
    if (first == count)
        return HEAD_MOST;
    if (most < count && v[most].pid != v[first].pid && did_little(&v[first], &v[most])) {
        *ret = alike;
        return HEAD_MOST;
    }
    for (size_t i = 0; i < count; i++)
        if (i != first && v[i].pid == v[first].pid)
            return HEAD_BECAME;
    return HEAD_FIRST;
}
