/* cmd_run.c: `heaptap run`, the front door: record a program, then tell in three lines what came
 * of it.
 *
 * The program's end is the end of our work, however it came: its profile is complete in its file.
 * What is left to do is a service: find the profiles of this run (their headers carry its session
 * id), add symbols, compress, and say where they are. Profiles of processes that still live are
 * left as they are, and where they are.
 *
 * The first process has the name that the user reads. A run may have hundreds of others; unless the
 * user has chosen a place for them, theirs go to a directory beside it, which the first of them
 * makes: NAME.heaptap and NAME.processes/. format/environment.h has the variables that say so.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/environment.h"
#include "launch/growth.h"
#include "launch/hook_run.h"
#include "launch/launch.h"
#include "launch/periodic.h"
#include "launch/signal_name.h"
#include "load/load.h"
#include "option/opts.h"
#include "profile/origin.h"
#include "profile/pack.h"
#include "report/style.h"
#include "type/types.h"
#include "util/strbuf.h"
#include "view/sampling.h"
#include "view/view.h"

/* A run of many processes names this many profiles and counts the rest. */
enum { PROFILES_TOLD = 3 };

/* A year; and far from where milliseconds overflow. */
#define SECONDS_MAX 31536000.0

#define MAX_MEMORY_LEAST (UINT64_C(1) << 20)
#define NS_PER_MS UINT64_C(1000000)
#define LOOK_FIRST_NS (2 * NS_PER_MS)
#define LOOK_LAST_NS (1000 * NS_PER_MS)

extern const struct command command_run;

static const char *output, *only;
static bool no_pack, no_children, quiet;
static uint64_t reserve_bytes;
static uint64_t sample_bytes, sample_count, frames;
static struct opt_list hooks;
static const char *delay, *duration;
static uint64_t delay_ms, duration_ms;
static uint64_t max_memory, snapshot_growth;
static const char *snapshot_signal, *snapshot_every;
static uint64_t snapshot_every_ms;
static int snapshot_signal_number;

static const struct opt options[] = {
    {OPT_STRING, 'o', "output", &output, "FILE",
     "Where the profile goes. %p is the process id, %e the program's name, %n a number that makes "
     "the name new. A directory gets one profile for each process. Default: "
     "heaptap.%e.%p.heaptap. Other processes than the first go to a directory beside it, named "
     "with .processes instead of .heaptap. Nothing is overwritten.",
     NULL},
    {OPT_STRING, 0, "only", &only, "PROGRAM",
     "Record only processes of PROGRAM: the name of an executable or script, with * and ? as in "
     "file names. Several are separated by commas. All others run as if bare.",
     NULL},
    {OPT_FLAG, 0, "no-children", &no_children, NULL,
     "Record only the process started here and the programs it turns into by exec, no other "
     "process.",
     NULL},
    {OPT_LIST, 0, "hook", &hooks, "SYMBOL=KIND",
     "Record SYMBOL, a function of a shared library, as if it were KIND, such as malloc or free, "
     "or all functions of a well-known allocator: --hook jemalloc. May be given several times; "
     "--hook list shows the kinds and the allocators.",
     NULL},
    {OPT_SIZE, 0, "reserve", &reserve_bytes, "SIZE",
     "Reserve everything at the start, for programs that forbid mmap or open later (seccomp). The "
     "profile can have SIZE bytes. By default nothing is reserved.",
     NULL},
    {OPT_SIZE, 0, "sample", &sample_bytes, "SIZE",
     "Record only some blocks, chosen at random, one in SIZE bytes on average (1K to 1T; 512K "
     "costs next to nothing). What is shown then are estimates, with the range in which the truth "
     "lies.",
     NULL},
    {OPT_COUNT, 0, "sample-count", &sample_count, "N",
     "The same, but one in N calls, whatever its size.", NULL},
    {OPT_STRING, 0, "delay", &delay, "SECONDS", "Record nothing for the first SECONDS.", NULL},
    {OPT_STRING, 0, "duration", &duration, "SECONDS",
     "Record for SECONDS, then no more. Blocks recorded until then are followed to their frees.",
     NULL},
    {OPT_COUNT, 0, "frames", &frames, "N",
     "Keep only the N innermost frames of a stack. The profile is smaller, and tells less. The "
     "default, and the most, is 1024, so that nearly all stacks are whole.",
     NULL},
    {OPT_SIZE, 0, "max-memory", &max_memory, "SIZE",
     "Let the recorder take no more than SIZE of memory (1M at least), its file included: then new "
     "stacks are counted as \"other\". What grows with the program instead, an eighth of its heap "
     "and some for each thread, is not refused. By default there is no limit.",
     NULL},
    {OPT_STRING, 0, "snapshot-every", &snapshot_every, "SECONDS",
     "Ask all processes for a snapshot every SECONDS. A process takes it at one of its next "
     "events.",
     NULL},
    {OPT_SIZE, 0, "snapshot-growth", &snapshot_growth, "SIZE",
     "Take a snapshot each time that live bytes have grown by SIZE since the last one of these, or "
     "since they were least after it.",
     NULL},
    {OPT_STRING, 0, "snapshot-signal", &snapshot_signal, "NAME",
     "Take a snapshot when a process gets the signal NAME, such as USR2, unless the program has a "
     "handler of its own for it.",
     NULL},
    {OPT_FLAG, 0, "no-pack", &no_pack, NULL,
     "Leave the profile as it was recorded: no symbols added, not compressed.", NULL},
    {OPT_FLAG, 'q', "quiet", &quiet, NULL, "Print nothing of our own when the program has ended.",
     NULL},
    {0},
};

