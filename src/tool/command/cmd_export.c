/* cmd_export.c: `heaptap export`: write a profile in the format of another tool.
 *
 * exporters.c lists the formats. This file selects one by -f or by the output's name, and writes
 * its result. No format has room for several processes, so a session is exported as their sum. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/exporters.h"
#include "command/runner.h"
#include "command/sink.h"
#include "open/pick_stacks.h"
#include "option/shared_opts.h"
#include "view/table.h"

struct export_command_options {
    struct view_options view;
    const char *format, *output;
    struct metric_choice metric;
    struct opt_choice root; // enum tag_root minus 1; -1 = not given.
    bool invert, list;
};
static const struct export_command_options defaults = {.metric = {.metric = -1},
                                                       .root = {-1, NULL}};

/* State of a command, shared by the runner's steps. */
struct export_run {
    const struct export_command_options *options;
    const struct exporter *exporter;
};

static const char *const root_names[] = {"heap", "label", "label=", NULL};

static int
list_formats(void)
{
    struct sink to_stdout = {0};
    struct strbuf out = sink_begin(&to_stdout);
    size_t count;
    const struct exporter *v = export_list(&count);

    for (size_t i = 0; i < count; i++)
        strbuf_fmt(&out, "%-12s %-26s %s\n", v[i].name, v[i].extensions, v[i].summary);
    return sink_end(&out);
}

/* Return the path of the output, or NULL for stdout. */
static const char *
file_wanted(const struct export_command_options *o)
{
    return o->output == NULL || strcmp(o->output, "-") == 0 ? NULL : o->output;
}

/* Return the requested format, or NULL after reporting an error. */
static const struct exporter *
choose_format(const struct export_command_options *o)
{
    const struct exporter *e = NULL;

    if (o->format) {
        e = export_find(o->format);
        if (e == NULL)
            message_error("'%s' is no export format; heaptap export --list shows them", o->format);
        return e;
    }
    if (file_wanted(o) == NULL)
        return export_find("collapsed");
    e = export_for_path(o->output);
    if (e == NULL)
        message_error("%s: the name implies no known format; add -f FORMAT (heaptap export --list "
                      "shows the formats)",
                      o->output);
    return e;
}

/* Append the names of the formats that support --root-by: "collapsed and flamegraph". */
static void
add_rooted(struct strbuf *out)
{
    size_t count, left = 0;
    const struct exporter *v = export_list(&count);

    for (size_t i = 0; i < count; i++)
        left += v[i].can_root;
    for (size_t i = 0; i < count; i++) {
        if (!v[i].can_root)
            continue;
        left--;
        strbuf_fmt(out, "%s%s", v[i].name, left > 1 ? ", " : left == 1 ? " and " : "");
    }
}

static int
check_format(const struct export_command_options *o, const struct exporter *e)
{
    if (e->binary && file_wanted(o) == NULL && isatty(STDOUT_FILENO)) {
        message_error("%s is a binary format and stdout a terminal; use -o FILE", e->name);
        return EXIT_USAGE;
    }
    if (o->root.choice >= 0 && !e->can_root) {
        struct strbuf rooted = {0};

        add_rooted(&rooted);
        message_error(
            "the format %s excludes --root-by: it holds heaps and labels already, or cannot; "
            "--root-by is for %s",
            e->name, strbuf_text(&rooted));
        strbuf_release(&rooted);
        return EXIT_USAGE;
    }
    if (!export_knows(e, metric_chosen(&o->metric))) {
        message_error("%s has no room for the metric '%s'", e->name,
                      metric_name(metric_chosen(&o->metric)));
        return EXIT_USAGE;
    }
    return 0;
}

static int
cmd_export_check(struct shown *s)
{
    const struct export_run *run = s->runner->own;
    const char *file = file_wanted(run->options);
    int rc = pick_metric(s->p, metric_chosen(&run->options->metric));

    if (rc == 0 && s->p->extent != EXTENT_WHOLE && export_needs_whole(run->exporter)) {
        message_error("the format %s contains the peak, so it needs a whole run, not a moment or a "
                      "range of time",
                      run->exporter->name);
        return EXIT_USAGE;
    }
    if (s->p->losses.file_failed) // The formats of other tools have no place for this message.
        message_warning("%s is incomplete: %s", s->p->path, loss_of_file);
    return rc == 0 && file ? sink_check(file, s->set) : rc;
}

/* Return the metric: the user's choice, the default of a format for another program, or for a
 * picture the one that suits the profile. */
static enum metric
metric_to_start(const struct shown *s)
{
    const struct export_run *run = s->runner->own;

    if (metric_was_chosen(&run->options->metric) || !run->exporter->picture)
        return metric_chosen(&run->options->metric);
    return metric_first(s->p, &s->stacks.total);
}

/* Warn if the format cannot show that callers of some stacks are not known. */
static void
cmd_export_warn(const struct shown *s, const struct exporter *e)
{
    struct arena *a = s->text.base.arena;
    struct counters c;
    const char *name = e->unnamed_roots ? stacks_truncated(s->p, &s->stacks, &c) : NULL;

    if (name != NULL)
        message_warning("the format %s has no name for %s, %s of the allocated bytes; sums by "
                        "caller are lower bounds",
                        e->name, name,
                        style_percent(a, c.allocated_bytes, s->stacks.total.allocated_bytes));
}

/* Warn if some values depend on the share of calls with callers: no format can mark them. */
static void
warn_of_shares(const struct shown *s)
{
    struct arena *a = s->text.base.arena;

    if (s->p->has_shares)
        message_warning("values of callers are estimates, values of sites are exact: callers were "
                        "recorded of one call in %s%s",
                        s->p->mode_count > 1 ? "up to " : "",
                        style_count(a, (int64_t)s->p->callers_period));
}

