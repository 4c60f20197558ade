/* cmd_attach.c: `heaptap attach` and `heaptap detach`: record a process that is already running.
 *
 * A separate process does the work (attach/guarded.c), so this one can be killed at any time. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "attach/attach.h"
#include "attach/earlier.h"
#include "attach/forked.h"
#include "attach/guarded.h"
#include "command/run_summary.h"
#include "command/sink.h"
#include "format/environment.h"
#include "format/format.h"
#include "launch/hooks.h"
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
#define MAX_MEMORY_LEAST (UINT64_C(1) << 20)
#define TICK_NS 200000000

enum { NAME_BYTES = 256, FORK_PASSES_MAX = 10 };

struct attach_options {
    const char *output, *callers;
    uint64_t sample_bytes, sample_count, frames, reserve_bytes, max_memory_bytes, duration_s;
    bool detached, no_pack;
    struct opt_list hooks;
    // Set from them.
    const struct attach_hook *attach_hooks;
    size_t hook_count;
};
static const struct attach_options attach_defaults = {.reserve_bytes = RESERVE_BYTES_DEFAULT};

static volatile sig_atomic_t interrupted;

static void
on_signal(int number)
{
    (void)number;
    interrupted = 1;
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
    add_number(out, ENVIRONMENT_MAX_MEMORY, o->max_memory_bytes);
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

/* Return true if PATH is a directory, or ends with a slash. */
static bool
is_directory(const char *path)
{
    size_t length = strlen(path);
    struct stat st;

    return (length > 0 && path[length - 1] == '/') ||
           (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* Create the profile for process PID. Store its absolute path in *RET_PATH. Return its descriptor,
 * or HEAPTAP_BAD_INPUT with ERR set. */
static int
create_profile(const struct attach_options *o, uint32_t pid, struct arena *a,
               const char **ret_path, struct err *err)
{
    const char *name = arena_printf(a, "heaptap.%s.%u%s", program_name(pid, a), pid,
                                    PROFILE_SUFFIX);
    size_t length = o->output != NULL ? strlen(o->output) : 0;
    char *directory = getcwd(NULL, 0);
    int fd;

    while (length > 1 && o->output[length - 1] == '/')
        length--;
    if (o->output != NULL && is_directory(o->output))
        name = arena_printf(a, "%.*s/%s", (int)length, o->output, name);
    else if (o->output != NULL)
        name = o->output;
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
report_stop(const char *what, uint32_t pid, const struct guarded_outcome *w, struct arena *a)
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

/* Remove the copies of the recorder from all processes that process PID or its children have forked
 * meanwhile. PATH is the profile of PID; NULL = any. SAME_PROGRAM is as for forked_list. Return the
 * number of processes. */
static size_t
end_forked(uint32_t pid, const char *path, bool same_program, struct arena *a)
{
    struct guarded_outcome w;
    size_t total = 0, count = 0;

    // A process that is being removed may fork.
    for (int i = 0; i < FORK_PASSES_MAX && (i == 0 || count > 0); i++) {
        uint32_t *pids = forked_list(pid, path, same_program, a, &count);
        size_t done = 0;

        for (size_t k = 0; k < count; k++) {
            guarded_run(pids[k], NULL, &w);
            done += w.result == 0;
        }
        total += done;
        if (done < count)
            message_warning("%zu of the processes that process %u has forked keep the recorder; "
                            "`heaptap detach` with their ids removes it", count - done, pid);
        if (done < count)
            break;
    }
    if (total > 0)
        sink_print(arena_printf(a, "%zu forked process%s left as before\n", total,
                                total == 1 ? " is" : "es are"));
    return total;
}

/* Detach from process PID, and pack the profile at PATH, which may be NULL, unless NO_PACK. Returns
 * the exit code. */
static int
detach_process(uint32_t pid, const char *path, bool no_pack, struct arena *a)
{
    struct guarded_outcome w;
    size_t forked;

    guarded_run(pid, NULL, &w);
    forked = end_forked(pid, path, w.result == 0, a);
    if (w.result == HEAPTAP_NOT_FOUND && path != NULL) {
        sink_print(arena_printf(a, "process %u is no longer recorded\n", pid));
        return no_pack ? 0 : pack_file(path);
    }
    if (w.result == HEAPTAP_NOT_FOUND && forked > 0)
        return 0;
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

/* A process that is recorded, until its recording has ended. */
struct recorded {
    uint32_t pid;
    const char *profile; // Absolute path.
    bool is_recorded;
};

/* Replace the status line on a terminal by the sums of the COUNT profiles at R. */
static void
show_status(const struct recorded *r, size_t count, time_t seconds)
{
    struct arena a = {0};
    struct disk_header h;
    int64_t running = 0, live_bytes = 0, peak_bytes = 0;

    for (size_t i = 0; i < count; i++) {
        if (!r[i].is_recorded || !origin_header(r[i].profile, &h))
            continue;
        running++;
        live_bytes += h.shared.flushed_bytes;
        peak_bytes = h.shared.peak_bytes;
    }
    // Several processes reach their peaks at different times, so their sum means nothing.
    if (running > 0)
        fprintf(stderr, "\r\033[K%s live, %s, %jd s; ^C ends", style_bytes(&a, live_bytes),
                count == 1 ? arena_printf(&a, "peak %s", style_bytes(&a, peak_bytes))
                           : arena_printf(&a, "%" PRId64 " process%s", running,
                                          running == 1 ? "" : "es"),
                (intmax_t)seconds);
    fflush(stderr);
    arena_release(&a);
}

/* End the recordings of all processes at R that have ended. Returns the exit code; *RET_LEFT is the
 * number of the others. */
static int
end_finished(struct recorded *r, size_t count, bool no_pack, size_t *ret_left, struct arena *a)
{
    int code = 0, its;

    *ret_left = 0;
    for (size_t i = 0; i < count; i++) {
        if (!r[i].is_recorded || is_alive(r[i].pid)) {
            *ret_left += r[i].is_recorded;
            continue;
        }
        r[i].is_recorded = false;
        if (isatty(STDERR_FILENO))
            fputs("\r\033[K", stderr);
        sink_print(arena_printf(a, "process %u has ended\n", r[i].pid));
        end_forked(r[i].pid, r[i].profile, false, a);
        its = no_pack ? 0 : pack_file(r[i].profile);
        code = its > code ? its : code;
    }
    return code;
}

/* Wait until the user interrupts, the time is over, or all COUNT processes at R have ended. Returns
 * the exit code. */
static int
await_end(struct recorded *r, size_t count, const struct attach_options *o, struct arena *a)
{
    static const struct timespec tick = {.tv_nsec = TICK_NS};
    bool is_terminal = isatty(STDERR_FILENO);
    struct timespec now, began;
    int code = 0, its;
    size_t left;

    clock_gettime(CLOCK_MONOTONIC, &began);
    do {
        nanosleep(&tick, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (is_terminal)
            show_status(r, count, now.tv_sec - began.tv_sec);
        its = end_finished(r, count, o->no_pack, &left, a);
        code = its > code ? its : code;
    } while (!interrupted && left > 0 &&
             (o->duration_s == 0 || (uint64_t)(now.tv_sec - began.tv_sec) < o->duration_s));
    if (is_terminal)
        fputs("\r\033[K", stderr);
    return code;
}

/* Begin to record process R->pid. Returns the exit code; errors have been printed. */
static int
begin_process(struct recorded *r, const char *library, const struct attach_options *o,
              struct arena *a)
{
    struct strbuf settings = {0};
    struct attach_how how = {.library = library, .hooks = o->attach_hooks,
                             .hook_count = o->hook_count};
    struct guarded_outcome w;
    int created;

    earlier_count(r->pid, &how); // First, because a command that is killed then leaves no file.
    if (interrupted)
        return 0;
    created = how.profile_fd = create_profile(o, r->pid, a, &how.profile, &w.err);
    if (created < 0) {
        message_error("%s", w.err.text);
        return exit_code(created);
    }
    make_settings(o, r->pid, how.profile, a, &settings);
    how.settings = settings.text;
    how.settings_bytes = settings.length;
    guarded_run(r->pid, &how, &w);
    close(how.profile_fd);
    strbuf_release(&settings);
    if (w.result != 0) {
        message_error("%s", w.err.text);
        return exit_code(w.result);
    }
    r->profile = how.profile;
    r->is_recorded = true;
    report_stop(arena_printf(a, "is recorded in %s", style_clean(a, how.profile)), r->pid, &w, a);
    return 0;
}

static bool
any_recorded(const struct recorded *r, size_t count)
{
    bool any = false;

    for (size_t i = 0; i < count; i++)
        any |= r[i].is_recorded;
    return any;
}

/* Attach to the COUNT processes at R; one that fails does not affect the others. Unless detached,
 * wait and detach from all. Returns the largest exit code. */
static int
attach_processes(struct recorded *r, size_t count, const struct attach_options *o,
                 struct arena *a)
{
    const char *library;
    struct err err;
    int code = recording_attached(a, &library, &err), its;

    if (code < 0) {
        message_error("%s", err.text);
        return exit_code(code);
    }
    take_signals();
    for (size_t i = 0; i < count && !interrupted; i++) {
        its = begin_process(&r[i], library, o, a);
        code = its > code ? its : code;
    }
    if (o->detached || !any_recorded(r, count))
        return code;
    its = await_end(r, count, o, a);
    code = its > code ? its : code;
    for (size_t i = 0; i < count; i++) {
        its = r[i].is_recorded ? detach_process(r[i].pid, r[i].profile, o->no_pack, a) : 0;
        code = its > code ? its : code;
    }
    return code;
}

/* Create the directory of -o for COUNT profiles if its name ends with a slash. */
static int
prepare_output(const struct attach_options *o, int count, struct err *err)
{
    if (o->output == NULL)
        return 0;
    if (!is_directory(o->output))
        return count == 1 ? 0
                          : err_set(err, HEAPTAP_USAGE,
                                    "option '-o': several processes need a directory, '%.1000s/'",
                                    o->output);
    if (mkdir(o->output, 0777) != 0 && errno != EEXIST)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot create the directory %.1000s", o->output);
    return 0;
}

/* Convert the values of --hook. */
static int
parse_attach_hooks(struct attach_options *o, struct arena *a, struct err *err)
{
    struct hook_list list = {0};
    struct attach_hook *hooks;

    for (size_t i = 0; i < o->hooks.count; i++) {
        const char *text = o->hooks.items[i];
        int r = hook_kinds_is_question(text)
                    ? err_set(err, HEAPTAP_USAGE, "heaptap run --hook list prints the list")
                    : hook_kinds_add(&list, a, text, err);

        if (r != 0)
            return r;
    }
    hooks = arena_array(a, list.count, sizeof *hooks);
    for (size_t i = 0; i < list.count; i++)
        hooks[i] = (struct attach_hook){list.hooks[i].symbol, list.hooks[i].shape,
                                        list.hooks[i].preset};
    o->attach_hooks = hooks;
    o->hook_count = list.count;
    return 0;
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
    if (o->max_memory_bytes != 0 && o->max_memory_bytes < MAX_MEMORY_LEAST)
        return err_set(err, HEAPTAP_USAGE,
                       "option '--max-memory': the recorder needs 1M before it records anything");
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
    struct attach_options options = *(const struct attach_options *)given, *o = &options;
    struct err err = {""};
    struct arena a = {0};
    struct recorded *processes = arena_array(&a, (size_t)count, sizeof *processes);
    int r = check_attach_options(o, &err);

    if (r == 0)
        r = parse_attach_hooks(o, &a, &err);
    for (int i = 0; r == 0 && i < count; i++)
        r = read_pid(arguments[i], &processes[i].pid, &err);
    if (r == 0)
        r = prepare_output(o, count, &err);
    if (r < 0)
        message_error("%s", err.text);
    r = r < 0 ? exit_code(r) : attach_processes(processes, (size_t)count, o, &a);
    arena_release(&a);
    return r;
}

static const struct opt attach_opts[] = {
    {OPT_STRING, 'o', "output", &attach_defaults.output, "FILE",
     "Write the profile to FILE; by default heaptap.NAME.PID.heaptap in the current directory. "
     "With DIR/ or an existing directory, it has that name there.",
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
    {OPT_LIST, 0, "hook", &attach_defaults.hooks, "SYMBOL=KIND",
     "Record SYMBOL, a function of any file, as if it were KIND, such as malloc or free. It may be "
     "local, and direct calls are recorded. Or record all functions of a well-known allocator: "
     "--hook jemalloc. May be repeated; heaptap run --hook list prints the kinds and the "
     "allocators.",
     NULL},
    {OPT_SIZE, 0, "reserve", &attach_defaults.reserve_bytes, "SIZE",
     "Size of the profile until it is packed; it cannot grow. 256M by default.",
     NULL},
    {OPT_SIZE, 0, "max-memory", &attach_defaults.max_memory_bytes, "SIZE",
     "Limit the recorder's memory in each process, including its file, to SIZE (at least 1M), as "
     "heaptap run does with that option.",
     NULL},
    {OPT_FLAG, 0, "no-pack", &attach_defaults.no_pack, NULL,
     "Leave the profile as the recorder wrote it.", NULL},
    {0},
};

static const char *
attach_offered(const char *name, size_t i)
{
    if (strcmp(name, "hook") == 0)
        return hook_kinds_offered(i);
    return strcmp(name, "hook=") == 0 ? hook_kinds_name(i) : NULL;
}

const struct command command_attach = {
    .name = "attach",
    .arguments = "PID...",
    .summary = "record a process that is already running",
    .description =
        "Records a running process from now on, until ^C, SIGTERM or SIGHUP; then leaves it as it "
        "was and packs the profile. All views and requests work meanwhile, as for a process that "
        "heaptap run started.\n"
        "\n"
        "No debugger is needed, and the program's functions are not called: it does not matter "
        "what its threads are doing. They stop for about a millisecond. Blocks from before the "
        "attach have no stacks; the header states their number. Children are not recorded.\n"
        "\n"
        "With several process ids, each process has a separate profile, and one that cannot be "
        "recorded does not affect the others. The exit code is 0 only if all were recorded and "
        "left; otherwise it is 3.",
    .examples = "heaptap attach 1234\tuntil ^C\n"
                "heaptap attach --duration 60 -o a.heaptap 1234\tfor a minute\n"
                "heaptap attach --detached 1234\tand later: heaptap detach 1234\n"
                "heaptap attach -o workers/ 1235 1236\tseveral processes\n"
                "heaptap attach --hook jemalloc 1234\talso je_malloc and mallocx\n",
    .offered = attach_offered,
    .options = attach_opts,
    .defaults = &attach_defaults,
    .defaults_bytes = sizeof attach_defaults,
    .min_arguments = 1,
    .max_arguments = -1,
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
    uint32_t *pids = arena_array(&a, (size_t)count, sizeof *pids);
    int r = 0, code = 0;

    for (int i = 0; r == 0 && i < count; i++)
        r = read_pid(arguments[i], &pids[i], &err);
    if (r < 0) {
        message_error("%s", err.text);
        code = exit_code(r);
    }
    for (int i = 0; r == 0 && i < count; i++) {
        int its = detach_process(pids[i], attach_profile(pids[i], &a), o->no_pack, &a);

        code = its > code ? its : code;
    }
    arena_release(&a);
    return code;
}

static const struct opt detach_opts[] = {
    {OPT_FLAG, 0, "no-pack", &detach_defaults.no_pack, NULL,
     "Leave the profile as the recorder wrote it.", NULL},
    {0},
};

const struct command command_detach = {
    .name = "detach",
    .arguments = "PID...",
    .summary = "end heaptap attach --detached",
    .description = "Ends the recording of processes that heaptap attach has begun, leaves each "
                   "process as it was before, and packs its profile. The exit code is 3 if one "
                   "fails; the others are left all the same.",
    .examples = "heaptap detach 1234\tand then: heaptap report\n",
    .options = detach_opts,
    .defaults = &detach_defaults,
    .defaults_bytes = sizeof detach_defaults,
    .min_arguments = 1,
    .max_arguments = -1,
    .run = detach_run,
};
