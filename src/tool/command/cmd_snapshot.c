/* cmd_snapshot.c: `heaptap snapshot`: name the present moment of a running program.
 *
 * The recorder stores the moment and copies nothing: each counter saves its old value before its
 * next change. So a snapshot costs the program little, and a report can show it at any later
 * time. */
#include <string.h>

#include "command/run_summary.h"
#include "command/sink.h"
#include "option/opts.h"
#include "profile/listing.h"
#include "profile/time_slice.h"
#include "view/style.h"

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
    if (time_slice_is_reserved(name))
        return err_set(err, HEAPTAP_USAGE,
                       "'%s' cannot name a snapshot: --at and --between read start, end, peak, "
                       "times such as 90s, and A..B by their own meaning; choose another name",
                       name);
    return 0;
}

static int
cmd_snapshot_ask(struct control *c, const void *name, uint64_t wait_ns, struct err *err)
{
    return control_request_snapshot(c, name, wait_ns, err);
}

static int
cmd_snapshot_report(const struct control *c, const void *name, struct arena *a)
{
    return sink_print(
        arena_printf(a, "process %s: snapshot '%s'\n", c->name, style_clean(a, name)));
}

static int
cmd_snapshot_run(const void *given, int count, char **arguments)
{
    const struct snapshot_options *o = given;
    struct err err = {""};
    struct arena a = {0};
    size_t path_count = 0;
    const char **paths = NULL;
    const struct process_request process_request = {cmd_snapshot_ask, cmd_snapshot_report,
                                                    arguments[1], o->wait_s};
    int r = check_name(arguments[1], o->wait_s, &err);

    (void)count;
    if (r == 0)
        r = profile_list_session(arguments[0], &a, &paths, &path_count, &err);
    if (r < 0)
        message_error("%s", err.text);
    r = r < 0 ? exit_code(r) : process_requests_send(paths, path_count, &process_request, &a);
    arena_release(&a);
    return r;
}

static const struct opt options[] = {
    {OPT_COUNT_0, 0, "wait", &defaults.wait_s, "SECONDS",
     "Wait that long for the program to take the snapshot; 5 by default.", NULL},
    {.kind = OPT_END},
};

const struct command command_snapshot = {
    .name = "snapshot",
    .arguments = "PID|PROFILE|DIRECTORY NAME",
    .summary = "name the present moment of a running program",
    .description =
        "Takes a snapshot called NAME (at most 32 bytes) of a running program's allocations. Every "
        "view can then show the profile as it was at that moment (--at NAME), or the events since "
        "(--between NAME..end). For a session, asks all living processes.\n"
        "\n"
        "Names may repeat: --at NAME is the latest, --at NAME#1 the first. start, end, peak, times "
        "such as 90s, and names with .. are refused, because --at and --between give them another "
        "meaning.\n"
        "\n"
        "A thread checks for requests every 256 events or sooner, or every 256 KiB that it "
        "allocates when not everything is recorded. A program that does not allocate never checks; "
        "the request waits in its profile. The exit status is 0 if the snapshot was taken, and 1 "
        "if the request still waits.",
    .examples = "heaptap snapshot 1234 warm\tafter the caches have filled\n"
                "heaptap report --between warm..end 1234\twhat was allocated since, and kept\n"
                "heaptap diff --flamegraph new.svg 1234@warm 1234\tthe same as a picture",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 2,
    .max_arguments = 2,
    .run = cmd_snapshot_run,
};