static int
cmd_export_show(struct shown *s)
{
    const struct export_run *run = s->runner->own;
    const struct export_command_options *o = run->options;
    struct export_options options = {
        .metric = metric_to_start(s),
        .inverted = o->invert,
        .roots = {(enum tag_root)(o->root.choice + 1), o->root.of},
        .compression = run->exporter->compresses && file_wanted(o) != NULL
                           ? compression_for_path(o->output)
                           : COMPRESSION_NONE,
    };
    struct err err = {""};
    int rc = run->exporter->write(s->p, &s->stacks, &options, s->text.out, &err);

    if (rc == 0) {
        cmd_export_warn(s, run->exporter);
        warn_of_shares(s);
        return 0;
    }
    message_error("%s", err.text);
    return exit_code(rc);
}

static int
run_export(const void *given, int count, char **arguments)
{
    const struct export_command_options *o = given;
    struct export_run run = {.options = o};
    struct runner r = {
        .options = &o->view,
        .own = &run,
        .session = SESSION_SUM,
        .stacks = STACKS_OF_EACH_LABEL,
        .output = file_wanted(o),
        .for_programs = true,
        .check = cmd_export_check,
        .show = cmd_export_show,
    };
    int rc;

    if (o->list)
        return list_formats();
    run.exporter = choose_format(o);
    if (run.exporter == NULL)
        return EXIT_USAGE;
    r.recursion_folded = run.exporter->picture;
    r.keeps_native = !run.exporter->picture;
    r.needs_addresses = run.exporter->needs_addresses;
    if (run.exporter->in_time)
        r.session = SESSION_SUM_IN_TIME;
    rc = check_format(o, run.exporter);
    return rc ? rc : runner_run(&r, count > 0 ? arguments[0] : NULL);
}

static const struct opt options[] = {
    {OPT_STRING, 'f', "format", &defaults.format, "FORMAT",
     "The format to write. Default: by the extension of the output file, and without a file "
     "collapsed.",
     NULL},
    {OPT_STRING, 'o', "output", &defaults.output, "FILE",
     "Write to FILE and replace it if it exists; - or no -o is stdout.", NULL},
    {OPT_FLAG, 0, "list", &defaults.list, NULL, "List the formats with their extensions.", NULL},
    METRIC_OPTIONS(defaults.metric,
                   "The metric to export: bytes in use, bytes at the peak, bytes allocated, "
                   "short-lived blocks, or the count of allocations. Formats that hold several "
                   "start with it. Default: bytes in use; for a flame graph the peak, unless "
                   "nearly all of it is still in use."),
    {OPT_FLAG, 0, "invert", &defaults.invert, NULL, "Flame graph: put the root at the bottom.",
     NULL},
    {OPT_CHOICE_OF, 0, "root-by", &defaults.root, "WHAT",
     "Add a frame at the root of each stack with the heap, the labels, or the value of the label "
     "KEY of the blocks there; for formats that hold only frames.",
     root_names},
    VIEW_STACK_OPTIONS(defaults.view),
    SYMBOL_OPTIONS(defaults.view.symbols),
    {OPT_STRING, 0, "only", &defaults.view.only, "PROGRAM|PID",
     "In a session, select only processes of PROGRAM, or the process PID. Several, and * and ? in "
     "names, work as in heaptap run.",
     NULL},
    {.kind = OPT_END},
};

static const char *
cmd_export_offered(const char *name, size_t i)
{
    size_t count;
    const struct exporter *formats = export_list(&count);

    return strcmp(name, "format") == 0 && i < count ? formats[i].name : NULL;
}

const struct command command_export = {
    .name = "export",
    .arguments = "[PROFILE|PID|DIRECTORY]",
    .summary = "write a profile in the format of another tool",
    .description = "Writes a profile for other tools: a flame graph (one SVG file for any "
                   "browser), pprof's profile.proto, and other tools' formats; --list prints them "
                   "all. For a session, the sum of all processes is exported.\n"
                   "\n"
                   "The flame graph needs no server and no network. Click zooms, / searches, i "
                   "inverts it, 1 to 5 choose the metric. Its address stores the current view "
                   "behind #, so that a link to it can be shared.\n"
                   "\n"
                   "The options --filter, --fold and --no-fold work as in report. pprof-text keeps "
                   "raw addresses, so it is never folded. go tool pprof misreads addresses of "
                   "position-dependent programs in it; use the format pprof for them.\n"
                   "\n"
                   "In pprof, samples carry the program's labels, and one called heap if the "
                   "program declares heaps: see go tool pprof -tags and -tagfocus.",
    .examples =
        "heaptap export -o heap.svg app.heaptap\tflame graph for any browser\n"
        "heaptap export --alloc -o heap.svg app.heaptap\tthe same, starting with churn\n"
        "heaptap export -o app.pb.gz app.heaptap && go tool pprof -top app.pb.gz\tgo's pprof\n"
        "heaptap export -o app.callgrind app.heaptap\tfor kcachegrind\n"
        "heaptap export -o app.speedscope.json app.heaptap\tfor npx speedscope\n"
        "heaptap export -o app.massif app.heaptap && ms_print app.massif\tthe heap over time\n"
        "heaptap export -o app.heaptrack.gz app.heaptap\tfor heaptrack_gui\n"
        "heaptap export -o app.memprof app.heaptap\tfor llvm-profdata, if accesses were counted\n"
        "heaptap export -o app.csv app.heaptap\tone row per stack, all counters\n"
        "heaptap export --alloc app.heaptap > app.collapsed\tone line per stack\n",
    .options = options,
    .offered = cmd_export_offered,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_export,
};
