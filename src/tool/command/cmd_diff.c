/* cmd_diff.c: `heaptap diff`, what changed from one profile to another.
 *
 * With --fail-over it is a gate: exit code 1 when the total of the metric grew by more than a
 * budget. Shrinking is never a finding.
 */
#include <string.h>
#include <unistd.h>

#include "command/write_file.h"
#include "flame/flamegraph.h"
#include "option/metric_opts.h"
#include "option/opts.h"
#include "view/diff_show.h"
#include "view/view.h"

#define NEVER_FAILS UINT64_MAX

enum { DIFF_TEXT_LIMIT = 10 };

static struct {
    struct metric_choice metric;
    int by;
    uint64_t fail_over;
    const char *flamegraph;
} opts = {.metric = {.metric = -1}, .by = DIFF_BY_SITE, .fail_over = NEVER_FAILS};

/* One of the two sides: a single profile, symbolised, and its stacks. */
struct side {
    struct view_set set;
    struct stacks stacks;
};

static int open_side(const char *what, struct side *ret);
static int show(struct side *before, struct side *after);

static int
run_diff(int count, char **arguments)
{
    struct side before = {0}, after = {0};
    int rc;

    (void)count;
    rc = open_side(arguments[0], &before);
    if (rc == 0)
        rc = open_side(arguments[1], &after);
    if (rc == 0)
        rc = show(&before, &after);
    view_close(&before.set);
    view_close(&after.set);
    return rc;
}

/* WHAT, or WHAT@WHEN: a side has a moment of its own. */
static int
open_cut(const char *what, struct view_set *ret)
{
    static struct arena names; // What was opened goes by them until the end.
    const char *at = strrchr(what, '@'), *common = view_options.at;
    int rc;

    if (at == NULL || at == what || at[1] == '\0' || access(what, F_OK) == 0)
        return view_open(what, ret);
    view_options.at = at + 1;
    rc = view_open(arena_strndup(&names, what, (size_t)(at - what)), ret);
    view_options.at = common;
    return rc;
}

static int
open_side(const char *what, struct side *ret)
{
    struct stacks_options options = view_stacks_options(true);
    int rc = open_cut(what, &ret->set);

    if (rc != 0)
        return rc;
    rc = view_one(&ret->set, what);
    if (rc == 0)
        rc = view_check_metric(ret->set.v[0], metric_chosen(&opts.metric));
    if (rc != 0)
        return rc;
    rc = view_symbolise(ret->set.v[0]);
    options.merge_labels = false;
    return rc ? rc : view_stacks_with(ret->set.v[0], &options, &ret->set.arena, &ret->stacks);
}

static int
write_flamegraph(struct side *before, struct side *after, enum metric metric)
{
    struct flame_side a = {.p = before->set.v[0], .stacks = &before->stacks},
                      b = {.p = after->set.v[0], .stacks = &after->stacks};
    struct output_file file = {.path = opts.flamegraph, .set = &after->set};
    struct strbuf out = write_file_output(&file);
    int rc = write_file_check(opts.flamegraph, &before->set);

    if (rc != 0)
        return rc;
    flamegraph_diff(&a, &b, metric, &out);
    return write_file_end(&out);
}

/* 1 if the total grew by more than --fail-over allows. */
static int
judge(const struct diff *d, enum metric metric, struct arena *arena)
{
    int64_t growth = diff_growth(&d->before, &d->after, metric);
    const char *(*text)(struct arena *, int64_t) =
        metric_is_bytes(metric) ? style_bytes : style_count;

    struct interval i =
        diff_interval(&d->before, &d->before_errors, &d->after, &d->after_errors, metric);

    if (opts.fail_over == NEVER_FAILS || growth <= 0 || (uint64_t)growth <= opts.fail_over)
        return 0;
    if (i.low < i.high && i.low <= (double)opts.fail_over) {
        say_hint("the total of '%s' grew by %s, more than --fail-over allows, but with these "
                 "samples it may be %s; that is no failure",
                 metric_name(metric), text(arena, growth), text(arena, interval_rounded(i.low)));
        return 0;
    }
    say_error("the total of '%s' grew by %s, more than the %s that --fail-over allows",
              metric_name(metric), text(arena, growth), text(arena, (int64_t)opts.fail_over));
    return EXIT_FINDINGS;
}