struct session {
    uint64_t id;
    const char *library;
    const char *pattern;   // Absolute, for the first process.
    const char *name;      // Of the program, as in a file name.
    const char *directory; // Where profiles appear.
    bool own_directory;    // Other processes go to others_path.
    const char **paths;
    size_t count, capacity;
    size_t living; // How many of them are still being written.
    struct counters total;
    struct hook_run hooks;
    struct growth growth;
    uint64_t look_ns; // From one look at their memory to the next.
    struct periodic periodic;
    struct arena arena;
};

/* PATH with every % doubled, as the recorder's pattern wants it. */
static const char *
escape(struct arena *arena, const char *path)
{
    struct strbuf b = {0};
    const char *escaped;

    for (; *path != '\0'; path++) {
        strbuf_char(&b, *path);
        if (*path == '%')
            strbuf_char(&b, '%');
    }
    escaped = arena_strdup(arena, strbuf_text(&b));
    strbuf_release(&b);
    return escaped;
}

/* The length of PATH without slashes at its end, unless it is all slashes. */
static size_t
trimmed_length(const char *path)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

static bool
is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The last component of PROGRAM's executable, as the recorder writes it for %e. */
static const char *
file_name(struct arena *arena, const char *program)
{
    char real[PATH_MAX];
    const char *path = realpath(program, real) ? real : program;
    char *name = arena_strdup(arena, path_basename(path));

    name[strcspn(name, " ")] = '\0';
    for (char *c = name; *c != '\0'; c++)
        if (*c < ' ' || *c >= 0x7f || *c == '%')
            *c = '_';
    return name;
}

/* PATTERN as process PID expands it. %n is 1. */
static const char *
expanded(struct session *s, const char *pattern, pid_t pid)
{
    struct strbuf b = {0};
    const char *text;

    for (const char *p = pattern; *p != '\0'; p++) {
        if (*p != '%' || p[1] == '\0')
            strbuf_char(&b, *p);
        else if (*++p == 'p')
            strbuf_fmt(&b, "%d", (int)pid);
        else if (*p == 'e')
            strbuf_str(&b, s->name);
        else if (*p == 'n')
            strbuf_char(&b, '1');
        else
            strbuf_fmt(&b, *p == '%' ? "%c" : "%%%c", *p);
    }
    text = arena_strdup(&s->arena, strbuf_text(&b));
    strbuf_release(&b);
    return text;
}

