/* cmd_export.c: `heaptap export`, a profile in the format of another tool.
 *
 * The formats are listed in export.c; this file picks one, from -f or from the name of the output,
 * and writes what it gives. One profile at a time: no format has room for several processes.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/exporters.h"
#include "command/write_file.h"
#include "option/metric_opts.h"
#include "option/opts.h"
#include "view/view.h"

static struct {
    const char *format, *output;
    struct metric_choice metric;
    struct opt_choice root; // enum tag_root less 1; -1 = not given.
    bool invert, list;
} opts = {.metric = {.metric = -1}, .root = {-1, NULL}};

static const char *const root_names[] = {"heap", "label", "label=", NULL};

static int export_one(struct profile *p, const struct exporter *exporter, struct view_set *set);

static int
list_formats(void)
{
    struct strbuf out = {0};
    size_t count;
    const struct exporter *v = export_list(&count);

    for (size_t i = 0; i < count; i++)
        strbuf_fmt(&out, "%-12s %-26s %s\n", v[i].name, v[i].extensions, v[i].summary);
    return view_print(&out);
}

static bool
to_stdout(void)
{
    return opts.output == NULL || strcmp(opts.output, "-") == 0;
}

/* The format asked for, or NULL after saying what is wrong. */
static const struct exporter *
choose_format(void)
{
    const struct exporter *e = NULL;

    if (opts.format) {
        e = export_find(opts.format);
        if (e == NULL)
            say_error("'%s' is no export format; heaptap export --list shows them", opts.format);
        return e;
    }
    if (to_stdout())
        return export_find("collapsed");
    e = export_for_path(opts.output);
    if (e == NULL)
        say_error("%s: its name does not tell the format; add -f FORMAT (heaptap export --list "
                  "shows them)",
                  opts.output);
    return e;
}

static int
run_export(int count, char **arguments)
{
    const struct exporter *e;
    struct view_set set;
    int rc;

    if (opts.list)
        return list_formats();
    e = choose_format();
    if (e == NULL)
        return EXIT_USAGE;
    if (e->binary && to_stdout() && isatty(STDOUT_FILENO)) {
        say_error("%s is a binary format and stdout a terminal; use -o FILE", e->name);
        return EXIT_USAGE;
    }
    if (opts.root.choice >= 0 && !e->can_root) {
        say_error("%s has heaps and labels of its own, or no room for them; --root-by is for "
                  "collapsed and flamegraph",
                  e->name);
        return EXIT_USAGE;
    }
    rc = view_open(count > 0 ? arguments[0] : NULL, &set);
    if (rc == 0)
        rc = view_one(&set, count > 0 ? arguments[0] : "the session");
    if (rc == 0)
        rc = export_one(set.v[0], e, &set);
    view_close(&set);
    return rc;
}

static int
export_one(struct profile *p, const struct exporter *exporter, struct view_set *set)
{
    struct export_options options = {
        .metric = metric_chosen(&opts.metric),
        .inverted = opts.invert,
        .roots = {(enum tag_root)(opts.root.choice + 1), opts.root.of},
    };
    struct stacks_options stacks_options = view_stacks_options(true);
    struct output_file file = {.path = opts.output, .set = set};
    struct strbuf out = to_stdout() ? view_output() : write_file_output(&file);
    struct err err = {""};
    struct stacks stacks;
    int rc = view_check_metric(p, options.metric);

    stacks_options.merge_labels = false;
    if (rc == 0 && !to_stdout())
        rc = write_file_check(opts.output, set);
    if (rc == 0)
        rc = view_symbolise(p);
    if (rc == 0)
        rc = view_stacks_with(p, &stacks_options, &set->arena, &stacks);
    if (rc == 0 && exporter->write(p, &stacks, &options, &out, &err) != 0) {
        say_error("%s", err.text);
        rc = EXIT_BUG;
    }
    if (rc == 0)
        return to_stdout() ? view_print(&out) : write_file_end(&out);
    strbuf_release(&out);
    return rc;
}

static const struct opt options[] = {
    {OPT_STRING, 'f', "format", &opts.format, "FORMAT",
     "The format to write. By default the extension of the output file tells it, and without a "
     "file it is "
     "collapsed.",
     NULL},
    {OPT_STRING, 'o', "output", &opts.output, "FILE",
     "Write to FILE and replace it if it exists; - or no -o is stdout.", NULL},
    {OPT_FLAG, 0, "list", &opts.list, NULL, "List the formats with their extensions.", NULL},
    METRIC_OPTIONS(opts.metric,
                   "What to export: bytes in use, bytes at the peak, bytes allocated, temporary "
                   "allocations, or the count of allocations. Formats that carry them all start "
                   "with it."),
    {OPT_FLAG, 0, "invert", &opts.invert, NULL, "Flame graph: put the root at the bottom.", NULL},
    {OPT_CHOICE_OF, 0, "root-by", &opts.root, "WHAT",
     "Flame graph and collapsed: put a frame above each stack that names the heap, the labels, or "
     "the value of the label KEY of its blocks.",
     root_names},
    VIEW_STACK_OPTIONS,
    {OPT_STRING, 0, "only", &view_options.only, "PROGRAM|PID",
     "Of a session, take the process of PROGRAM, or the process PID.", NULL},
    {.kind = OPT_END},
};

const struct command command_export = {
    .name = "export",
    .arguments = "[PROFILE|PID|DIRECTORY]",
    .summary = "write a profile in the format of another tool",
    .description = "Writes a profile for other tools: a flame graph (one SVG file for any "
                   "browser), pprof's profile.proto, "
                   "the heap profile of gperftools, or collapsed stacks.\n\n"
                   "The flame graph needs no server and no network. Click zooms, / searches, i "
                   "flips it, 1 to 5 choose what "
                   "is shown. What it shows is in its address, behind #, so that a link to it can "
                   "be shared.\n\n"
                   "The options --filter, --fold and --no-fold work as in report. pprof-text keeps "
                   "raw addresses, so it "
                   "is never folded; go tool pprof mistakes addresses of position-dependent "
                   "programs in it, and should "
                   "be given pprof.\n\n"
                   "In pprof, samples have the labels that the program gave, and one called heap "
                   "if the program has heaps of its own: go tool pprof -tags and -tagfocus.",
    .examples =
        "heaptap export -o heap.svg app.heaptap\tflame graph of what is in use\n"
        "heaptap export --peak -o heap.svg app.heaptap\tthe same, starting with the peak\n"
        "heaptap export -o app.pb.gz app.heaptap && go tool pprof -top app.pb.gz\tgo's pprof\n"
        "heaptap export --alloc app.heaptap > app.collapsed\tone line per stack\n",
    .options = options,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_export,
};
