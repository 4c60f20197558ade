/* run.c: one run of a recorded program.
 *
 *     run_prepare   the program, the recorder, the paths of the profiles, a library for hooks
 *     run_wait      ├─ in the new process: its environment, then exec
 *                   └─ in this process, periodically: sample its memory, request snapshots
 *     (caller)      reads the profiles
 *     run_note      facts that only an observer outside the program has
 *
 * The run ends with the program, whatever the cause, even if processes that the program started
 * still live. Their profiles are complete files, and the run's id in each header identifies
 * them. */
#include "launch/run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/hooks.h"
#include "launch/launch.h"
#include "launch/oom.h"
#include "launch/overwrite.h"
#include "profile/listing.h"
#include "profile/origin.h"
#include "view/messages.h"

#define NS_PER_MS UINT64_C(1000000)
#define LOOK_FIRST_NS (2 * NS_PER_MS)
#define LOOK_LAST_NS (1000 * NS_PER_MS)

enum { CLOCK_ERROR_S = 3600 };

static uint64_t
run_new_id(void)
{
    uint64_t id;

    if (getrandom(&id, sizeof id, 0) != sizeof id)
        id = (uint64_t)getpid();
    return id | 1; // 0 means no session.
}

int
run_prepare(struct recorded_run *r, const struct run_options *options, int count,
            char **arguments, struct err *err)
{
    const char *used, *loaded = NULL;
    int rc;

    *r = (struct recorded_run){.options = options,
                               .id = run_new_id(),
                               .began = time(NULL),
                               .hooks = {.list = options->hooks}};
    // Terminated by NULL.
    r->arguments = arena_array(&r->arena, (size_t)count + 1, sizeof *r->arguments);
    memcpy(r->arguments, arguments, (size_t)count * sizeof *arguments);
    if ((rc = recording_library(&r->arena, &r->library, err)) < 0 ||
        (rc = program_find(arguments[0], &r->arena, &r->path, err)) < 0 ||
        (loaded = program_loaded(r->path, r->arguments)) == NULL ||
        (rc = adapters_choose(&options->adapters, loaded, r->library, &r->arena, &r->adapters,
                              err)) < 0 ||
        (rc = hook_check(&r->hooks.list, loaded, &r->arena, err)) < 0 ||
        (options->output != NULL && (rc = destination_check_length(options->output, err)) < 0) ||
        // overwrite_make_room removes existing profiles, so it follows all checks that may refuse.
        (options->force && (rc = overwrite_make_room(options->output, &r->arena, err)) < 0) ||
        (rc = destination_choose(&r->to, options->output, loaded, &r->arena, err)) < 0)
        return rc;
    if (!options->no_children && (rc = destination_check_others(&r->to, err)) < 0)
        return rc;
    used = options->no_children ? NULL : destination_others_used(&r->to);
    if (used != NULL && !options->quiet)
        message_warning("%s has profiles of an earlier run, and a report of it will be the sum of "
                        "both; remove it, or run with --force",
                        used);
    if (options->counts_unrecorded && (rc = run_unrecorded_begin(r, err)) < 0)
        return rc;
    return hook_run_begin(&r->hooks, r->library, r->to.directory, &r->arena, err);
}

/* Return the environment of the program, from R's arena. Called in the new process. */
static char **
make_environment(void *arg)
{
    struct recorded_run *r = arg;

    run_unrecorded_enter(r);
    return recording_environment(
        &r->options->recording,
        &(struct recording_run){
            .session_id = r->id,
            .library = r->library,
            .adapters = r->adapters.paths,
            .node_options = r->adapters.node_options,
            .stubs = r->hooks.entry,
            .pattern = r->to.pattern,
            .others = r->options->no_children ? "" : destination_others_pattern(&r->to),
            .unrecorded = r->unrecorded_path,
        },
        &r->arena);
}

static uint64_t
read_clock(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000 * NS_PER_MS + (uint64_t)t.tv_nsec;
}

/* If a sample of the processes' memory is due, take it. Returns the ns until the next sample. The
 * interval grows with the run, so that short runs are sampled as well. */