/* The directory of other processes, when the first is PID and its profile PATTERN. */
static const char *
others_path(struct session *s, const char *pattern, pid_t pid)
{
    const char *path = expanded(s, pattern, pid);
    size_t length = strlen(path), suffix = strlen(PROFILE_SUFFIX);

    if (length > suffix && strcmp(path + length - suffix, PROFILE_SUFFIX) == 0)
        length -= suffix;
    return arena_printf(&s->arena, "%.*s" ORIGIN_OTHERS_SUFFIX, (int)length, path);
}

/* Whether others than PATH's owner and root can put names beside it. */
static bool
is_public(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct arena a = {0};
    const char *parent = slash == NULL   ? "."
                         : slash == path ? "/"
                                         : arena_strndup(&a, path, (size_t)(slash - path));
    struct stat st;
    bool is = stat(parent, &st) != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
              (st.st_uid != 0 && st.st_uid != geteuid());

    arena_release(&a);
    return is;
}

/* What is wrong with PATH as the directory of other processes, or NULL. The recorder makes it with
 * the first profile in it, and takes what has that name by then: so where others could be faster,
 * it is made now. */
static const char *
others_problem(const char *path)
{
    struct stat st;

    if (is_public(path))
        mkdir(path, 0700); // If that fails the look at it says why, or the recorder does.
    if (lstat(path, &st) != 0)
        return NULL;
    return S_ISLNK(st.st_mode)           ? "is a symbolic link"
           : !S_ISDIR(st.st_mode)        ? "is not a directory"
           : st.st_uid != geteuid()      ? "belongs to another user"
           : (st.st_mode & S_IWOTH) != 0 ? "can be written by everybody"
                                         : NULL;
}

/* Look at that directory if its name is known before the program has a process id. */
static int
check_others(struct session *s, struct err *err)
{
    const char *path, *problem;

    if (no_children || !s->own_directory || strstr(s->pattern, "%p") != NULL)
        return 0;
    path = others_path(s, s->pattern, 0);
    problem = others_problem(path);
    if (problem == NULL)
        return 0;
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "the profiles of other processes would go to %s, which %s; choose another name "
                   "with -o, or --no-children",
                   path, problem);
}

/* The pattern for the profiles of other processes than this first one; "" = they get none. */
static const char *
choose_others(struct session *s)
{
    struct arena *a = &s->arena;
    const char *path = others_path(s, s->pattern, getpid());
    const char *problem = others_problem(path);

    if (problem == NULL)
        return arena_printf(a, "%s/%s", escape(a, path), PROFILE_DEFAULT_NAME);
    say_warning("other processes are not recorded: their profiles would go to %s, which %s", path,
                problem);
    return "";
}

/* The absolute pattern for HEAPTAP_OUT; refuses at once what the recorder would refuse later. */
static int
choose_output(struct session *s, struct err *err)
{
    char cwd[4096];
    const char *wanted = output ? output : PROFILE_DEFAULT_NAME;
    const char *absolute = wanted;
    const char *slash;

    if (wanted[0] != '/') {
        if (getcwd(cwd, sizeof cwd) == NULL)
            return err_errno(err, HEAPTAP_BAD_INPUT, "cannot tell the current directory");
        absolute = arena_printf(&s->arena, "%s/%s", escape(&s->arena, cwd), wanted);
    }
    s->pattern = absolute;
    s->own_directory = true;
    if (output != NULL && output[0] != '\0' && output[strlen(output) - 1] == '/')
        mkdir(output, 0700); // A session's directory; if that fails the check below says why.
    if (output != NULL && is_directory(output)) {
        s->directory = arena_strndup(&s->arena, output, trimmed_length(output));
        s->pattern = arena_strndup(&s->arena, absolute, trimmed_length(absolute));
        s->own_directory = false;
    } else {
        slash = strrchr(wanted, '/');
        s->directory = slash == NULL ? "."
                       : slash == wanted
                           ? "/"
                           : arena_strndup(&s->arena, wanted, (size_t)(slash - wanted));
        if (output != NULL && access(output, F_OK) == 0)
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "%s exists, and a profile is never overwritten; choose another name",
                           output);
    }
    if (access(s->directory, W_OK | X_OK) != 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot write a profile into the directory %s",
                         s->directory);
    return 0;
}

