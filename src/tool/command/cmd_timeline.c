/* cmd_timeline.c: `heaptap timeline`: how a program's memory came to be what it is.
 *
 * One process at a time: the clocks of two have nothing to do with each other.
 */
#include "command/write_file.h"
#include "flame/timeline_flame.h"
#include "flame/timeline_svg.h"
#include "option/opts.h"
#include "view/view.h"
#include "view/view_timeline.h"

enum { TEXT_ROWS = 5, PICTURE_ROWS = 12 };

static struct {
    int by; // enum timeline_by
    const char *between, *svg, *flame;
} opts;

/* Where the moments of --between are put, or NULL in *RET without it. */
static int
find_window(struct profile *p, struct profile_moment window[2], const struct profile_moment **ret)
{
    struct err err = {""};
    int rc = at_find_span(p, opts.between ? opts.between : "..", window, &err);

    if (rc != 0)
        say_error("%s", err.text);
    *ret = opts.between ? window : NULL;
    return rc == 0 ? 0 : exit_code(rc);
}

static int
write_pictures(struct text_view *v, struct timeline_options options, const struct view_set *set)
{
    struct output_file svg = {.path = opts.svg, .set = set};
    struct output_file flame = {.path = opts.flame, .set = set};
    struct strbuf out;
    struct timeline t;
    int rc = 0;

    options.limit = view_options.limit ? view_options.limit : PICTURE_ROWS;
    options.by_size = true;
    if (opts.svg) {
        timeline_build(v->p, v->stacks, &options, v->arena, &t);
        out = write_file_output(&svg);
        timeline_svg(v->p, &t, v->arena, &out);
        rc = write_file_end(&out);
    }
    if (rc == 0 && opts.flame) {
        out = write_file_output(&flame);
        timeline_flame(v->p, v->stacks, &options, v->arena, &out);
        rc = write_file_end(&out);
    }
    return rc;
}

static int
show(struct profile *p, struct view_set *set, struct strbuf *out)
{
    struct timeline_options options = {.by = (enum timeline_by)opts.by,
                                       .limit =
                                           view_options.limit ? view_options.limit : TEXT_ROWS};
    struct profile_moment window[2];
    struct stacks stacks;
    struct timeline t;
    struct text_view v;
    int rc = find_window(p, window, &options.window);

    if (rc == 0)
        rc = view_symbolise(p);
    if (rc == 0)
        rc = view_stacks(p, true, &set->arena, &stacks);
    if (rc != 0)
        return rc;
    v = view_text(p, &stacks, &set->arena, out);
    timeline_build(p, &stacks, &options, &set->arena, &t);
    if (view_options.json) {
        struct json j;

        json_begin(&j, out);
        json_timeline_view(&j, &v, &t);
    } else {
        text_timeline(&v, &t);
    }
    return write_pictures(&v, options, set);
}

static int
run_timeline(int count, char **arguments)
{
    const char *what = count > 0 ? arguments[0] : NULL;
    struct strbuf out = view_output();
    struct view_set set;
    int rc = view_open(what, &set);

    if (rc == 0)
        rc = view_one(&set, what ? what : ".");
    if (rc == 0 && opts.svg)
        rc = write_file_check(opts.svg, &set);
    if (rc == 0 && opts.flame)
        rc = write_file_check(opts.flame, &set);
    if (rc == 0)
        rc = show(set.v[0], &set, &out);
    if (rc == 0)
        rc = view_print(&out);
    else
        strbuf_release(&out);
    view_close(&set);
    return rc;
}

static const struct opt options[] = {
    {OPT_CHOICE, 0, "by", &opts.by, "WHAT",
     "Follow live bytes (the default), their growth since the beginning of what is shown, or how "
     "many bytes or calls were allocated per second.",
     timeline_by_names},
    {OPT_STRING, 0, "between", &opts.between, "A..B",
     "Show only the time between two moments (see heaptap report --help), or a phase.", NULL},
    {OPT_COUNT, 'n', "limit", &view_options.limit, "N",
     "Show at most N stacks. The default is 5, and 12 in pictures.", NULL},
    {OPT_COUNT, 0, "depth", &view_options.depth, "N",
     "Show at most N frames of a stack. The default is 4.", NULL},
    {OPT_STRING, 0, "svg", &opts.svg, "FILE",
     "Also draw the stacks upon each other over time, to FILE (SVG).", NULL},
    {OPT_STRING, 0, "flame", &opts.flame, "FILE",
     "Also draw a flame chart to FILE (SVG): the calls as nested boxes, each as long as it held "
     "memory, with a curve of how much.",
     NULL},
    VIEW_FOLD_OPTIONS,
    VIEW_SHOW_OPTIONS,
    {.kind = OPT_END},
};

const struct command command_timeline = {
    .name = "timeline",
    .arguments = "[PROFILE|PID|DIRECTORY]",
    .summary = "show how memory grew, and which stacks still grow",
    .description =
        "Draws what was live from the start to the end, with the peak and the named snapshots, and "
        "shows the stacks that grow. A stack grows if it rises from one stretch of time to the "
        "next nearly always, in the second half of the time too. That is told by order, not by "
        "size: a small leak among large churn is found, a table filled at the start is not taken "
        "for one. What grows may be a leak, a cache without bound, or honest work.\n\n"
        "The median slope is what a stack gains in a minute. Two other ends of a trend are "
        "\"grew\", steadily but no longer, and \"rests\". The last sixteenth of the time does not "
        "count, because many programs free everything when they end.\n\n"
        "Times between snapshots are not known apart: the recorder takes one every 16 ms at first "
        "and fewer as the run gets longer. Of a packed profile some 256 are left.",
    .examples =
        "heaptap timeline\tthe newest profile here\n"
        "heaptap timeline 4711\ta running process\n"
        "heaptap timeline --between warm..end --by growth --svg grown.svg app.heaptap\tsince a "
        "snapshot\n"
        "heaptap timeline --by calls --filter parser app.heaptap\thow busy a part was",
    .options = options,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_timeline,
};
