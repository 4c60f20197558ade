/* cmd_run.c: `heaptap run`, the front door: record a program, then tell in three lines what came
 * of it.
 *
 * The program's end is the end of our work, however it came: its profile is complete in its file.
 * What is left to do is a service: find the profiles of this run (their headers carry its session
 * id), add symbols, compress, and say where they are. Profiles of processes that still live are
 * left as they are.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/launch.h"
#include "cli/opts.h"
#include "cli/view.h"
#include "profile/origin.h"
#include "profile/pack.h"
#include "report/style.h"
#include "util/strbuf.h"

/* A run of many processes names this many profiles and counts the rest. */
enum { PROFILES_TOLD = 3 };

static const char *output;
static bool no_pack, quiet;

static const struct opt options[] = {
    {OPT_STRING, 'o', "output", &output, "FILE",
     "Where the profile goes. %p is the process id, %e the program's name, %n a number that makes "
     "the name new. A directory gets one profile for each process. Default: "
     "heaptap.%e.%p.heaptap. Nothing is overwritten.",
     NULL},
    {OPT_FLAG, 0, "no-pack", &no_pack, NULL,
     "Leave the profile as it was recorded: no symbols added, not compressed.", NULL},
    {OPT_FLAG, 'q', "quiet", &quiet, NULL, "Print nothing of our own when the program has ended.",
     NULL},
    {0},
};