/* ENVIRONMENT with NAME set to VALUE, or without it if VALUE is NULL. */
static char **
with_variable(struct arena *arena, char **environment, const char *name, const char *value)
{
    size_t count = 0, length = strlen(name), kept = 0;
    char **result;

    while (environment[count] != NULL)
        count++;
    result = arena_array(arena, count + 2, sizeof *result);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environment[i], name, length) != 0 || environment[i][length] != '=')
            result[kept++] = environment[i];
    if (value != NULL)
        result[kept] = arena_printf(arena, "%s=%s", name, value);
    return result;
}

/* N in digits; NULL, no variable, for 0. */
static const char *
number_text(struct arena *arena, uint64_t n)
{
    return n != 0 ? arena_printf(arena, "%" PRIu64, n) : NULL;
}

/* TEXT, the value of the option NAME, in milliseconds; 0 for NULL. */
static int
parse_seconds(const char *name, const char *text, uint64_t *ret_ms, struct err *err)
{
    char *end;
    double seconds;

    if (text == NULL)
        return 0;
    seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds >= 0.001) || seconds > SECONDS_MAX)
        return err_set(err, HEAPTAP_USAGE,
                       "option '--%s': '%.60s' is no time; write seconds such as 10 or 0.5", name,
                       text);
    *ret_ms = (uint64_t)(seconds * 1000 + 0.5);
    return 0;
}

static int
check_snapshots(struct err *err)
{
    if (snapshot_signal != NULL && (snapshot_signal_number = signal_number(snapshot_signal)) == 0)
        return err_set(err, HEAPTAP_USAGE,
                       "option '--snapshot-signal': '%.60s' is no signal that a program can be "
                       "sent for this; use one such as USR1, USR2 or RTMIN+1",
                       snapshot_signal);
    if (max_memory != 0 && max_memory < MAX_MEMORY_LEAST)
        return err_set(err, HEAPTAP_USAGE,
                       "option '--max-memory': the recorder needs 1M before it records anything");
    return 0;
}

/* What is asked of the recorder, refused here because it can only ignore it. */
static int
check_wanted(struct err *err)
{
    int r = sampling_check(sample_bytes, sample_count, err);

    if (r == 0 && frames > DISK_DEPTH_MAX)
        r = err_set(err, HEAPTAP_USAGE,
                    "option '--frames': at most %d frames of a stack are kept, also without it",
                    DISK_DEPTH_MAX);
    if (r == 0)
        r = parse_seconds("delay", delay, &delay_ms, err);
    if (r == 0)
        r = parse_seconds("snapshot-every", snapshot_every, &snapshot_every_ms, err);
    if (r == 0)
        r = check_snapshots(err);
    return r == 0 ? parse_seconds("duration", duration, &duration_ms, err) : r;
}

/* The environment of the program, of which we are the new process. */
static char **
make_environment(void *arg)
{
    struct session *s = arg;
    struct arena *a = &s->arena;
    const char *before = getenv("LD_PRELOAD"), *others = NULL;
    char **e = environ;

    if (no_children)
        others = "";
    else if (s->own_directory)
        others = choose_others(s);
    e = with_variable(a, e, "LD_PRELOAD",
                      arena_printf(a, "%s%s%s%s%s", s->hooks.path ? s->hooks.path : "",
                                   s->hooks.path ? ":" : "", s->library,
                                   before && *before ? ":" : "", before ? before : ""));
    e = with_variable(a, e, ENVIRONMENT_OUT, s->pattern);
    e = with_variable(a, e, ENVIRONMENT_SESSION, arena_printf(a, "%" PRIx64, s->id));
    e = with_variable(a, e, ENVIRONMENT_PID, arena_printf(a, "%d", (int)getpid()));
    e = with_variable(a, e, ENVIRONMENT_OTHERS, others);
    e = with_variable(a, e, ENVIRONMENT_ONLY, only);
    if (reserve_bytes != 0)
        e = with_variable(a, e, ENVIRONMENT_RESERVE, arena_printf(a, "%" PRIu64, reserve_bytes));
    e = with_variable(a, e, ENVIRONMENT_FRAMES, number_text(a, frames));
    e = with_variable(a, e, ENVIRONMENT_SAMPLE, number_text(a, sample_bytes));
    e = with_variable(a, e, ENVIRONMENT_SAMPLE_COUNT, number_text(a, sample_count));
    e = with_variable(a, e, ENVIRONMENT_DELAY, number_text(a, delay_ms));
    e = with_variable(a, e, ENVIRONMENT_DURATION, number_text(a, duration_ms));
    e = with_variable(a, e, ENVIRONMENT_MAX_MEMORY, number_text(a, max_memory));
    e = with_variable(a, e, ENVIRONMENT_SNAPSHOT_GROWTH, number_text(a, snapshot_growth));
    e = with_variable(a, e, ENVIRONMENT_SNAPSHOT_SIGNAL,
                      number_text(a, (uint64_t)snapshot_signal_number));
    return e;
}