static int
show(struct side *before, struct side *after)
{
    struct arena *arena = &after->set.arena;
    enum metric metric = metric_chosen(&opts.metric);
    struct diff_side a = {before->set.v[0], &before->stacks}, b = {after->set.v[0], &after->stacks};
    struct strbuf out = view_output();
    struct diff diff;
    struct diff_view v = {.before = a.p,
                          .after = b.p,
                          .diff = &diff,
                          .by = (enum diff_by)opts.by,
                          .metric = metric,
                          .style = style_for(STDOUT_FILENO, view_options.wide),
                          .arena = arena,
                          .out = &out,
                          .depth = view_options.depth};
    int rc = opts.flamegraph ? write_flamegraph(before, after, metric) : 0;

    if (rc != 0)
        return rc;
    diff_build(&a, &b, v.by, metric, arena, &diff);
    v.limit = view_options.limit  ? view_options.limit
              : view_options.json ? SIZE_MAX
                                  : DIFF_TEXT_LIMIT;
    if (view_options.json)
        diff_json(&v);
    else
        diff_text(&v);
    rc = view_print(&out);
    return rc ? rc : judge(&diff, metric, arena);
}

static const char *const by_names[] = {"site", "function", NULL};

static const struct opt options[] = {
    METRIC_OPTIONS(opts.metric,
                   "What to compare: bytes in use, bytes at the peak, bytes allocated, temporary "
                   "allocations, or the count of allocations."),
    {OPT_CHOICE, 0, "by", &opts.by, "WHAT",
     "Add up by site (the default: each stack for itself) or by function.", by_names},
    {OPT_COUNT, 'n', "limit", &view_options.limit, "N",
     "Show at most N rows. The default is 10, and all in JSON.", NULL},
    {OPT_COUNT, 0, "depth", &view_options.depth, "N", "Show at most N frames of a stack.", NULL},
    {OPT_SIZE, 0, "fail-over", &opts.fail_over, "BYTES",
     "Exit with code 1 when the total grew by more than BYTES (or so many, for counts). By default "
     "growth is no "
     "failure.",
     NULL},
    {OPT_STRING, 0, "flamegraph", &opts.flamegraph, "FILE",
     "Also write a flame graph of the difference to FILE (SVG): red grew, blue shrank.", NULL},
    VIEW_STACK_OPTIONS,
    VIEW_SHOW_OPTIONS,
    {.kind = OPT_END},
};

const struct command command_diff = {
    .name = "diff",
    .arguments = "BEFORE AFTER",
    .summary = "compare two profiles and show what grew",
    .description =
        "Shows what changed from the profile BEFORE to the profile AFTER, the largest change "
        "first. Each is a "
        "profile, a process being recorded, or a session with one profile; with @ and a moment "
        "behind it (see --at) it is taken as it was then.\n\n"
        "Stacks are the same if their functions and files are, in this order; addresses and lines "
        "may differ, so "
        "profiles of two builds can be compared. A stack that only one side has counts as zero on "
        "the other. By "
        "function there are two growths: that of the memory the function itself allocated, and "
        "that with what it "
        "called.\n\n"
        "With --fail-over the exit code tells whether the total grew too much, for use in "
        "tests.\n\n"
        "Of sampled profiles the growth is known to within a range, which is shown. A growth whose "
        "range includes 0 is within noise; --fail-over fails only when the whole range is above "
        "what it allows.",
    .examples =
        "heaptap diff monday.heaptap today.heaptap\twhat is in use now and was not\n"
        "heaptap diff --peak --fail-over 1M base.heaptap new.heaptap\ta budget for the peak\n"
        "heaptap diff app.heaptap@warm app.heaptap@end\twhat one run gained since its snapshot\n"
        "heaptap diff --by function --alloc a.heaptap b.heaptap\twho churns more\n"
        "heaptap diff --flamegraph diff.svg a.heaptap b.heaptap\tthe same as a picture\n",
    .options = options,
    .min_arguments = 2,
    .max_arguments = 2,
    .run = run_diff,
};
