/* cmd_snapshot.c: `heaptap snapshot`: name the present moment of a running program.
 *
 * The recorder notes the moment and copies nothing: each counter writes down what it was before it
 * next changes. So a snapshot costs the program little, and reports can show it at any later time.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "option/opts.h"
#include "profile/control.h"
#include "profile/origin.h"
#include "profile/profile.h"
#include "view/style.h"

#define NS_PER_S UINT64_C(1000000000)

enum { WAIT_S_MAX = 3600 };

struct snapshot_options {
    uint64_t wait_s;
};
static const struct snapshot_options defaults = {.wait_s = 5};

static int
check_name(const char *name, uint64_t wait_s, struct err *err)
{
    if (wait_s > WAIT_S_MAX)
        return err_set(err, HEAPTAP_USAGE, "option '--wait': at most an hour, %d seconds",
                       WAIT_S_MAX);
    if (*name == '\0')
        return err_set(err, HEAPTAP_USAGE, "a snapshot needs a name");
    if (strlen(name) > DISK_SNAPSHOT_NAME_BYTES)
        return err_set(err, HEAPTAP_USAGE,
                       "the name of a snapshot has at most %d bytes; '%s' has %zu",
                       DISK_SNAPSHOT_NAME_BYTES, name, strlen(name));
    return 0;
}

/* A process that has been asked. */
struct asked {
    struct control control;
    bool waits;
};

static int
ask(const char *what, const char *name, uint64_t wait_ns, struct asked *ret, struct arena *a,
    struct err *err)
{
    const char *path = what;
    uint32_t pid;
    int r = origin_is_pid(what, &pid) ? origin_of_pid(pid, a, &path, err) : 0;

    if (r == 0)
        r = control_open(path, &ret->control, err);
    if (r < 0)
        return r;
    r = control_ask_snapshot(&ret->control, name, wait_ns, err);
    ret->waits = r == 0;
    if (r < 0)
        control_close(&ret->control);
    return r;
}

static bool
lives(const char *path)
{
    struct disk_header h;

    return !origin_header(path, &h) ||
           (h.state != DISK_STATE_PACKED && owner_find(path, &h).state != OWNER_GONE);
}

static uint64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* The exit code for R; says what ERR does if that is a failure. */
static int
tell(int r, const struct err *err)
{
    if (r < 0)
        say_error("%s", err->text);
    return r == HEAPTAP_NOT_FOUND ? EXIT_FINDINGS : r < 0 ? exit_code(r) : 0;
}

/* All are asked before any is waited for: one that allocates nothing would hold up the others. */
static int
ask_all(const char **paths, size_t count, const char *name, uint64_t wait_ns, struct arena *a)
{
    struct asked *asked = arena_array(a, count, sizeof *asked);
    uint64_t until_ns = now_ns() + wait_ns;
    struct err err = {""};
    size_t living = 0;
    int worst = 0;

    for (size_t i = 0; i < count; i++) {
        int code;

        // Of a session, processes that have ended are no mistake.
        if (count > 1 && !lives(paths[i]))
            continue;
        living++;
        code = tell(ask(paths[i], name, wait_ns, &asked[i], a, &err), &err);
        worst = code > worst ? code : worst;
    }
    if (living == 0) {
        say_error("all processes of the session have ended: nothing can be asked of them");
        return EXIT_BAD_INPUT;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t now = now_ns();
        int code;

        if (!asked[i].waits)
            continue;
        code = tell(control_finish(&asked[i].control, until_ns > now ? until_ns - now : 0, &err),
                    &err);
        if (code == 0)
            printf("process %s: snapshot '%s'\n", asked[i].control.name, style_clean(a, name));
        control_close(&asked[i].control);
        worst = code > worst ? code : worst;
    }
    return worst;
}

static int
run(const void *given, int count, char **arguments)
{
    const struct snapshot_options *o = given;
    struct err err = {""};
    struct arena a = {0};
    size_t path_count = 0;
    const char **paths = NULL;
    int r = check_name(arguments[1], o->wait_s, &err);

    (void)count;
    if (r == 0)
        r = profile_list_session(arguments[0], &a, &paths, &path_count, &err);
    r = r < 0 ? tell(r, &err) : ask_all(paths, path_count, arguments[1], o->wait_s * NS_PER_S, &a);
    arena_release(&a);
    return r;
}

static const struct opt options[] = {
    {OPT_COUNT, 0, "wait", &defaults.wait_s, "SECONDS",
     "Wait that long for the program to take the snapshot; 5 by default.", NULL},
    {.kind = OPT_END},
};

const struct command command_snapshot = {
    .name = "snapshot",
    .arguments = "PID|PROFILE|DIRECTORY NAME",
    .summary = "name the present moment of a running program",
    .description =
        "Takes a snapshot called NAME (at most 32 bytes) of what a running program has allocated. "
        "Every view then shows the profile as it was at that moment (--at NAME) or what happened "
        "since (--between NAME..end). Of a session, all processes that live are asked.\n\n"
        "Names may be given again: --at NAME is the latest, --at NAME#1 the first.\n\n"
        "The program takes the snapshot when it next looks: every 256 events of a thread, or every "
        "256 KiB of its allocations when not everything is recorded. A program that allocates "
        "nothing does not look; the request stays in its profile until it does. The exit status "
        "is 0 when it was taken, and 1 when it was not yet.",
    .examples = "heaptap snapshot 1234 warm\tafter the caches have filled\n"
                "heaptap report --between warm..end 1234\twhat was allocated since, and kept\n"
                "heaptap diff --flamegraph new.svg 1234@warm 1234\tthe same as a picture",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 2,
    .max_arguments = 2,
    .run = run,
};