/* Add the profiles of this session that are in DIRECTORY, that of process PID first. */
static void
find_profiles(struct session *s, const char *directory, pid_t pid)
{
    DIR *d = opendir(directory);
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL) {
        const char *path = strcmp(directory, ".") == 0
                               ? e->d_name
                               : arena_printf(&s->arena, "%s/%s", directory, e->d_name);
        struct disk_header h;

        if (e->d_name[0] == '.' || !origin_header(path, &h) || h.session_id != s->id)
            continue;
        arena_grow(&s->arena, &s->paths, &s->capacity, s->count, sizeof *s->paths);
        s->paths[s->count++] = arena_strdup(&s->arena, path);
        if (h.pid == (uint32_t)pid && s->count > 1) {
            const char *swap = s->paths[0];

            s->paths[0] = s->paths[s->count - 1];
            s->paths[s->count - 1] = swap;
        }
    }
    if (d != NULL)
        closedir(d);
}

/* The directory of this run's other processes, if it exists; else NULL. */
static const char *
others_found(struct session *s, pid_t pid)
{
    const char *wanted = output ? output : PROFILE_DEFAULT_NAME;
    const char *path = s->own_directory ? others_path(s, wanted, pid) : NULL;
    struct stat st;

    // Left empty by a process that was killed while it started, or made when nobody came.
    return path == NULL || rmdir(path) == 0 || lstat(path, &st) != 0 || !S_ISDIR(st.st_mode)
               ? NULL
               : path;
}

static void
summarise(const struct profile *p, const char *path, bool main_process)
{
    struct arena a = {0};
    const struct counters *t = &p->totals;
    struct stat st = {0};

    stat(path, &st);
    if (main_process) {
        fprintf(stderr,
                "heaptap: %s%s allocations, %s in all; peak %s; still live at end %s in %s\n",
                profile_is_estimate(p) ? "about " : "", style_count(&a, t->allocations),
                style_bytes(&a, t->allocated_bytes), style_bytes(&a, t->peak_bytes),
                style_bytes(&a, counters_live_bytes(t)),
                style_plural(&a, counters_live_blocks(t), "block"));
        if (p->losses.events)
            fprintf(stderr, "heaptap: %s not recorded\n",
                    style_plural(&a, (int64_t)p->losses.events, "event"));
    }
    fprintf(stderr, "heaptap: profile %s (%s)\n", style_clean(&a, path),
            style_bytes(&a, st.st_size));
    arena_release(&a);
}

static bool
pack_profile(struct profile *p, const char *path, struct err *err)
{
    if (view_symbolise_quietly(p) != 0)
        return false;
    symbol_types(p, NULL);
    return pack_write(path, p, path, err) == 0;
}

/* Pack the profile at PATH and tell about it if TOLD. A profile that cannot be packed is still a
 * profile.
 */
static void
finish_profile(struct session *s, const char *path, bool main_process, bool told)
{
    struct err err = {""};
    struct profile *p;

    if (profile_open(path, &p, &err) < 0) {
        say_warning("%s", err.text);
        return;
    }
    s->living += !p->process.ended;
    counters_add(&s->total, &p->totals);
    growth_recorded(&s->growth, p);
    if (!no_pack && p->process.ended && !launch_interrupted() && !pack_profile(p, path, &err))
        say_warning("not packed: %s", err.text[0] ? err.text : path);
    if (!quiet && told)
        summarise(p, path, main_process);
    profile_free(p);
}

