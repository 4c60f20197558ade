/* cmd_diff.c: `heaptap diff`: show the changes from one profile to another.
 *
 * With --fail-over, scripts can use it as a check: the exit code is 1 if a total grew by more than
 * a limit (limit_check.h). */
#include <string.h>
#include <unistd.h>

#include "command/report_limits.h"
#include "command/sink.h"
#include "json/json.h"
#include "open/open_set.h"
#include "open/pick_stacks.h"
#include "open/symbolise.h"
#include "option/shared_opts.h"
#include "svg/svg.h"
#include "text/text.h"
#include "text/text_view.h"
#include "view/phrases.h"

enum { DIFF_TEXT_LIMIT = 10 };

struct diff_options {
    struct view_options view;
    struct metric_choice metric;
    int by;
    const char *fail_over;
    const char *flamegraph;
};
static const struct diff_options defaults = {
    .view.depth = TEXT_DEPTH,
    .metric.metric = -1,
    .by = DIFF_BY_SITE,
};

/* One of the two sides: a profile, or the sum of a session's processes. Symbolised, with its
 * stacks. */
struct side {
    struct view_set set;
    struct stacks stacks;
    struct arena names; // Owns texts that the open profiles refer to.
};

static int cmd_diff_open_side(const struct diff_options *o, const char *what,
                              struct filter_hits *hits, struct side *ret);
static int cmd_diff_show(const struct diff_options *o, const struct limits *limits,
                         struct side *before, struct side *after);

static void
close_side(struct side *s)
{
    set_close(&s->set);
    arena_release(&s->names);
}

/* Rules of --fail-over if no metric is chosen. */
static const struct limit_rules default_rules = {
    .option = "fail-over",
    .names = (1u << LIMIT_KINDS) - 1,
    .unnamed = 1u << LIMIT_PEAK | 1u << LIMIT_INUSE,
    .percents = true,
};

static const char *
cmd_diff_offered(const char *name, size_t i)
{
    return strcmp(name, "fail-over") == 0 ? limits_offered(&default_rules, i) : NULL;
}

/* Parse the limits of --fail-over. A limit without a name applies to the selected metric. */
static int
cmd_diff_read_limits(const struct diff_options *o, struct limits *ret)
{
    static const enum limit_of of_metrics[] = {
        [METRIC_INUSE] = LIMIT_INUSE, [METRIC_PEAK] = LIMIT_PEAK,
        [METRIC_ALLOC] = LIMIT_ALLOC, [METRIC_TEMPORARY] = LIMIT_TEMPORARY,
        [METRIC_COUNT] = LIMIT_COUNT,
    };
    struct limit_rules rules = default_rules;
    struct err err = {""};
    int rc;

    if (o->fail_over == NULL)
        return 0;
    if (metric_was_chosen(&o->metric))
        rules.unnamed = 1u << of_metrics[metric_chosen(&o->metric)];
    rc = limits_parse(o->fail_over, &rules, ret, &err);
    if (rc != 0)
        message_error("%s", err.text);
    return rc ? exit_code(rc) : 0;
}

/* Report that the profile of S lacks events. Returns false if it lacks none. */
static bool
cmd_diff_is_incomplete(const struct side *s)
{
    return report_incomplete("fail-over", &s->set.v[0]->losses, s->set.v[0]->may_lag);
}

/* Report each side whose blocks have no annotations, if LIMITS bound corruption. Returns true if
 * there is such a side. */
static bool
lacks_annotations(const struct limits *limits, const struct side *const sides[2])
{
    bool lacks = false;

    for (size_t i = 0; i < 2 && limits->v[LIMIT_CORRUPTION].given; i++)
        if (!sides[i]->set.v[0]->annotated) {
            report_unannotated("fail-over", sides[i]->set.v[0]->path);
            lacks = true;
        }
    return lacks;
}