static uint64_t
look_at_memory(struct recorded_run *r, pid_t pid)
{
    uint64_t now_ns = read_clock(CLOCK_MONOTONIC);

    // If the user excludes processes, their memory is expected to be missing.
    if (r->options->quiet || r->options->recording.only != NULL || r->options->no_children)
        return LOOK_LAST_NS;
    if (now_ns < r->look_due_ns)
        return r->look_due_ns - now_ns;
    growth_poll(&r->growth, pid, read_clock(CLOCK_REALTIME));
    // With this growth, the last sample is taken after at least four fifths of the program's life.
    r->look_ns = r->look_ns == 0 ? LOOK_FIRST_NS : r->look_ns + r->look_ns / 4;
    if (r->look_ns > LOOK_LAST_NS)
        r->look_ns = LOOK_LAST_NS;
    r->look_due_ns = now_ns + r->look_ns;
    return r->look_ns;
}

static uint64_t
take_snapshots(struct recorded_run *r, pid_t pid)
{
    struct periodic *p = &r->periodic;

    if (r->options->snapshot_every_ms == 0)
        return LOOK_LAST_NS;
    if (p->period_ns == 0)
        *p = (struct periodic){
            .session_id = r->id,
            .period_ns = r->options->snapshot_every_ms * NS_PER_MS,
            .directories = {r->to.directory, destination_others_path(&r->to, pid)},
        };
    return periodic_poll(p);
}

/* Called repeatedly while process PID runs. Returns the ns until the next call. */
static uint64_t
run_look(void *arg, pid_t pid)
{
    uint64_t memory_ns = look_at_memory(arg, pid), snapshots_ns = take_snapshots(arg, pid);

    run_unrecorded_receive(arg);
    return memory_ns < snapshots_ns ? memory_ns : snapshots_ns;
}

int
run_wait(struct recorded_run *r, struct err *err)
{
    const struct launch l = {
        .path = r->path,
        .arguments = r->arguments,
        .environment = make_environment,
        .environment_arg = r,
        .look = run_look,
        .look_arg = r,
    };
    int rc;

    // The recorder uses the same clock.
    r->started_ns = read_clock(CLOCK_MONOTONIC_COARSE);
    r->oom_kills_before = oom_kills();
    rc = launch_wait(&l, &r->pid, &r->status, err);
    r->ended_ns = read_clock(CLOCK_MONOTONIC);
    r->oom_killed = WIFSIGNALED(r->status) && WTERMSIG(r->status) == SIGKILL &&
                    oom_kills() > r->oom_kills_before;
    if (rc < 0)
        hook_run_remove(&r->hooks);
    return rc;
}

/* The two fields of the header on the end of a process. */
struct run_end {
    uint32_t kind, value;
};
static_assert(offsetof(struct disk_header, end_value) ==
                  offsetof(struct disk_header, end_kind) + sizeof(uint32_t),
              "written at once");

/* Return the profile among PROFILES of the first process after its last exec, and its header in
 * *RET; NULL if it has none. */
static const char *
last_image(const struct recorded_run *r, const struct run_profiles *profiles,
           struct disk_header *ret)
{
    const char *path = NULL;

    for (size_t i = 0; i < profiles->count; i++) {
        struct disk_header h;

        if (origin_header(profiles->paths[i], &h) && h.pid == (uint32_t)r->pid &&
            (path == NULL || h.start_unix_ns >= ret->start_unix_ns)) {
            path = profiles->paths[i];
            *ret = h;
        }
    }
    return path;
}

/* Return the end of the first process: enum disk_end and its value. */
static struct run_end
run_end_of(const struct recorded_run *r)
{
    if (WIFEXITED(r->status))
        return (struct run_end){DISK_END_EXITED, (uint32_t)WEXITSTATUS(r->status)};
    return (struct run_end){r->oom_killed ? DISK_END_NO_MEMORY : DISK_END_KILLED,
                            (uint32_t)WTERMSIG(r->status)};
}

/* Write how and when the first process ended into its profile. Its exit handlers have written the
 * time, unless the process was killed, or called _exit. */