/* Tell about the profiles after those named, which are in DIRECTORY. */
static void
summarise_session(struct session *s, size_t named, const char *directory)
{
    const struct counters *t = &s->total;

    if (s->count > named) {
        fprintf(stderr, "heaptap: %s, together %s allocations, %s, and %s still live at end\n",
                style_plural(&s->arena, (int64_t)s->count, "profile"),
                style_count(&s->arena, t->allocations), style_bytes(&s->arena, t->allocated_bytes),
                style_bytes(&s->arena, counters_live_bytes(t)));
        fprintf(stderr, "heaptap: see them as one with: heaptap report %s\n",
                style_clean(&s->arena, directory));
    }
    if (s->living > 0)
        fprintf(stderr,
                "heaptap: %zu of them still being written; pack them when their processes have "
                "ended\n",
                s->living);
    if (launch_interrupted() && !no_pack)
        fprintf(stderr, "heaptap: interrupted; `heaptap pack` packs what is left\n");
}

/* What is left to do when the program, process PID, has ended. */
static void
finish(struct session *s, pid_t pid, const char *program)
{
    bool progress = isatty(STDERR_FILENO) && !quiet && !no_pack;
    const char *others = others_found(s, pid);
    size_t named;

    find_profiles(s, s->directory, pid);
    named = s->count < PROFILES_TOLD ? s->count : PROFILES_TOLD;
    if (others != NULL)
        find_profiles(s, others, pid);
    if (s->count == 0 && !quiet && !growth_is_strange(&s->growth))
        say_warning(only ? "no process named '%s' left a profile"
                         : "%s left no profile: it never allocated, or the recorder could not be "
                           "loaded or write its file (a message above tells)",
                    only ? only : program);
    for (size_t i = 0; i < s->count; i++) {
        if (progress && s->count > PROFILES_TOLD)
            fprintf(stderr, "\rheaptap: packing, %zu of %zu\x1b[K", i + 1, s->count);
        if (progress && s->count > PROFILES_TOLD && (i < named || i + 1 == s->count))
            fputs("\r\x1b[K", stderr);
        finish_profile(s, s->paths[i], i == 0, i < named);
    }
    if (!quiet)
        summarise_session(s, named, others != NULL ? others : s->directory);
}

static int
fail(struct session *s, int r, const struct err *err)
{
    say_error("%s", err->text);
    arena_release(&s->arena);
    return r == HEAPTAP_NOT_FOUND ? 127 : exit_code(r);
}

/* In how many ns to look at the memory again: seldom, but a short run often enough. */
static uint64_t
look_at_memory(struct session *s, pid_t pid)
{
    // Whoever leaves processes out knows that their memory is missing.
    if (quiet || only != NULL || no_children)
        return LOOK_LAST_NS;
    growth_look(&s->growth, pid);
    // The last look at a program comes when it has lived four fifths of its time.
    s->look_ns = s->look_ns == 0 ? LOOK_FIRST_NS : s->look_ns + s->look_ns / 4;
    if (s->look_ns > LOOK_LAST_NS)
        s->look_ns = LOOK_LAST_NS;
    return s->look_ns;
}

static uint64_t
take_snapshots(struct session *s, pid_t pid)
{
    struct periodic *p = &s->periodic;

    if (snapshot_every_ms == 0)
        return LOOK_LAST_NS;
    if (p->period_ns == 0)
        *p = (struct periodic){
            .session_id = s->id,
            .period_ns = snapshot_every_ms * NS_PER_MS,
            .directories = {
                s->directory,
                s->own_directory ? others_path(s, output ? output : PROFILE_DEFAULT_NAME, pid)
                                 : NULL}};
    return periodic_look(p);
}

