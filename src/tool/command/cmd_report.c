/* cmd_report.c: `heaptap report`, the default view.
 *
 * Without --by, a metric or --tree it shows the overview; each of them narrows it to one table or
 * tree. JSON gives the same numbers exactly, and all sites unless --limit is set.
 */
#include "option/metric_opts.h"
#include "option/opts.h"
#include "type/types.h"
#include "view/view.h"
#include "view/view_json.h"

static const char *const by_names[] = {"site", "function", "line", "file",  "module", "thread",
                                       "size", "type",     "heap", "label", "label=", NULL};

static struct {
    struct opt_choice by; // enum group_by; -1 = not given.
    struct metric_choice metric;
    bool tree, invert;
} opts = {.by = {-1, NULL}, .metric.metric = -1};

static int report_set(struct view_set *set);

static int
run_report(int count, char **arguments)
{
    struct view_set set;
    int rc = view_open(count > 0 ? arguments[0] : NULL, &set);

    if (rc == 0)
        rc = report_set(&set);
    view_close(&set);
    return rc;
}

/* Whether a metric was asked for, so that the overview is not what is wanted. */
static bool
metric_is_given(void)
{
    const struct metric_choice *m = &opts.metric;

    return m->metric >= 0 || m->inuse || m->peak || m->alloc || m->temporary || m->count;
}

static bool
is_overview(void)
{
    return !opts.tree && !opts.invert && opts.by.choice < 0 && !metric_is_given();
}

static void
report_text(struct text_view *v, enum metric metric)
{
    if (opts.tree || opts.invert) {
        text_header(v);
        text_tree(v, opts.invert ? TREE_BOTTOM_UP : TREE_TOP_DOWN, metric);
    } else if (opts.by.choice > BY_SITE) {
        text_header(v);
        text_groups(v, (enum group_by)opts.by.choice, metric);
    } else if (opts.by.choice == BY_SITE || metric_is_given()) {
        text_header(v);
        text_sites(v, metric);
    } else {
        text_overview(v);
    }
}

static void
report_json(struct json *j, struct text_view *v, enum metric metric)
{
    size_t limit = v->limit ? v->limit : SIZE_MAX;

    if (opts.tree || opts.invert)
        json_tree(j, v, opts.invert ? TREE_BOTTOM_UP : TREE_TOP_DOWN, metric);
    else if (opts.by.choice > BY_SITE)
        json_groups(j, v, (enum group_by)opts.by.choice, metric, limit);
    else
        json_report(j, v, metric, limit);
}

/* Whether what was asked for is known of P, which may be cut by --at or --between. */
static int
check_extent(const struct profile *p, enum metric metric)
{
    if (p->extent == EXTENT_WHOLE || opts.by.choice != BY_TYPE || p->typed)
        return view_check_metric(p, metric);
    say_error("types are told by the sizes of a whole run; heaptap pack %s first", p->path);
    return EXIT_USAGE;
}

/* JSON stacks are folded only when --fold asks for it: readers want what was recorded. */
static int
report_one(struct profile *p, struct arena *arena, struct json *j, struct strbuf *out)
{
    enum metric metric = metric_chosen(&opts.metric);
    struct stacks stacks;
    struct text_view v;
    int rc = check_extent(p, metric);

    if (rc == 0)
        rc = view_symbolise(p);
    if (rc == 0)
        rc = view_stacks(p, !view_options.json || view_options.fold, arena, &stacks);
    if (rc != 0)
        return rc;
    if (opts.by.choice == BY_TYPE)
        symbol_types(p, NULL);
    v = view_text(p, &stacks, arena, out);
    v.label = opts.by.of;
    if (view_options.json)
        report_json(j, &v, metric);
    else
        report_text(&v, metric);
    return 0;
}