/* Return the exit code of --fail-over, whose limits gave RC. A side may lack events, be damaged, or
 * have a process that was not recorded. No such side can be judged to be within limits. */
static int
check_sides(const struct limits *limits, const struct side *before, const struct side *after,
            int rc)
{
    const struct side *sides[] = {before, after};
    bool damaged = false;

    for (size_t i = 0; i < countof(sides); i++)
        if (sides[i]->set.v[0]->damage != NULL) {
            report_damaged("fail-over", sides[i]->set.v[0]);
            damaged = true;
        }
    for (size_t i = 0; i < countof(sides); i++)
        if (sides[i]->set.unrecorded != NULL)
            report_unrecorded("fail-over", sides[i]->set.unrecorded);
    if (before->set.unrecorded != NULL || (rc == 0 && after->set.unrecorded != NULL))
        return EXIT_BAD_INPUT;
    if (damaged || before->set.unread != 0 || after->set.unread != 0)
        return EXIT_BAD_INPUT;
    if (rc == 0 && (cmd_diff_is_incomplete(before) || cmd_diff_is_incomplete(after)))
        return EXIT_BAD_INPUT;
    if (rc == 0 && lacks_annotations(limits, sides))
        return EXIT_BAD_INPUT;
    return rc;
}

static int
run_diff(const void *given, int count, char **arguments)
{
    const struct diff_options *o = given;
    struct side before = {0}, after = {0};
    struct names_hint hint = {0};
    struct filter_hits hits = {0};
    struct limits limits = {0};
    int rc = cmd_diff_read_limits(o, &limits);

    (void)count;
    if (rc == 0)
        rc = cmd_diff_open_side(o, arguments[0], &hits, &before);
    if (rc == 0)
        rc = cmd_diff_open_side(o, arguments[1], &hits, &after);
    if (rc == 0) {
        names_hint_add(&hint, before.set.v[0], &before.stacks, NULL);
        names_hint_add(&hint, after.set.v[0], &after.stacks, NULL);
        pick_print_hits(&hits, &o->view);
        rc = cmd_diff_show(o, &limits, &before, &after);
    }
    if ((rc == 0 || rc == EXIT_FINDINGS) && limits_are_given(&limits))
        rc = check_sides(&limits, &before, &after, rc);
    names_hint_print(&hint);
    close_side(&before);
    close_side(&after);
    return rc;
}

/* Return the '@' of WHAT, FILE@WHEN, or NULL. Names of files and of snapshots may contain '@' too,
 * so the longest existing file decides; without any, as for a pid, the last '@'. */
static const char *
find_at_suffix(const char *what, struct arena *arena)
{
    const char *last = strrchr(what, '@');

    if (access(what, F_OK) == 0)
        return NULL;
    for (size_t i = strlen(what); i-- > 1;)
        if (what[i] == '@' && what[i + 1] != '\0' &&
            access(arena_strndup(arena, what, i), F_OK) == 0)
            return what + i;
    return last != NULL && last != what && last[1] != '\0' ? last : NULL;
}

/* Open WHAT, or WHAT@WHEN: each side may have a moment. The processes of a session are summed,
 * each as it was then. Returns as set_open. */
static int
open_cut(const struct diff_options *o, const char *what, struct side *ret)
{
    struct view_options of_side = o->view;
    const char *at = find_at_suffix(what, &ret->names);
    int rc;

    if (at != NULL) {
        of_side.at = at + 1;
        what = arena_strndup(&ret->names, what, (size_t)(at - what));
    }
    rc = set_open(what, &of_side, &ret->set);
    return rc ? rc : set_merge(&ret->set, what, &of_side, SET_OF_MOMENTS);
}

static int
cmd_diff_open_side(const struct diff_options *o, const char *what, struct filter_hits *hits,
                   struct side *ret)
{
    struct stacks_options options = pick_options(&o->view, true);
    int rc = open_cut(o, what, ret);