/* While process PID runs. */
static uint64_t
look(void *arg, pid_t pid)
{
    uint64_t memory_ns = look_at_memory(arg, pid), snapshots_ns = take_snapshots(arg, pid);

    return memory_ns < snapshots_ns ? memory_ns : snapshots_ns;
}

static int
explain_hooks(void)
{
    struct strbuf out = {0};

    hook_kinds_explain(&out);
    fputs(strbuf_text(&out), stdout);
    strbuf_release(&out);
    return 0;
}

static int
run(int count, char **arguments)
{
    struct launch l = {.environment = make_environment};
    struct session s = {.total = COUNTERS_ZERO};
    struct err err = {""};
    int r, status = 0;
    pid_t pid = 0;

    for (size_t i = 0; i < hooks.count; i++)
        if (hook_kinds_is_question(hooks.items[i]))
            return explain_hooks();
    if (count == 0) {
        say_error("run: an argument is missing: heaptap run %s", command_run.arguments);
        say_hint("heaptap run --help explains the command");
        return EXIT_USAGE;
    }
    l.environment_arg = &s;
    l.look = look;
    l.look_arg = &s;
    l.arguments = arena_array(&s.arena, (size_t)count + 1, sizeof *l.arguments); // NULL at its end.
    memcpy(l.arguments, arguments, (size_t)count * sizeof *l.arguments);
    for (size_t i = 0; i < hooks.count; i++)
        if ((r = hook_kinds_add(&s.hooks.list, &s.arena, hooks.items[i], &err)) < 0)
            return fail(&s, r, &err);
    if (getrandom(&s.id, sizeof s.id, 0) != sizeof s.id)
        s.id = (uint64_t)getpid();
    s.id |= 1; // 0 means no session.
    if ((r = check_wanted(&err)) < 0 || (r = launch_library(&s.arena, &s.library, &err)) < 0 ||
        (r = launch_find(arguments[0], &s.arena, &l.path, &err)) < 0 ||
        (r = choose_output(&s, &err)) < 0 ||
        (s.name = file_name(&s.arena, l.path), r = check_others(&s, &err)) < 0 ||
        (r = hook_run_begin(&s.hooks, s.library, s.directory, &s.arena, &err)) < 0)
        return fail(&s, r, &err);
    r = launch_wait(&l, &pid, &status, &err);
    if (r < 0) {
        hook_run_remove(&s.hooks);
        return fail(&s, r, &err);
    }
    finish(&s, pid, arguments[0]);
    growth_tell(&s.growth, &s.hooks.list);
    growth_release(&s.growth);
    // With a reserve the recorder tells nothing but what is in the profile.
    hook_run_end(&s.hooks, l.path, s.living > 0, quiet || reserve_bytes != 0, &s.arena);
    arena_release(&s.arena);
    launch_end_like(status);
}

const struct command command_run = {
    .name = "run",
    .arguments = "[--] PROGRAM [ARGUMENT...]",
    .summary = "record a program and the processes it starts",
    .description =
        "Runs PROGRAM with the recorder preloaded and records every allocation and free with its "
        "whole stack (of deep ones the innermost 1024 frames). The profile is a mapped file that "
        "is complete at every moment, also when the program is killed.\n\n"
        "The program's output, exit status and signals are its own; heaptap's exit status is the "
        "program's. Processes that it starts are recorded into profiles of their own. Signals "
        "sent to heaptap are passed on, and job control works as without it.\n\n"
        "When the program has ended, its profiles are packed (symbols added, compressed) and a "
        "short summary goes to stderr. Without `heaptap run`, set LD_PRELOAD to libheaptap.so and "
        "HEAPTAP_OUT to the file.",
    .examples = "heaptap run ./server --port 80\trecord a server\n"
                "heaptap run --snapshot-every 60 ./server\tand what is live each minute\n"
                "heaptap run -o before.heaptap -- jq .name big.json\tchoose the file\n"
                "heaptap run -o profiles/ -- make -j4\tone profile for each process\n"
                "heaptap run --only cc1,ld -- make\tonly the compiler and the linker",
    .options = options,
    .stop_at_first = true,
    .min_arguments = 0, // --hook list stands alone.
    .max_arguments = -1,
    .run = run,
};