static int
check_options(void)
{
    enum metric metric = metric_chosen(&opts.metric);

    if (opts.by.choice == BY_SIZE && (view_options.at || view_options.between)) {
        say_error("--by size is about the whole run, not about --at or --between");
        return EXIT_USAGE;
    }
    if (opts.by.choice == BY_SIZE && (metric == METRIC_PEAK || metric == METRIC_TEMPORARY)) {
        say_error("--by size knows live bytes, allocated bytes and calls, not --metric %s",
                  metric_name(metric));
        return EXIT_USAGE;
    }
    if (opts.by.choice == BY_SIZE &&
        (view_options.filter || view_options.tags.heap || view_options.tags.label)) {
        say_error("--by size is about malloc in the whole process; it cannot be filtered");
        return EXIT_USAGE;
    }
    return 0;
}

static int
report_set(struct view_set *set)
{
    struct strbuf out = view_output();
    struct json j;
    int rc = check_options();

    if (view_options.json) {
        json_begin(&j, &out);
        if (set->count > 1)
            view_session_json(set, &j, &set->arena);
    } else if (set->count > 1) {
        view_session_text(set, &out, &set->arena);
        if (rc == 0 && is_overview())
            say_hint("--only PROGRAM or --only PID shows one of them");
    }
    // The overview of a session is the table; everything else is shown for each process.
    for (size_t i = 0; i < set->count && rc == 0; i++) {
        if (set->count > 1 && !view_options.json && is_overview())
            break;
        if (set->count > 1 && !view_options.json)
            strbuf_char(&out, '\n');
        rc = report_one(set->v[i], &set->arena, &j, &out);
    }
    if (rc != 0) {
        strbuf_release(&out);
        return rc;
    }
    if (view_options.json && set->count > 1)
        view_session_json_end(&j);
    return view_print(&out);
}

static const struct opt options[] = {
    {OPT_CHOICE_OF, 0, "by", &opts.by, "WHAT",
     "Add up by site, function, line, file, module, thread, size, type, heap, labels, or the value "
     "of the label KEY.",
     by_names},
    METRIC_OPTIONS(opts.metric, "What to sort by and show: bytes in use, bytes at the peak, bytes "
                                "allocated, temporary allocations, or the count of allocations."),
    {OPT_FLAG, 0, "tree", &opts.tree, NULL, "Show a tree from main down to those who allocate.",
     NULL},
    {OPT_FLAG, 0, "invert", &opts.invert, NULL,
     "Show a tree from those who allocate to their callers.", NULL},
    {OPT_COUNT, 'n', "limit", &view_options.limit, "N",
     "Show at most N rows or sites. The default is 10, 5 per section in the overview, and all in "
     "JSON.",
     NULL},
    {OPT_COUNT, 0, "depth", &view_options.depth, "N", "Show at most N frames of a stack.", NULL},
    VIEW_STACK_OPTIONS,
    VIEW_SHOW_OPTIONS,
    {.kind = OPT_END},
};

const struct command command_report = {
    .name = "report",
    .arguments = "[PROFILE|PID|DIRECTORY]",
    .summary = "show who holds and who churns memory",
    .description =
        "Shows totals, what is still live, who held memory at the peak, block sizes, who "
        "allocated most, and temporary allocations. Works on a finished profile, on a process "
        "that is being recorded, and on a session; without an argument on the newest profile in "
        "the current directory.\n\n"
        "A session is a directory of profiles. Its overview has a line for each process; --only "
        "picks processes out of it, and --by, --tree and the metrics show each of them.\n\n"
        "A site is a distinct stack. Percentages are of the section's total. Functions that only "
        "pass an allocation on (operator new, xmalloc, allocators of containers) are left out and "
        "their caller is charged.\n\n"
        "Heaps and labels are those that the program tells of with heaptap.h. What such a heap "
        "makes its blocks from, its backing, is in no total: it is shown with how full it is.\n\n"
        "A table by function, line, file or module has two columns: what the innermost frame is "
        "charged with, and inclusive of what it calls, where each stack counts once, however "
        "often it recurses.",
    .examples = "heaptap report\tthe newest profile here\n"
                "heaptap report 4711\ta running process\n"
                "heaptap report --by function --peak app.heaptap\twho held memory at the peak\n"
                "heaptap report --tree --alloc app.heaptap\tchurn from main downwards\n"
                "heaptap report --by label=tenant app.heaptap\twhat each tenant holds\n"
                "heaptap report --filter 'json_.*' --json app.heaptap\ta part, for a script\n",
    .options = options,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_report,
};
