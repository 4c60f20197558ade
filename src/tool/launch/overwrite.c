/* overwrite.c: `run --force`.
 *
 * A script that runs repeatedly needs its profile under a fixed name. --force removes the old
 * profile and the profiles of the other processes of its run, because two runs in one place would
 * look like one session. It removes nothing while a process still writes one of them, because that
 * process's data would be lost.
 *
 * Only a file whose contents are a profile is removed, so a typing error after -o costs no other
 * file. Symbolic links are not followed. */
#include "launch/overwrite.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/environment.h"
#include "profile/origin.h"
#include "profile/processes.h"

enum { TASK_COMM_BYTES = 17 }; // With the line feed that /proc adds.
enum { STARTING_LOOKS = 50, STARTING_NS = 10000000 };

static bool
overwrite_is_profile(const char *path)
{
    struct disk_header h;
    struct stat st;

    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && origin_header(path, &h);
}

/* Return the directory of the other processes of OUTPUT's run. */
static const char *
others_of(const char *output, struct arena *arena)
{
    size_t length = strlen(output), suffix = strlen(PROFILE_SUFFIX);

    if (length > suffix && strcmp(output + length - suffix, PROFILE_SUFFIX) == 0)
        length -= suffix;
    return arena_printf(arena, "%.*s" ORIGIN_OTHERS_SUFFIX, (int)length, output);
}

const char *
overwrite_profile_in(const char *directory, struct arena *arena)
{
    const char *found = NULL;
    struct dirent *e;
    DIR *d = opendir(directory);

    while (d != NULL && found == NULL && (e = readdir(d)) != NULL) {
        const char *path = arena_printf(arena, "%s/%s", directory, e->d_name);

        if (e->d_name[0] != '.' && overwrite_is_profile(path))
            found = path;
    }
    if (d != NULL)
        closedir(d);
    return found;
}

/* Read the name of process WHO, a number or "self", into RET, which has TASK_COMM_BYTES. */
static bool
read_comm(const char *who, char *ret)
{
    char path[64];
    FILE *f;
    bool got;

    snprintf(path, sizeof path, "/proc/%s/comm", who);
    f = fopen(path, "re");
    got = f != NULL && fgets(ret, TASK_COMM_BYTES, f) != NULL;
    if (f != NULL)
        fclose(f);
    return got;
}

/* Return true if process PID may be another `heaptap run`: it has our name. */
static bool
is_heaptap(uint32_t pid)
{
    char number[16], ours[TASK_COMM_BYTES], theirs[TASK_COMM_BYTES];

    snprintf(number, sizeof number, "%u", pid);
    return pid != (uint32_t)getpid() && read_comm(number, theirs) && read_comm("self", ours) &&
           strcmp(ours, theirs) == 0;
}

/* H is a profile's header. If it belongs to the first process of a `heaptap run` that still lives,
 * and so may pack or rename the profile, return the process id of that run; else 0. */
static uint32_t
processes_run(const struct disk_header *h)
{
    uint64_t start = h->session_id != 0 ? processes_start(h->parent_pid) : 0;

    // A later process may have got the same id. The parent of an orphan, and of all processes of a
    // container that was killed, is process 1.
    return start != 0 && start <= h->process_start && is_heaptap(h->parent_pid) ? h->parent_pid : 0;
}

uint32_t
overwrite_writer(const char *path)
{
    const struct timespec pause = {.tv_nsec = STARTING_NS};
    struct owner owner;
    struct disk_header h;

    if (!overwrite_is_profile(path) || !origin_header(path, &h))
        return 0;
    // A starting process creates its file some microseconds before it can be found.
    for (int i = 0; i < STARTING_LOOKS && h.state == DISK_STATE_NEW; i++) {
        nanosleep(&pause, NULL);
        if (!origin_header(path, &h))
            return 0;
    }
    if (h.state == DISK_STATE_PACKED)
        return processes_run(&h);
    owner = owner_find(path, &h);
    if (owner.state == OWNER_ALIVE)
        return owner.pid != 0 ? owner.pid : h.pid;
    // After an exec, the process writes another profile, but its `heaptap run` will still read this
    // one.
    if (h.process_start != 0 && processes_start(h.pid) == h.process_start)
        return h.pid;
    return processes_run(&h);
}

/* Refuse to remove PATH while a process writes it. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
static int
check_unused(const char *path, struct err *err)
{
    uint32_t pid = overwrite_writer(path);

    if (pid == 0)
        return 0;
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "process %u still writes %s, and --force replaces it only when that has ended; "
                   "choose another name",
                   pid, path);
}

/* Call VISIT for each profile in DIRECTORY until it fails. Returns its result. */
static int
visit_others(const char *directory, int (*visit)(const char *path, struct err *err),
             struct arena *arena, struct err *err)
{
    struct dirent *e;
    struct stat st;
    DIR *d = lstat(directory, &st) == 0 && S_ISDIR(st.st_mode) ? opendir(directory) : NULL;
    int r = 0;

    while (d != NULL && r == 0 && (e = readdir(d)) != NULL) {
        const char *path = arena_printf(arena, "%s/%s", directory, e->d_name);

        if (e->d_name[0] != '.' && overwrite_is_profile(path))
            r = visit(path, err);
    }
    if (d != NULL)
        closedir(d);
    return r;
}

static int
remove_one(const char *path, struct err *err)
{
    (void)err;
    unlink(path);
    return 0;
}

int
overwrite_make_room(const char *output, struct arena *arena, struct err *err)
{
    const char *others = output != NULL ? others_of(output, arena) : NULL;
    struct stat st;
    int r;

    if (output == NULL || strchr(output, '%') != NULL ||
        (stat(output, &st) == 0 && S_ISDIR(st.st_mode)))
        return 0;
    if (lstat(output, &st) == 0) {
        if (!overwrite_is_profile(output))
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "%s exists and is no profile, and --force replaces nothing else; choose "
                           "another name",
                           output);
    }
    if ((r = check_unused(output, err)) != 0 ||
        (r = visit_others(others, check_unused, arena, err)) != 0)
        return r;
    if (unlink(output) != 0 && errno != ENOENT)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot remove %s", output);
    visit_others(others, remove_one, arena, err);
    rmdir(others); // Fails, and leaves the directory, if it contains other files.
    return 0;
}