struct session {
    uint64_t id;
    const char *directory; // Where profiles appear.
    const char **paths;
    size_t count, capacity;
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

/* The absolute pattern for HEAPTAP_OUT; refuses at once what the recorder would refuse later. */
static int
choose_output(struct session *s, const char **ret_pattern, struct err *err)
{
    char cwd[4096];
    const char *wanted = output ? output : "heaptap.%e.%p.heaptap";
    const char *absolute = wanted;
    const char *slash;

    if (wanted[0] != '/') {
        if (getcwd(cwd, sizeof cwd) == NULL)
            return err_errno(err, HEAPTAP_BAD_INPUT, "cannot tell the current directory");
        absolute = arena_printf(&s->arena, "%s/%s", escape(&s->arena, cwd), wanted);
    }
    *ret_pattern = absolute;
    if (output != NULL && output[0] != '\0' && output[strlen(output) - 1] == '/')
        mkdir(output, 0700); // A session's directory; if that fails the check below says why.
    if (output != NULL && is_directory(output)) {
        s->directory = arena_strndup(&s->arena, output, trimmed_length(output));
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

/* Our environment with NAME set to VALUE. */
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
    result[kept] = arena_printf(arena, "%s=%s", name, value);
    return result;
}

static char **
make_environment(struct session *s, const char *library, const char *pattern)
{
    const char *before = getenv("LD_PRELOAD");
    const char *preload =
        before && *before ? arena_printf(&s->arena, "%s:%s", library, before) : library;
    char **e = with_variable(&s->arena, environ, "LD_PRELOAD", preload);

    e = with_variable(&s->arena, e, "HEAPTAP_OUT", pattern);
    return with_variable(&s->arena, e, "HEAPTAP_SESSION",
                         arena_printf(&s->arena, "%" PRIx64, s->id));
}

/* The profiles of this session, that of process PID first. */
static void
find_profiles(struct session *s, pid_t pid)
{
    DIR *d = opendir(s->directory);
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL) {
        const char *path = strcmp(s->directory, ".") == 0
                               ? e->d_name
                               : arena_printf(&s->arena, "%s/%s", s->directory, e->d_name);
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

static void
summarise(const struct profile *p, const char *path, bool main_process)
{
    struct arena a = {0};
    const struct counters *t = &p->totals;
    struct stat st = {0};

    stat(path, &st);
    if (main_process) {
        fprintf(stderr, "heaptap: %s allocations, %s in all; peak %s; still live at end %s in %s\n",
                style_count(&a, t->allocations), style_bytes(&a, t->allocated_bytes),
                style_bytes(&a, t->peak_bytes), style_bytes(&a, counters_live_bytes(t)),
                style_plural(&a, counters_live_blocks(t), "block"));
        if (p->losses.events)
            fprintf(stderr, "heaptap: %s not recorded\n",
                    style_plural(&a, (int64_t)p->losses.events, "event"));
    }
    fprintf(stderr, "heaptap: profile %s (%s)\n", path, style_bytes(&a, st.st_size));
    arena_release(&a);
}

/* Pack the profile at PATH and tell about it if TOLD. A profile that cannot be packed is still a
 * profile.
 */
static void
finish_profile(const char *path, bool main_process, bool told)
{
    struct err err = {""};
    struct profile *p;

    if (profile_open(path, &p, &err) < 0) {
        say_warning("%s", err.text);
        return;
    }
    if (!no_pack && p->process.ended &&
        (view_symbolise_quietly(p) != 0 || pack_write(path, p, path, &err) < 0))
        say_warning("not packed: %s", err.text[0] ? err.text : path);
    if (!quiet && told)
        summarise(p, path, main_process);
    profile_free(p);
}

static int
fail(struct session *s, int r, const struct err *err)
{
    say_error("%s", err->text);
    arena_release(&s->arena);
    return r == HEAPTAP_NOT_FOUND ? 127 : exit_code(r);
}

static int
run(int count, char **arguments)
{
    const char *program, *library, *pattern = NULL;
    struct session s = {0};
    struct err err = {""};
    int r, status = 0;
    pid_t pid = 0;
    char **argv; // Ends with NULL, as execve wants it.

    argv = arena_array(&s.arena, (size_t)count + 1, sizeof *argv);
    memcpy(argv, arguments, (size_t)count * sizeof *argv);
    if (getrandom(&s.id, sizeof s.id, 0) != sizeof s.id)
        s.id = (uint64_t)getpid();
    s.id |= 1; // 0 means no session.
    if ((r = launch_library(&s.arena, &library, &err)) < 0 ||
        (r = launch_find(arguments[0], &s.arena, &program, &err)) < 0 ||
        (r = choose_output(&s, &pattern, &err)) < 0 ||
        (r = launch_wait(program, argv, make_environment(&s, library, pattern), &pid, &status,
                         &err)) < 0)
        return fail(&s, r, &err);
    find_profiles(&s, pid);
    if (s.count == 0 && !quiet)
        say_warning(
            "%s left no profile: it never allocated, or the recorder could not be loaded or write "
            "to %s (a message above tells)",
            arguments[0], s.directory);
    for (size_t i = 0; i < s.count; i++)
        finish_profile(s.paths[i], i == 0, i < PROFILES_TOLD);
    if (s.count > PROFILES_TOLD && !quiet)
        fprintf(stderr, "heaptap: and %zu more profiles beside it, one for each process\n",
                s.count - PROFILES_TOLD);
    arena_release(&s.arena);
    launch_end_like(status);
}

const struct command command_run = {
    .name = "run",
    .arguments = "[--] PROGRAM [ARGUMENT...]",
    .summary = "record a program and the processes it starts",
    .description =
        "Runs PROGRAM with the recorder preloaded and records every allocation and free with its "
        "whole stack. The profile is a mapped file that is complete at every moment, also when the "
        "program is killed.\n\n"
        "The program's output, exit status and signals are its own; heaptap's exit status is the "
        "program's. Processes that it starts are recorded into profiles of their own.\n\n"
        "When the program has ended, its profiles are packed (symbols added, compressed) and a "
        "short summary goes to stderr. Without `heaptap run`, set LD_PRELOAD to libheaptap.so and "
        "HEAPTAP_OUT to the file.",
    .examples = "heaptap run ./server --port 80\trecord a server\n"
                "heaptap run -o before.heaptap -- jq .name big.json\tchoose the file\n"
                "heaptap run -o profiles/ -- make -j4\tone profile for each process",
    .options = options,
    .stop_at_first = true,
    .min_arguments = 1,
    .max_arguments = -1,
    .run = run,
};