    if (rc != 0)
        return rc;
    rc = pick_metric(ret->set.v[0], metric_chosen(&o->metric));
    if (rc != 0)
        return rc;
    rc = symbolise(ret->set.v[0], &o->view.symbols);
    if (rc == 0)
        pick_frames(ret->set.v[0], &o->view, !o->view.json && o->fail_over == NULL);
    options.merge_labels = false;
    return rc ? rc : pick_stacks(ret->set.v[0], &options, &ret->set.arena, hits, &ret->stacks);
}

static int
write_flamegraph(const char *path, struct side *before, struct side *after, enum metric metric)
{
    struct flame_side a = {.p = before->set.v[0], .stacks = &before->stacks},
                      b = {.p = after->set.v[0], .stacks = &after->stacks};
    struct sink file = {.path = path, .set = &after->set};
    struct strbuf out = sink_begin(&file);
    int rc = sink_check(path, &before->set);

    if (rc != 0)
        return rc;
    flamegraph_diff(&a, &b, metric, &out);
    return sink_end(&out);
}

/* Compare the diff of *V with LIMITS, and store the results in *RET and *V. Returns the exit
 * code. */
static int
cmd_diff_check_limits(const struct diff_options *o, const struct limits *limits,
                      const struct diff_side *before, const struct diff_side *after,
                      struct diff_view *v, struct limit_results *ret)
{
    const struct stacks_options options = pick_options(&o->view, true);
    struct err err = {""};
    int rc;

    if (!limits_are_given(limits))
        return 0;
    rc = limit_check_growth(limits, v->diff, before, after, &options, v->arena, ret, &err);
    if (rc != 0)
        message_error("%s", err.text);
    v->checked = ret;
    return rc ? exit_code(rc) : 0;
}

/* Return the metric whose rows explain the result of the limits: the user's choice, else the metric
 * of the first limit exceeded, else METRIC. */
static enum metric
metric_to_explain(const struct diff_options *o, const struct limit_results *checked,
                  enum metric metric)
{
    for (size_t i = 0; i < checked->count && !metric_was_chosen(&o->metric); i++)
        if (checked->v[i].exceeded)
            return limit_metric(checked->v[i].of);
    return metric;
}

static int
cmd_diff_show(const struct diff_options *o, const struct limits *limits, struct side *before,
              struct side *after)
{
    struct arena *arena = &after->set.arena;
    enum metric metric = metric_chosen(&o->metric);
    struct diff_side a = {before->set.v[0], &before->stacks}, b = {after->set.v[0], &after->stacks};
    struct sink to_stdout = {.is_text = !o->view.json};
    struct strbuf out = sink_begin(&to_stdout);
    struct limit_results checked = {0};
    struct diff diff;
    struct diff_view v = {.before = a.p,
                          .after = b.p,
                          .diff = &diff,
                          .by = (enum diff_by)o->by,
                          .metric = metric,
                          .arena = arena};
    struct style style = style_for(STDOUT_FILENO, o->view.wide);
    struct json j;
    int rc = o->flamegraph ? write_flamegraph(o->flamegraph, before, after, metric) : 0;

    if (rc != 0)
        return rc;
    diff_build(&a, &b, v.by, metric, arena, &diff);
    rc = cmd_diff_check_limits(o, limits, &a, &b, &v, &checked);
    if (rc != 0)
        return rc;
    v.metric = metric_to_explain(o, &checked, metric);
    if (v.metric != metric)
        diff_build(&a, &b, v.by, v.metric, arena, &diff);
    v.limit = o->view.limit ? o->view.limit : o->view.json ? SIZE_MAX : DIFF_TEXT_LIMIT;
    for (size_t i = 0; i < 2 && o->view.json; i++)
        if ((i ? b : a).p->damage != NULL)
            message_warning("%s", damage_sentence(arena, (i ? b : a).p));
    json_begin(&j, &out, view_json_version(&o->view));
    if (o->view.json)
        json_diff(&j, &v);
    else
        text_diff(&v, &style, o->view.depth, &out);
    rc = sink_end(&out);
    if (rc == 0 && report_limits(&checked, "fail-over", NULL))
        rc = EXIT_FINDINGS;
    return rc;
}

