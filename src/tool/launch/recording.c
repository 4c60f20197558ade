/* recording.c: preload the recorder and pass its settings.
 *
 * The recorder precedes every other preloaded library. Its settings are passed in the environment
 * (format/environment.h), which reaches every process of the run. A nested run inherits only the
 * reserve of the outer run. */
#include "launch/recording.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/environment.h"
#include "format/run_stderr.h"
#include "util/path.h"

/* Find the library NAME beside this program. */
static int
find_library(const char *library, struct arena *arena, const char **ret_path, struct err *err)
{
    static const char *const places[] = {"", "../lib/heaptap/"};
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    self[length > 0 ? length : 0] = '\0';
    slash = strrchr(self, '/');
    if (slash == NULL)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "cannot determine where heaptap is installed (/proc/self/exe is "
                       "unreadable)");
    *slash = '\0';
    for (size_t i = 0; i < countof(places); i++) {
        *ret_path = arena_printf(arena, "%s/%s%s", self, places[i], library);
        if (access(*ret_path, R_OK) == 0)
            return 0;
    }
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "%s is missing in %s and in %s/../lib/heaptap; run `make` or `make install`",
                   library, self, self);
}

int
recording_library(struct arena *arena, const char **ret_path, struct err *err)
{
    int r = find_library("libheaptap.so", arena, ret_path, err);

    if (r == 0 && strpbrk(*ret_path, " :") != NULL)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "the loader cannot preload %s, because of the blank or colon in its path; "
                       "install heaptap elsewhere",
                       *ret_path);
    return r;
}

int
recording_attached(struct arena *arena, const char **ret_path, struct err *err)
{
    return find_library("libheaptap_attach.so", arena, ret_path, err);
}

/* ld.so replaces $PLATFORM by the kernel's name for the platform or by glibc's for the processor.
 * The Makefile lists them. The names for 64 and 32 bits differ. $LIB does not suffice, because it
 * is "lib" for 64 bits on one distribution and for 32 bits on another. */
const char *
recording_preload_entry(struct arena *arena, const char *path)
{
    const char *name = path_basename(path);
    const char *directory = arena_strndup(arena, path, (size_t)(name - path));
    const char *platform = (const char *)getauxval(AT_PLATFORM);

    if (platform == NULL || strcmp(platform, "x86_64") != 0 ||
        access(arena_printf(arena, "%spreload/%s/%s", directory, platform, name), R_OK) != 0)
        return path;
    return arena_printf(arena, "%spreload/$PLATFORM/%s", directory, name);
}

/* Return ENVIRONMENT with NAME set to VALUE, or without NAME if VALUE is NULL. From ARENA. */
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

/* Return N in digits; NULL, which means no variable, for 0. */
static const char *
number_text(struct arena *arena, uint64_t n)
{
    return n != 0 ? arena_printf(arena, "%" PRIu64, n) : NULL;
}

/* Return the old LD_PRELOAD with our libraries in front. From ARENA. */
static const char *
preloaded(const struct recording_run *run, struct arena *arena)
{
    const char *before = getenv("LD_PRELOAD");

    return arena_printf(arena, "%s%s%s%s%s%s", run->stubs ? run->stubs : "", run->stubs ? ":" : "",
                        recording_preload_entry(arena, run->library), run->adapters,
                        before && *before ? ":" : "", before ? before : "");
}

/* Return the device and inode of stderr, which identify it for a program that shares it with run. A
 * substitute for a closed stderr (main.c) is not shared. */
static const char *
stderr_text(struct arena *arena)
{
    int flags = fcntl(STDERR_FILENO, F_GETFD);
    struct stat st;

    return flags >= 0 && (flags & FD_CLOEXEC) == 0 && fstat(STDERR_FILENO, &st) == 0
               ? arena_printf(arena, "%" PRIu64 ":%" PRIu64, (uint64_t)st.st_dev,
                              (uint64_t)st.st_ino)
               : RUN_STDERR_NONE;
}

char **
recording_environment(const struct recording *r, const struct recording_run *run,
                      struct arena *arena)
{
    struct arena *a = arena;
    char **e = environ;

    e = with_variable(a, e, "LD_PRELOAD", preloaded(run, a));
    e = with_variable(a, e, ENVIRONMENT_OUT, run->pattern);
    if (run->node_options != NULL)
        e = with_variable(a, e, "NODE_OPTIONS", run->node_options);
    // The width is fixed: a program that copies its environment allocates as much in each run.
    e = with_variable(a, e, ENVIRONMENT_SESSION, arena_printf(a, "%016" PRIx64, run->session_id));
    e = with_variable(a, e, ENVIRONMENT_PID, arena_printf(a, "%d", (int)getpid()));
    e = with_variable(a, e, ENVIRONMENT_OTHERS, run->others);
    e = with_variable(a, e, ENVIRONMENT_UNRECORDED, run->unrecorded);
    e = with_variable(a, e, ENVIRONMENT_STDERR, stderr_text(a));
    e = with_variable(a, e, ENVIRONMENT_ONLY, r->only);
    if (r->reserve_bytes != 0)
        e = with_variable(a, e, ENVIRONMENT_RESERVE, number_text(a, r->reserve_bytes));
    e = with_variable(a, e, ENVIRONMENT_SELF_CONTAINED, r->self_contained ? "1" : NULL);
    e = with_variable(a, e, ENVIRONMENT_ANNOTATE, number_text(a, r->annotate_frames));
    e = with_variable(a, e, ENVIRONMENT_GUARD, number_text(a, r->guard_bytes));
    e = with_variable(a, e, ENVIRONMENT_CHECK_EVERY, number_text(a, r->check_every));
    e = with_variable(a, e, ENVIRONMENT_FRAMES, number_text(a, r->frames));
    e = with_variable(a, e, ENVIRONMENT_CALLERS, number_text(a, r->callers_period));
    e = with_variable(a, e, ENVIRONMENT_MAX_OVERHEAD, number_text(a, r->max_overhead));
    e = with_variable(a, e, ENVIRONMENT_SAMPLE, number_text(a, r->sample_bytes));
    e = with_variable(a, e, ENVIRONMENT_SAMPLE_COUNT, number_text(a, r->sample_count));
    e = with_variable(a, e, ENVIRONMENT_DELAY, number_text(a, r->delay_ms));
    e = with_variable(a, e, ENVIRONMENT_DURATION, number_text(a, r->duration_ms));
    e = with_variable(a, e, ENVIRONMENT_MAX_MEMORY, number_text(a, r->max_memory_bytes));
    e = with_variable(a, e, ENVIRONMENT_SNAPSHOT_GROWTH, number_text(a, r->snapshot_growth_bytes));
    e = with_variable(a, e, ENVIRONMENT_SNAPSHOT_SIGNAL,
                      number_text(a, (uint64_t)r->snapshot_signal));
    return e;
}
