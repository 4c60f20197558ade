/* cmd_attach.c: `heaptap attach` and `heaptap detach`: record a process that is already running.
 *
 * A child of this command, the guardian, does the work on the process, and blocks all signals. If
 * the user kills the command meanwhile, the guardian completes the work, so the process is never
 * left half changed. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/attach.h"
#include "command/run_summary.h"
#include "command/sink.h"
#include "format/environment.h"
#include "format/format.h"
#include "launch/overwrite.h"
#include "launch/recording.h"
#include "load/load.h"
#include "option/opts.h"
#include "option/shared_opts.h"
#include "profile/origin.h"
#include "util/path.h"
#include "view/style.h"

#define RESERVE_BYTES_DEFAULT ((uint64_t)256 << 20)
#define RESERVE_BYTES_MIN ((uint64_t)4 << 20)
#define TICK_NS 200000000

enum { NAME_BYTES = 256 };

struct attach_options {
    const char *output, *callers;
    uint64_t sample_bytes, sample_count, frames, reserve_bytes, duration_s;
    bool detached, no_pack;
};
static const struct attach_options attach_defaults = {.reserve_bytes = RESERVE_BYTES_DEFAULT};

/* The guardian's answer. */
struct outcome {
    int result;
    struct attach_cost cost;
    struct err err;
};

/* The guardian's work. HOW is NULL to detach. */
struct task {
    uint32_t pid;
    const struct attach_how *how;
};

static volatile sig_atomic_t interrupted;

static void
on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* Run TASK in the guardian and store its answer. */
static void
guard(const struct task *task, struct outcome *ret)
{
    int pipe_ends[2];
    sigset_t all;
    pid_t guardian;
    ssize_t got;

    *ret = (struct outcome){.result = HEAPTAP_BUG};
    if (pipe2(pipe_ends, O_CLOEXEC) != 0 || (guardian = fork()) < 0) {
        ret->result = err_errno(&ret->err, HEAPTAP_BAD_INPUT, "cannot start a process");
        return;
    }
    if (guardian == 0) {
        // On a busy machine the threads would wait for us to resume them. Needs a right.
        sched_setscheduler(0, SCHED_RR, &(struct sched_param){.sched_priority = 1});
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        setsid(); // A signal for our process group is not for the guardian.
        ret->result = task->how != NULL
                          ? attach_begin(task->pid, task->how, &ret->cost, &ret->err)
                          : attach_end(task->pid, &ret->cost, &ret->err);
        got = write(pipe_ends[1], ret, sizeof *ret);
        _exit(got == sizeof *ret ? 0 : 1);
    }
    close(pipe_ends[1]);
    do
        got = read(pipe_ends[0], ret, sizeof *ret);
    while (got < 0 && errno == EINTR);
    close(pipe_ends[0]);
    while (waitpid(guardian, NULL, 0) < 0 && errno == EINTR)
        ;
    if (got != sizeof *ret)
        ret->result = err_set(&ret->err, HEAPTAP_BUG, "the process that attaches has died");
}

/* --- Settings --------------------------------------------------------------------------------- */

/* Append "NAME=VALUE" and its NUL to OUT. */
static void
add_setting(struct strbuf *out, const char *name, const char *value)
{
    strbuf_add(out, name, strlen(name));
    strbuf_add(out, "=", 1);
    strbuf_add(out, value, strlen(value) + 1);
}

static void
add_number(struct strbuf *out, const char *name, uint64_t value)
{
    char text[32];

    if (value == 0)
        return;
    snprintf(text, sizeof text, "%" PRIu64, value);
    add_setting(out, name, text);
}

/* Return the id that process PID has in its own namespace. */
static uint64_t
inner_pid(uint32_t pid, struct arena *a)
{
    FILE *f = fopen(arena_printf(a, "/proc/%u/status", pid), "re");
    char line[1024], *last;
    uint64_t inner = pid;

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "NSpid:", 6) == 0 && (last = strrchr(line, '\t')) != NULL)
            inner = strtoull(last, NULL, 10);
    if (f != NULL)
        fclose(f);
    return inner;
}

