/* cmd_timeline.c: `heaptap timeline`: show a program's live bytes over time.
 *
 * For a session, all processes are summed by the wall clock (merge/merge_history.c). A named moment
 * belongs to one process, so --between with names requires that one process is selected. */
#include "command/runner.h"
#include "command/sink.h"
#include "json/json.h"
#include "profile/time_slice.h"
#include "svg/svg.h"
#include "text/text.h"
#include "view/phrases.h"

enum { TEXT_ROWS = 5, PICTURE_ROWS = 12, STACK_DEPTH = 4 };

struct timeline_command_options {
    struct view_options view;
    int by; // enum timeline_by
    const char *between, *svg, *flame;
};
static const struct timeline_command_options defaults;

/* State of a command, shared by the runner's steps. */
struct timeline_run {
    const struct timeline_command_options *options;
    struct profile_point *window; // The two moments of --between; two elements.
};

/* Check that pictures do not replace a profile, and that --between names existing moments. Returns
 * 0 or an exit code. */
static int
cmd_timeline_check(struct shown *s)
{
    const struct timeline_run *run = s->runner->own;
    const struct timeline_command_options *o = run->options;
    struct err err = {""};
    int rc = o->svg ? sink_check(o->svg, s->set) : 0;

    if (rc == 0 && o->flame)
        rc = sink_check(o->flame, s->set);
    if (rc != 0)
        return rc;
    rc = time_slice_need_history(s->p, &err);
    if (rc == 0)
        rc = time_slice_find_span(s->p, o->between ? o->between : "..", run->window, &err);
    if (rc == 0)
        return 0;
    message_error("%s", err.text);
    return exit_code(rc);
}

static int
write_pictures(struct shown *s, struct timeline_options options)
{
    const struct timeline_run *run = s->runner->own;
    const struct timeline_command_options *o = run->options;
    struct sink svg = {.path = o->svg, .set = s->set};
    struct sink flame = {.path = o->flame, .set = s->set};
    struct arena *arena = s->text.base.arena;
    struct strbuf out;
    struct timeline t;
    int rc = 0;

    options.limit = o->view.limit ? o->view.limit : PICTURE_ROWS;
    options.by_size = true;
    if (o->svg) {
        timeline_build(s->p, &s->stacks, &options, arena, &t);
        out = sink_begin(&svg);
        timeline_svg(s->p, &s->stacks, &t, arena, &out);
        rc = sink_end(&out);
    }
    if (rc == 0 && o->flame) {
        out = sink_begin(&flame);
        timeline_flame(s->p, &s->stacks, &options, arena, &out);
        rc = sink_end(&out);
    }
    return rc;
}

static int
cmd_timeline_show(struct shown *s)
{
    const struct timeline_run *run = s->runner->own;
    const struct timeline_command_options *o = run->options;
    struct timeline_options options = {
        .by = (enum timeline_by)o->by,
        .limit = o->view.limit ? o->view.limit : TEXT_ROWS,
        .window = o->between ? run->window : NULL,
    };
    struct timeline t;

    if (o->view.depth == 0)
        s->text.depth = STACK_DEPTH;
    timeline_build(s->p, &s->stacks, &options, s->text.base.arena, &t);
    if (o->view.json)
        json_timeline(s->j, &s->text.base, &t);
    else
        text_timeline(&s->text, &t);
    return write_pictures(s, options);
}

static int
run_timeline(const void *given, int count, char **arguments)
{
    const struct timeline_command_options *o = given;
    struct profile_point window[2];
    const struct timeline_run run = {o, window};
    const struct runner r = {
        .options = &o->view,
        .own = &run,
        .session = SESSION_SUM_IN_TIME,
        .numbered = true,
        .recursion_folded = o->svg || o->flame,
        .check = cmd_timeline_check,
        .show = cmd_timeline_show,
    };

    return runner_run(&r, count > 0 ? arguments[0] : NULL);
}

static const struct opt options[] = {
    {OPT_CHOICE, 0, "by", &defaults.by, "WHAT",
     "Plot live bytes (the default), their growth since the start of the range shown, or the bytes "
     "or calls allocated per second.",
     timeline_by_names},
    {OPT_STRING, 0, "between", &defaults.between, "A..B",
     "Show only the time between two moments (see heaptap report --help), or a phase.", NULL},
    {OPT_COUNT, 'n', "limit", &defaults.view.limit, "N",
     "Show at most N stacks. The default is 5, and 12 in pictures.", NULL},
    {OPT_COUNT, 0, "depth", &defaults.view.depth, "N",
     "Show at most N frames of a stack. The default is 4.", NULL},
    {OPT_STRING, 0, "svg", &defaults.svg, "FILE",
     "Also draw the stacks as stacked areas over time, to FILE (SVG).", NULL},
    {OPT_STRING, 0, "flame", &defaults.flame, "FILE",
     "Also draw a flame chart to FILE (SVG): calls as nested boxes, each as wide as the time for "
     "which it held memory, with a curve of the amount.",
     NULL},
    VIEW_FOLD_OPTIONS(defaults.view),
    VIEW_SHOW_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_timeline = {
    .name = "timeline",
    .arguments = "[PROFILE|PID|DIRECTORY]",
    .summary = "show how memory grew, and which stacks still grow",
    .description =
        "Draws live bytes from start to end, with the peak and the named snapshots, and lists the "
        "stacks that grow. A stack grows if it rises from one stretch of time to the next nearly "
        "always, also in the second half of the run. The measure is how often it rises, not how "
        "much: it finds a small leak under heavy churn, and ignores a table filled at the start. "
        "Growth may be a leak, an unbounded cache, or legitimate work.\n\n"
        "The median slope is a stack's gain per minute. A stack \"grew\" if it did so steadily but "
        "has stopped, and it \"rests\" if it hardly changes any more, at any snapshot of the "
        "second half. The last sixteenth of the time does not count, because many programs free "
        "everything when they end.\n\n"
        "A column shows the most that was live at a snapshot in it, so the scale is the same for "
        "every width.\n\n"
        "For a session all processes are shown together, on one clock; blocks that a process still "
        "held when it ended count as freed then. --only selects processes.\n\n"
        "Events between two snapshots are known only in total. The recorder takes a snapshot every "
        "16 ms at first and fewer as the run gets longer; a packed profile keeps some 256.",
    .examples =
        "heaptap timeline\tthe newest profile here\n"
        "heaptap timeline 4711\ta running process\n"
        "heaptap timeline app.processes\tall processes of a run\n"
        "heaptap timeline --between warm..end --by growth --svg grown.svg app.heaptap\tsince a "
        "snapshot\n"
        "heaptap timeline --by calls --filter parser app.heaptap\thow busy a part was",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_timeline,
};
