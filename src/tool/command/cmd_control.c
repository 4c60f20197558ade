/* cmd_control.c: `heaptap record`: show or change the recording mode of a running program.
 *
 * The program accepts a request at its next check (profile/control.c). So this command waits for a
 * few seconds (process_requests.c) and reports whether the request was accepted. */
#include "command/run_summary.h"
#include "command/sink.h"
#include "load/load.h"
#include "option/opts.h"
#include "option/shared_opts.h"
#include "profile/listing.h"
#include "profile/origin.h"
#include "view/phrases.h"
#include "view/style.h"

enum { WAIT_S_MAX = 3600 };

struct control_options {
    const char *callers;
    uint64_t sample_bytes, sample_count, wait_s;
    bool exact, off;
};
static const struct control_options defaults = {.wait_s = 5};

static const struct opt options[] = {
    {OPT_SIZE, 0, "sample", &defaults.sample_bytes, "SIZE",
     "From now on record one block in SIZE bytes, as heaptap run does with that option.", NULL},
    {OPT_COUNT, 0, "sample-count", &defaults.sample_count, "N", "From now on record one call in N.",
     NULL},
    {OPT_STRING, 0, "callers", &defaults.callers, "1/N",
     "From now on record everything, but the callers of one allocation in N only, as heaptap run "
     "does with that option.",
     NULL},
    {OPT_FLAG, 0, "exact", &defaults.exact, NULL, "From now on record everything.", NULL},
    {OPT_FLAG, 0, "off", &defaults.off, NULL,
     "From now on record no new block. The frees of those recorded before are still followed.",
     NULL},
    {OPT_COUNT_0, 0, "wait", &defaults.wait_s, "SECONDS",
     "Wait that long for the program to take the request; 5 by default.", NULL},
    {0},
};

static int
check_options(const struct control_options *o, struct err *err)
{
    int modes = (o->sample_bytes != 0) + (o->sample_count != 0) + (o->callers != NULL) + o->exact +
                o->off;

    if (modes > 1)
        return err_set(err, HEAPTAP_USAGE,
                       "options '--callers', '--sample', '--sample-count', '--exact' and '--off' "
                       "exclude each other");
    if (o->wait_s > WAIT_S_MAX)
        return err_set(err, HEAPTAP_USAGE, "option '--wait': at most an hour, %d seconds",
                       WAIT_S_MAX);
    return sample_opts_check(o->sample_bytes, o->sample_count, err);
}

/* Store the requested recording mode in *RET, with CALLERS_PERIOD. Return false if the options
 * request none. */
static bool
wanted_mode(const struct control_options *o, uint64_t callers_period,
            struct profile_recording_mode *ret)
{
    if (o->sample_bytes != 0)
        *ret = (struct profile_recording_mode){.mode = MODE_BYTES, .period = o->sample_bytes};
    else if (o->sample_count != 0)
        *ret = (struct profile_recording_mode){.mode = MODE_COUNT, .period = o->sample_count};
    else
        *ret = (struct profile_recording_mode){.mode = o->off ? MODE_OFF : MODE_EXACT,
                                               .callers_period = callers_period};
    return o->sample_bytes != 0 || o->sample_count != 0 || o->off || o->exact ||
           o->callers != NULL;
}

/* Print the recording mode of the profile at PATH to stdout. Reports failures; returns the exit
 * code. */
static int
cmd_control_show(const char *path)
{
    struct arena a = {0};
    struct err err = {""};
    struct profile *p;
    const struct profile_recording_mode *mode;
    const char *since = "its start";
    int r = profile_open(path, &p, &err);

    if (r < 0) {
        message_error("%s", err.text);
        return exit_code(r);
    }
    mode = &p->modes[p->mode_count - 1];
    if (p->mode_count > 1)
        since = arena_printf(&a, "%s after its start", style_duration(&a, mode->elapsed_ns));
    r = sink_print(arena_printf(&a, "process %s: %s, since %s\n", profile_pid_text(p, &a),
                                sampling_mode(&a, mode), since));
    profile_free(p);
    arena_release(&a);
    return r;
}

/* Print the recording mode of the process given by its profile or pid. Returns as
 * cmd_control_show. */
static int
cmd_control_show_one(const char *what)
{
    struct arena a = {0};
    struct err err = {""};
    const char *path = what;
    uint32_t pid;
    int r = origin_is_pid(what, &pid) ? origin_of_pid(pid, &a, &path, &err) : 0;

    if (r < 0)
        message_error("%s", err.text);
    r = r < 0 ? exit_code(r) : cmd_control_show(path);
    arena_release(&a);
    return r;
}

static int
show_all(const char **paths, size_t count)
{
    int worst = 0;

    for (size_t i = 0; i < count; i++) {
        int code = cmd_control_show_one(paths[i]);

        worst = code > worst ? code : worst;
    }
    return worst;
}

static int
cmd_control_ask(struct control *c, const void *wanted, uint64_t wait_ns, struct err *err)
{
    const struct profile_recording_mode *mode = wanted;

    return mode->callers_period != 0
               ? control_request_callers(c, mode->callers_period, wait_ns, err)
               : control_request_mode(c, (enum disk_mode)mode->mode, mode->period, wait_ns, err);
}

static int
cmd_control_report(const struct control *c, const void *mode, struct arena *a)
{
    return sink_print(
        arena_printf(a, "process %s: from now on %s\n", c->name, sampling_mode(a, mode)));
}

static int
cmd_control_run(const void *given, int count, char **arguments)
{
    const struct control_options *o = given;
    struct err err = {""};
    struct arena a = {0};
    size_t path_count = 0;
    const char **paths;
    struct profile_recording_mode mode;
    const struct process_request process_request = {cmd_control_ask, cmd_control_report, &mode,
                                                    o->wait_s};
    uint64_t callers_period = 0;
    int r = check_options(o, &err);

    (void)count;
    if (r == 0)
        r = sample_opts_callers(o->callers, &callers_period, &err);
    if (r == 0)
        r = profile_list_session(arguments[0], &a, &paths, &path_count, &err);
    if (r < 0)
        message_error("%s", err.text);
    if (r < 0)
        r = exit_code(r);
    else if (wanted_mode(o, callers_period, &mode))
        r = process_requests_send(paths, path_count, &process_request, &a);
    else
        r = show_all(paths, path_count);
    arena_release(&a);
    return r;
}

const struct command command_control = {
    .name = "record",
    .alias = "control",
    .arguments = "PROFILE|PID|DIRECTORY",
    .summary = "change how a running program is recorded",
    .description =
        "Asks the recorder in a running program to change its recording mode. Without options, "
        "prints the current mode. For a session, asks all living processes.\n"
        "\n"
        "A thread checks for requests every 256 events or sooner, or every 256 KiB that it "
        "allocates when not everything is recorded. A program that does not allocate never checks; "
        "the request waits in its profile. The exit status is 0 if the request was accepted, and 1 "
        "if it still waits.\n"
        "\n"
        "Estimates and exact counts are added up; the report shows when each mode was in force.",
    .examples = "heaptap record 1234\thow is it recorded?\n"
                "heaptap record 1234 --exact\trecord everything from now on\n"
                "heaptap record 1234 --callers 1/64\tat less cost, with exact sites\n"
                "heaptap record 1234 --sample 512K\tand now at next to no cost",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = cmd_control_run,
};