static void
make_settings(const struct attach_options *o, uint32_t pid, const char *path, struct arena *a,
              struct strbuf *out)
{
    uint64_t callers_period = 0;

    if (o->callers != NULL)
        sample_opts_callers(o->callers, &callers_period, NULL); // Checked before.
    add_setting(out, ENVIRONMENT_OUT, path);
    add_setting(out, ENVIRONMENT_OTHERS, "");
    add_number(out, ENVIRONMENT_PID, inner_pid(pid, a));
    add_number(out, ENVIRONMENT_RESERVE, o->reserve_bytes);
    add_number(out, ENVIRONMENT_SAMPLE, o->sample_bytes);
    add_number(out, ENVIRONMENT_SAMPLE_COUNT, o->sample_count);
    add_number(out, ENVIRONMENT_FRAMES, o->frames);
    add_number(out, ENVIRONMENT_CALLERS, callers_period);
}

/* Return the name of process PID's program; "" if it is unknown. */
static const char *
program_name(uint32_t pid, struct arena *a)
{
    char text[NAME_BYTES] = "";
    FILE *f = fopen(arena_printf(a, "/proc/%u/comm", pid), "re");

    if (f != NULL) {
        if (fgets(text, sizeof text, f) == NULL)
            text[0] = '\0';
        fclose(f);
    }
    text[strcspn(text, "\n")] = '\0';
    for (char *c = text; *c != '\0'; c++)
        if (*c == '/')
            *c = '_';
    return arena_strdup(a, text);
}

/* Create the profile for process PID. Store its absolute path in *RET_PATH. Return its descriptor,
 * or HEAPTAP_BAD_INPUT with ERR set. */