static const char *const by_names[] = {"site", "function", NULL};

static const struct opt options[] = {
    METRIC_OPTIONS(defaults.metric,
                   "What to compare: bytes in use, bytes at the peak, bytes allocated, short-lived "
                   "blocks, or the count of allocations."),
    {OPT_CHOICE, 0, "by", &defaults.by, "WHAT",
     "Add up by site (the default: each stack for itself) or by function.", by_names},
    {OPT_COUNT, 'n', "limit", &defaults.view.limit, "N",
     "Show at most N rows. The default is 10, and all in JSON.", NULL},
    {OPT_COUNT, 0, "depth", &defaults.view.depth, "N", "Show at most N frames of a stack.", NULL},
    {OPT_STRING, 0, "fail-over", &defaults.fail_over, "LIMITS",
     "Exit with code 1 when a total grew by more than LIMITS allow, such as 5% or 1M. The total is "
     "the chosen metric's, by default the peak or the bytes still live. Several limits have names "
     "and are separated by commas: peak=5%,leaks=0,allocations=10%; the names are peak, leaks, "
     "inuse, alloc, allocations, temporary and corruption.",
     NULL},
    {OPT_STRING, 0, "flamegraph", &defaults.flamegraph, "FILE",
     "Also write a flame graph of the difference to FILE (SVG): red grew, blue shrank.", NULL},
    VIEW_STACK_OPTIONS(defaults.view),
    VIEW_SHOW_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_diff = {
    .name = "diff",
    .arguments = "BEFORE AFTER",
    .summary = "compare two profiles and show what grew",
    .description =
        "Shows the changes from the profile BEFORE to the profile AFTER, the largest first. Each "
        "is a profile, a process being recorded, or a session, whose processes are summed (--only "
        "selects some). A suffix of @ and a moment (see --at) takes each process as it was then; "
        "all of them must have that moment.\n"
        "\n"
        "Stacks match if their functions and files are equal, in this order; addresses and lines "
        "may differ, so profiles of two builds can be compared. Files match if their paths are "
        "equal. A file missing on one side matches the other side's file whose path has the most "
        "equal final components, at least the name, so builds may be in different directories. A "
        "stack that only one side has counts as zero on the other. A function has two growths: "
        "self, in the bytes that it allocated, and inclusive, which adds its callees.\n"
        "\n"
        "With --fail-over the exit code states whether totals grew too much, for use in tests, and "
        "stderr has a line for each that did. Unless a metric is chosen, rows then show the first "
        "of these. Percentages are of BEFORE's total. leaks counts live bytes, except those that "
        "heaptap leaks suppresses by default.\n"
        "\n"
        "The growth of sampled profiles is known to within a range, which is shown. A growth whose "
        "range includes 0 is within noise; --fail-over fails only if the whole range exceeds the "
        "limit.",
    .examples =
        "heaptap diff monday.heaptap today.heaptap\tmemory that is in use now and was not\n"
        "heaptap diff --fail-over peak=5%,leaks=0 base.heaptap new.heaptap\ta gate for tests\n"
        "heaptap diff app.heaptap@warm app.heaptap@end\tgrowth of a run since its snapshot\n"
        "heaptap diff --only cc1plus a.processes b.processes\tcompilers of two builds\n"
        "heaptap diff --by function --alloc a.heaptap b.heaptap\tfunctions that churn more\n"
        "heaptap diff --flamegraph diff.svg a.heaptap b.heaptap\tthe same as a picture\n",
    .options = options,
    .offered = cmd_diff_offered,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 2,
    .max_arguments = 2,
    .run = run_diff,
};