static void
write_end(const struct recorded_run *r, const struct run_profiles *profiles)
{
    const struct run_end end = run_end_of(r);
    struct disk_header h;
    const char *path = last_image(r, profiles, &h);
    uint64_t ended_ns;
    ssize_t wrote = 0;
    int fd;

    if (path == NULL || (h.state != DISK_STATE_RECORDING && h.state != DISK_STATE_ENDED))
        return;
    fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    ended_ns = r->ended_ns - h.start_monotonic_ns;
    // Another time namespace has another clock.
    if (h.state == DISK_STATE_RECORDING && h.start_monotonic_ns >= r->started_ns &&
        h.start_monotonic_ns <= r->ended_ns)
        wrote = pwrite(fd, &ended_ns, sizeof ended_ns, offsetof(struct disk_header, ended_ns));
    if (wrote >= 0)
        wrote = pwrite(fd, &end, sizeof end, offsetof(struct disk_header, end_kind));
    if (wrote < 0)
        message_warning("cannot write into %s when its process ended", path);
    close(fd);
}

/* Mark the profile PATH, a copy in the place of the recorder's file, as damaged, so that later
 * commands do not trust it either. */
static void
mark_replaced(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    const off_t at = offsetof(struct disk_header, process_flags);
    uint32_t flags;
    bool ok = fd >= 0 && pread(fd, &flags, sizeof flags, at) == sizeof flags;

    if (ok) {
        flags |= DISK_PROCESS_DAMAGED;
        ok = pwrite(fd, &flags, sizeof flags, at) == sizeof flags;
    }
    if (!ok)
        message_warning("cannot mark the early copy %s as damaged", path);
    if (fd >= 0)
        close(fd);
}

/* A struct listing's fit_of; ARG is the run. */
static unsigned
fit_in_run(void *arg, const char *path, uint32_t pid)
{
    const struct recorded_run *r = arg;

    return destination_fit(&r->to, path, (pid_t)pid, r->pid);
}

void
run_find_profiles(struct recorded_run *r, struct run_profiles *ret)
{
    // Read this first: a process that still runs may begin to record at any time.
    uint64_t begun = run_unrecorded_recordings(r);
    const char *others = destination_others_found(&r->to, r->pid);
    // Skip the profiles of earlier runs by their times: there may be many. A file server's clock
    // may be wrong, by an hour at most.
    struct listing l = {.arena = &r->arena,
                        .session_id = r->id,
                        .since = r->began - CLOCK_ERROR_S,
                        .fit_of = fit_in_run,
                        .fit_arg = r};

    *ret = (struct run_profiles){.directory = others != NULL ? others : r->to.directory};
    listing_add(&l, r->to.directory);
    if (others != NULL)
        listing_add(&l, others);
    ret->paths = listing_paths(&l, &ret->count);
    run_unrecorded_find_lost(r, begun, l.v, l.count, &ret->lost);
    ret->are_moved = arena_array(&r->arena, l.count, sizeof *ret->are_moved);
    ret->are_replaced = arena_array(&r->arena, l.count, sizeof *ret->are_replaced);
    for (size_t i = 0; i < l.count; i++) {
        const struct listed *one = &l.v[i];
        size_t at = i;

        if (i > 0 && one->key.pid == (uint64_t)r->pid) {
            ret->paths[i] = ret->paths[0];
            ret->are_moved[i] = ret->are_moved[0];
            ret->are_replaced[i] = ret->are_replaced[0];
            at = 0;
        }
        ret->paths[at] = one->path;
        ret->are_moved[at] = one->fit == 0;
        ret->are_replaced[at] = one->original < 0;
        if (one->original < 0)
            mark_replaced(one->path);
    }
    write_end(r, ret);
}

void
run_note(struct recorded_run *r, bool running, struct run_notes *ret)
{
    // With a reserve, the recorder reports only inside the profile.
    bool silent = r->options->quiet || r->options->recording.reserve_bytes != 0;

    growth_note(&r->growth, &r->hooks.list, ret);
    hook_run_end(&r->hooks, r->path, running, silent ? NULL : ret);
}

void
run_release(struct recorded_run *r)
{
    growth_release(&r->growth);
    run_unrecorded_end(r);
    arena_release(&r->arena);
}