static int
create_profile(const struct attach_options *o, uint32_t pid, struct arena *a,
               const char **ret_path, struct err *err)
{
    const char *name = o->output != NULL ? o->output
                                         : arena_printf(a, "heaptap.%s.%u%s", program_name(pid, a),
                                                        pid, PROFILE_SUFFIX);
    char *directory = getcwd(NULL, 0);
    int fd;

    *ret_path = *name == '/' || directory == NULL ? name
                                                  : arena_printf(a, "%s/%s", directory, name);
    free(directory);
    fd = open(*ret_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    if (errno == EEXIST)
        return err_set(err, HEAPTAP_BAD_INPUT, "%s exists; name another file with -o", name);
    return err_errno(err, HEAPTAP_BAD_INPUT, "cannot create %s", name);
}

/* --- Attaching -------------------------------------------------------------------------------- */

/* Print WHAT happened to process PID, and for how long its threads were stopped. */
static void
report_stop(const char *what, uint32_t pid, const struct outcome *w, struct arena *a)
{
    sink_print(arena_printf(a, "process %u %s; its %s stopped for %.1f ms\n", pid, what,
                            style_plural(a, (int64_t)w->cost.threads, "thread"),
                            (double)w->cost.stopped_ns / 1e6));
}

static bool
is_alive(uint32_t pid)
{
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

/* Replace the status line on a terminal by the numbers in the header of the profile at PATH. */
static void
show_status(const char *path, time_t seconds)
{
    struct arena a = {0};
    struct disk_header h;

    if (origin_header(path, &h)) {
        fprintf(stderr, "\r\033[K%s live, peak %s, %jd s; ^C ends",
                style_bytes(&a, h.shared.flushed_bytes), style_bytes(&a, h.shared.peak_bytes),
                (intmax_t)seconds);
        fflush(stderr);
    }
    arena_release(&a);
}

/* Wait until the user interrupts, DURATION_S are over (0 = never), or the process, which writes
 * PATH, ends. */
static void
await_end(uint32_t pid, const char *path, uint64_t duration_s)
{
    static const struct timespec tick = {.tv_nsec = TICK_NS};
    bool is_terminal = isatty(STDERR_FILENO);
    struct timespec now, began;

    clock_gettime(CLOCK_MONOTONIC, &began);
    do {
        nanosleep(&tick, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (is_terminal)
            show_status(path, now.tv_sec - began.tv_sec);
    } while (!interrupted && is_alive(pid) &&
             (duration_s == 0 || (uint64_t)(now.tv_sec - began.tv_sec) < duration_s));
    if (is_terminal)
        fputs("\r\033[K", stderr);
}

/* Detach from process PID, and pack the profile at PATH, which may be NULL, unless NO_PACK. Returns
 * the exit code. */
static int
detach_process(uint32_t pid, const char *path, bool no_pack, struct arena *a)
{
    const struct task task = {.pid = pid};
    struct outcome w;

    guard(&task, &w);
    if (w.result == HEAPTAP_NOT_FOUND && path != NULL) {
        sink_print(arena_printf(a, "process %u is no longer recorded\n", pid));
        return no_pack ? 0 : pack_file(path);
    }
    if (w.result == HEAPTAP_NOT_FOUND) {
        message_error("no recorder is attached to process %u", pid);
        return EXIT_BAD_INPUT;
    }
    if (w.result != 0) {
        message_error("%s", w.err.text);
        return exit_code(w.result);
    }
    report_stop("is left as it was", pid, &w, a);
    return no_pack || path == NULL ? 0 : pack_file(path);
}

/* Handle ^C and the like from now on. */
static void
take_signals(void)
{
    struct sigaction ours = {.sa_handler = on_signal};

    sigaction(SIGINT, &ours, NULL);
    sigaction(SIGTERM, &ours, NULL);
    sigaction(SIGHUP, &ours, NULL);
    signal(SIGPIPE, SIG_IGN); // A reader that ends must not prevent the detach.
}

static int
attach_process(uint32_t pid, const struct attach_options *o, struct arena *a)
{
    struct strbuf settings = {0};
    struct attach_how how = {0};
    const struct task task = {pid, &how};
    struct outcome w;
    int r = recording_attached(a, &how.library, &w.err);

    if (r == 0)
        r = how.profile_fd = create_profile(o, pid, a, &how.profile, &w.err);
    if (r < 0) {
        message_error("%s", w.err.text);
        return exit_code(r);
    }
    make_settings(o, pid, how.profile, a, &settings);
    how.settings = settings.text;
    how.settings_bytes = settings.length;
    take_signals();
    guard(&task, &w);
    close(how.profile_fd);
    strbuf_release(&settings);
    if (w.result != 0) {
        unlink(how.profile);
        message_error("%s", w.err.text);
        return exit_code(w.result);
    }
    report_stop(arena_printf(a, "is recorded in %s", style_clean(a, how.profile)), pid, &w, a);
    if (o->detached)
        return 0;
    await_end(pid, how.profile, o->duration_s);
    if (is_alive(pid))
        return detach_process(pid, how.profile, o->no_pack, a);
    sink_print(arena_printf(a, "process %u has ended\n", pid));
    return o->no_pack ? 0 : pack_file(how.profile);
}

static int
check_attach_options(const struct attach_options *o, struct err *err)
{
    uint64_t unused;
    int r;

    if (o->reserve_bytes > RESERVE_BYTES_MAX || o->reserve_bytes < RESERVE_BYTES_MIN)
        return err_set(err, HEAPTAP_USAGE, "option '--reserve': at least 4M, at most 8G");
    if (o->callers != NULL && (o->sample_bytes != 0 || o->sample_count != 0))
        return err_set(err, HEAPTAP_USAGE,
                       "options '--callers' and '--sample' exclude each other");
    if (o->callers != NULL && (r = sample_opts_callers(o->callers, &unused, err)) != 0)
        return r;
    return sample_opts_check(o->sample_bytes, o->sample_count, err);
}

/* Read the process id WORD into *RET. */
static int
read_pid(const char *word, uint32_t *ret, struct err *err)
{
    if (!origin_is_pid(word, ret) || *ret == 0)
        return err_set(err, HEAPTAP_USAGE, "'%s' is not a process id", word);
    return 0;
}

static int
attach_run(const void *given, int count, char **arguments)
{
    const struct attach_options *o = given;
    struct err err = {""};
    struct arena a = {0};
    uint32_t pid;
    int r = check_attach_options(o, &err);

    (void)count;
    if (r == 0)
        r = read_pid(arguments[0], &pid, &err);
    if (r < 0)
        message_error("%s", err.text);
    r = r < 0 ? exit_code(r) : attach_process(pid, o, &a);
    arena_release(&a);
    return r;
}

static const struct opt attach_opts[] = {
    {OPT_STRING, 'o', "output", &attach_defaults.output, "FILE",
     "Write the profile to FILE; by default heaptap.NAME.PID.heaptap in the current directory.",
     NULL},
    {OPT_COUNT, 0, "duration", &attach_defaults.duration_s, "SECONDS",
     "Detach after that time; by default at ^C.", NULL},
    {OPT_FLAG, 0, "detached", &attach_defaults.detached, NULL,
     "Return as soon as the process is recorded. `heaptap detach PID` ends that.", NULL},
    {OPT_SIZE, 0, "sample", &attach_defaults.sample_bytes, "SIZE",
     "Record one block in SIZE bytes, as heaptap run does with that option.", NULL},
    {OPT_COUNT, 0, "sample-count", &attach_defaults.sample_count, "N",
     "Record one call in N.", NULL},
    {OPT_STRING, 0, "callers", &attach_defaults.callers, "1/N",
     "Record the callers of one allocation in N, as heaptap run does with that option.", NULL},
    {OPT_COUNT, 0, "frames", &attach_defaults.frames, "N",
     "Record the N innermost frames of each stack.", NULL},
    {OPT_SIZE, 0, "reserve", &attach_defaults.reserve_bytes, "SIZE",
     "Size of the profile until it is packed; it cannot grow. 256M by default.",
     NULL},
    {OPT_FLAG, 0, "no-pack", &attach_defaults.no_pack, NULL,
     "Leave the profile as the recorder wrote it.", NULL},
    {0},
};

const struct command command_attach = {
    .name = "attach",
    .arguments = "PID",
    .summary = "record a process that is already running",
    .description =
        "Records a running process from now on, until ^C, SIGTERM or SIGHUP; then leaves it as it "
        "was and packs the profile. All views and requests work meanwhile, as for a process that "
        "heaptap run started.\n"
        "\n"
        "No debugger is needed, and the program's functions are not called: it does not matter "
        "what its threads are doing. They stop for about a millisecond. Blocks from before the "
        "attach are not known; their frees are ignored. Children are not recorded.",
    .examples = "heaptap attach 1234\tuntil ^C\n"
                "heaptap attach --duration 60 -o a.heaptap 1234\tfor a minute\n"
                "heaptap attach --detached 1234\tand later: heaptap detach 1234\n",
    .options = attach_opts,
    .defaults = &attach_defaults,
    .defaults_bytes = sizeof attach_defaults,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = attach_run,
};

/* --- Detaching -------------------------------------------------------------------------------- */

struct detach_options {
    bool no_pack;
};
static const struct detach_options detach_defaults;

static int
detach_run(const void *given, int count, char **arguments)
{
    const struct detach_options *o = given;
    struct err err = {""};
    struct arena a = {0};
    uint32_t pid;
    int r = read_pid(arguments[0], &pid, &err);

    (void)count;
    if (r < 0)
        message_error("%s", err.text);
    r = r < 0 ? exit_code(r) : detach_process(pid, attach_profile(pid, &a), o->no_pack, &a);
    arena_release(&a);
    return r;
}

static const struct opt detach_opts[] = {
    {OPT_FLAG, 0, "no-pack", &detach_defaults.no_pack, NULL,
     "Leave the profile as the recorder wrote it.", NULL},
    {0},
};

const struct command command_detach = {
    .name = "detach",
    .arguments = "PID",
    .summary = "end heaptap attach --detached",
    .description = "Ends the recording of a process that heaptap attach has begun, leaves the "
                   "process as it was before, and packs the profile.",
    .examples = "heaptap detach 1234\tand then: heaptap report\n",
    .options = detach_opts,
    .defaults = &detach_defaults,
    .defaults_bytes = sizeof detach_defaults,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = detach_run,
};
