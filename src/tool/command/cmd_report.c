/* cmd_report.c: `heaptap report`, the default view.
 *
 * Without --by, --tree and a metric, text shows the overview; each of these options selects one
 * table or tree instead. JSON has the same numbers exactly, and all sites unless --limit is set. */
#include <inttypes.h>
#include <string.h>

#include "analyse/group.h"
#include "analyse/stacks.h"
#include "command/runner.h"
#include "json/json.h"
#include "launch/proc.h"
#include "open/symbolise.h"
#include "option/shared_opts.h"
#include "profile/listing.h"
#include "text/text.h"
#include "text/text_view.h"
#include "util/shell_word.h"
#include "view/messages.h"

static const char *const by_names[] = {"site", "function", "line", "file",  "module", "thread",
                                       "size", "type",     "heap", "label", "label=", NULL};

struct report_options {
    struct view_options view;
    struct opt_choice by; // enum group_by; -1 = not given.
    struct metric_choice metric;
    bool tree, invert, full;
    uint64_t site; // Number of the only stack to show; 0 = not given.
};
static const struct report_options defaults = {.by = {-1, NULL}, .metric.metric = -1};

/* State of a command, shared by the runner's steps. */
struct report_run {
    const struct report_options *options;
    uint32_t *highest; // With --site: the highest number of a stack that was seen.
};

/* Return true if the user chose a metric. A table by that metric then replaces the overview. */
static bool
metric_is_given(const struct metric_choice *m)
{
    return m->metric >= 0 || m->inuse || m->peak || m->alloc || m->temporary || m->count;
}

static bool
is_overview(const struct report_options *o)
{
    return !o->tree && !o->invert && o->by.choice < 0 && !metric_is_given(&o->metric) &&
           o->site == 0;
}

/* Return true if the output is the first screen of the overview. */
static bool
is_brief(const struct report_options *o)
{
    return is_overview(o) && !o->full && !o->view.json;
}

static const struct report_options *
report_options(const struct shown *s)
{
    const struct report_run *run = s->runner->own;

    return run->options;
}

static void
report_text(struct text_view *v, const struct report_options *o, enum metric metric)
{
    if (o->full) {
        text_overview(v);
    } else if (o->tree || o->invert) {
        text_header(v);
        text_tree(v, o->invert ? TREE_BOTTOM_UP : TREE_TOP_DOWN, metric, o->view.depth);
    } else if (o->by.choice > BY_SITE) {
        text_header(v);
        text_groups(v, (enum group_by)o->by.choice, metric);
    } else if (o->by.choice == BY_SITE || metric_is_given(&o->metric)) {
        text_header(v);
        text_sites(v, metric);
    } else {
        text_brief(v);
    }
}

/* Return true if the output is the JSON document whose stacks have numbers. */
static bool
shows_sites_json(const struct report_options *o)
{
    return o->view.json && view_json_version(&o->view) == JSON_VERSION_TABLES && !o->tree &&
           !o->invert && o->by.choice <= BY_SITE;
}

static void
report_json(struct json *j, const struct view *v, const struct report_options *o,
            enum metric metric)
{
    size_t limit = v->limit ? v->limit : SIZE_MAX;

    if (o->tree || o->invert)
        json_tree(j, v, o->invert ? TREE_BOTTOM_UP : TREE_TOP_DOWN, metric, o->view.depth);
    else if (o->by.choice > BY_SITE)
        json_groups(j, v, (enum group_by)o->by.choice, metric, limit);
    else
        json_report(j, v, metric, limit);
}

static int
check_sizes(const struct report_options *o, enum metric metric)
{
    const struct view_options *v = &o->view;

    if (v->at || v->between) {
        message_error("--by size covers the whole run and excludes --at and --between; heaptap "
                      "sizes takes them");
        return EXIT_USAGE;
    }
    if (metric == METRIC_PEAK || metric == METRIC_TEMPORARY) {
        message_error("--by size has live bytes, allocated bytes and calls, but not --metric %s",
                      metric_name(metric));
        return EXIT_USAGE;
    }
    if (v->filter || v->tags.heap || v->tags.label) {
        message_error("--by size covers malloc in the whole process and cannot be filtered");
        return EXIT_USAGE;
    }
    return 0;
}

/* Return the metric to show. JSON always has the same default, because scripts rely on it. Sizes
 * have no peak: if no block is live, the allocated bytes are shown. */
static enum metric
metric_to_show(const struct shown *s)
{
    const struct report_options *o = report_options(s);

    if (metric_is_given(&o->metric) || o->view.json)
        return *s->runner->metric;
    if (o->by.choice == BY_SIZE) {
        struct counters all = group_all_sizes(s->p);

        return counters_live_bytes(&all) != 0 ? METRIC_INUSE : METRIC_ALLOC;
    }
    return metric_first(s->p, &s->stacks.total);
}

/* Check that the profile, which --at or --between may cut, contains the requested values. Returns 0
 * or an exit code. */
static int
cmd_report_check(struct shown *s)
{
    const struct report_options *o = report_options(s);

    if (o->by.choice == BY_SIZE)
        return check_sizes(o, *s->runner->metric);
    if (s->p->extent == EXTENT_WHOLE || o->by.choice != BY_TYPE || s->p->typed)
        return 0;
    message_error("types come from the sizes of a whole run; heaptap pack %s first",
                  shell_word(s->text.base.arena, s->p->path));
    return EXIT_USAGE;
}

/* Print a hint at the other profiles of the run, because the name of this profile does not reveal
 * them. */
static void
mention_others(struct shown *s)
{
    struct arena *a = s->text.base.arena;
    size_t count = 0;
    const char *session = s->p->merged_processes == 0 && strncmp(s->p->path, "/proc/", 6) != 0
                              ? listing_session_of(s->p->path, a, &count)
                              : NULL;

    if (session != NULL)
        message_hint("its run has left %s: heaptap report %s",
                     style_plural(a, (int64_t)count - 1, "more profile"), shell_word(a, session));
}

/* Print a hint if much of a running process's resident memory is not in live blocks: memory that it
 * has mapped itself, or that the allocator keeps. */
static void
mention_other_memory(const struct shown *s)
{
    enum { LEAST_BYTES = 16 << 20 }; // More than the recorder's own memory in a small process.
    const struct profile_process *pr = &s->p->process;
    pid_t pid = (pid_t)profile_pid_here(s->p);
    struct arena *a = s->text.base.arena;
    const char *executable;
    int64_t resident, other;

    if (pr->ended || pr->unsure || s->p->merged_processes > 0 || s->p->extent != EXTENT_WHOLE)
        return;
    // A packed profile may have the id of a process that is gone.
    executable = proc_executable(pid, a);
    if (executable == NULL || strcmp(executable, pr->executable) != 0)
        return;
    resident = proc_resident_bytes(pid);
    other = proc_anonymous_bytes(pid) - counters_live_bytes(&s->p->totals);
    if (other >= LEAST_BYTES && other > resident / 3)
        message_hint("%s of the %s RSS are not in live blocks: heaptap rss %d divides them",
                     style_bytes(a, other), style_bytes(a, resident), (int)pid);
}

/* Show the stack with the number of --site. */
static int
show_one_stack(struct shown *s)
{
    const struct report_run *run = s->runner->own;
    const struct report_options *o = run->options;
    uint32_t highest = stack_numbers(s->p, &s->stacks);
    struct stack_details details;

    if (highest > *run->highest)
        *run->highest = highest;
    if (o->site > highest)
        return HEAPTAP_NOT_FOUND;
    // Types are known from the sizes of a whole run only.
    if (s->p->extent == EXTENT_WHOLE)
        symbolise_types(s->p, &o->view.symbols);
    stack_details_build(s->p, &s->stacks, (uint32_t)o->site, s->text.base.arena, &details);
    if (details.count == 0)
        return HEAPTAP_NOT_FOUND;
    if (o->view.json) {
        json_one_stack(s->j, &s->text.base, *s->runner->metric, &details, highest);
        return 0;
    }
    text_header(&s->text);
    s->text.depth = o->view.depth ? o->view.depth : UINT32_MAX;
    text_one_stack(&s->text, &details, highest);
    return 0;
}

static int
cmd_report_show(struct shown *s)
{
    const struct report_options *o = report_options(s);
    enum metric metric = metric_to_show(s);

    if (o->site != 0)
        return show_one_stack(s);
    if (o->by.choice == BY_TYPE)
        symbolise_types(s->p, &o->view.symbols);
    s->text.base.label = o->by.of;
    if (shows_sites_json(o))
        stack_numbers(s->p, &s->stacks);
    if (o->view.json)
        report_json(s->j, &s->text.base, o, metric);
    else
        report_text(&s->text, o, metric);
    if (!o->view.json && !o->view.only && s->set->count == 1)
        mention_others(s);
    if (is_overview(o) && !o->view.json)
        mention_other_memory(s);
    return 0;
}

/* Print that no stack has the number of --site. HIGHEST is the highest number that was seen. */
static void
report_no_stack(const struct report_options *o, uint32_t highest)
{
    if (highest == 0)
        message_error("there is no stack #%" PRIu64 ": the profile has no stacks", o->site);
    else if (o->site > highest)
        message_error("there is no stack #%" PRIu64 ": the numbers are 1 to %" PRIu32, o->site,
                      highest);
    else
        message_error("stack #%" PRIu64 " is not shown with these options, which leave it out or "
                      "merge it with a smaller number; the numbers are 1 to %" PRIu32,
                      o->site, highest);
}

/* Check that --site is not combined with an option that selects another view. */
static int
check_site(const struct report_options *o)
{
    if (o->site == 0 || !(o->tree || o->invert || o->by.choice >= 0))
        return 0;
    message_error("--site shows one stack and excludes --by, --tree and --invert");
    return EXIT_USAGE;
}

static int
run_report(const void *given, int count, char **arguments)
{
    const struct report_options *o = given;
    const enum metric metric = metric_chosen(&o->metric);
    uint32_t highest = 0;
    const struct report_run run = {o, &highest};
    // A session's overview is its table of processes, and its full overview is that of the sum.
    // Every other view shows each process. In JSON each process has an overview.
    const struct runner r = {
        .options = &o->view,
        .own = &run,
        .session = o->full && !o->view.json ? SESSION_SUM
                   : is_overview(o)         ? SESSION_TABLE_ONLY
                                            : SESSION_TABLE,
        .stacks = STACKS_FOLDED_IN_TEXT,
        // show_one_stack numbers the stacks itself, because it needs the highest number.
        .numbered = o->site == 0 &&
                    (o->full || !(o->tree || o->invert || o->by.choice > BY_SITE)),
        .recursion_folded = is_brief(o),
        // These tables are about C code.
        .keeps_native = o->by.choice == BY_MODULE || o->by.choice == BY_TYPE,
        .metric = &metric,
        .check = cmd_report_check,
        .show = cmd_report_show,
    };

    int rc = check_site(o);

    if (rc == 0)
        rc = runner_run(&r, count > 0 ? arguments[0] : NULL);
    if (rc != HEAPTAP_NOT_FOUND)
        return rc;
    report_no_stack(o, highest);
    return EXIT_USAGE;
}

static const struct opt options[] = {
    {OPT_CHOICE_OF, 0, "by", &defaults.by, "WHAT",
     "Add up by site, function, line, file, module, thread, size, type, heap, label (each set of "
     "labels), or the value of the label KEY.",
     by_names},
    METRIC_OPTIONS(defaults.metric,
                   "The metric to sort by and show: bytes in use, bytes at the peak, bytes "
                   "allocated, short-lived blocks, or the count of allocations. Default: the peak, "
                   "unless nearly all of it is still in use; by size bytes in use or, if none are, "
                   "allocated; in JSON always bytes in use."),
    {OPT_FLAG, 0, "full", &defaults.full, NULL,
     "Show all sections: how it was recorded, heaps, labels, sizes, and for each metric the first "
     "sites with their whole stacks.",
     NULL},
    {OPT_COUNT, 0, "site", &defaults.site, "N",
     "Show only the stack #N, a number that another view printed: all amounts, the sizes and "
     "types of the blocks, and all frames with their modules. Numbers depend on the options that "
     "select functions (--native, --language-only, --no-language-only), so repeat those.",
     NULL},
    {OPT_FLAG, 0, "tree", &defaults.tree, NULL, "Show a tree from main down to the functions that "
                                                "allocate.",
     NULL},
    {OPT_FLAG, 0, "invert", &defaults.invert, NULL,
     "Show a tree from the functions that allocate up to their callers.", NULL},
    {OPT_COUNT, 'n', "limit", &defaults.view.limit, "N",
     "Show at most N rows or sites; in a tree the N largest. The default is 10, 5 per section in "
     "the overviews, all above half a percent in a tree, and all in JSON.",
     NULL},
    {OPT_COUNT, 0, "depth", &defaults.view.depth, "N",
     "Show at most N frames of a stack, or N levels of a tree.", NULL},
    VIEW_STACK_OPTIONS(defaults.view),
    VIEW_SHOW_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_report = {
    .name = "report",
    .arguments = "[PROFILE|PID|DIRECTORY]",
    .summary = "show which code holds memory and which churns it",
    .description =
        "Shows totals and the most important sites of a run: those that held the memory at its "
        "peak or hold it still, those that allocate all the time, and those that still grow. A row "
        "is a function of your code; the lines below it show its callers outside std::, and the "
        "container that allocates (via vector::push_back). Your code is everything "
        "outside the C and C++ libraries and, unless the program belongs to the system, outside "
        "the system's other libraries. #3 is the number of a stack, the same in all views of the "
        "profile; low numbers have large shares of the peak or of all bytes allocated.\n\n"
        "--full shows all sections, with whole stacks. The argument is a finished profile, a "
        "process that is being recorded, or a session; the default is the newest profile in the "
        "current directory.\n\n"
        "A session is a directory of profiles. Its overview has a line per process; --only selects "
        "processes, --full adds them up, and --by, --tree and the metrics show each of them.\n\n"
        "Short-lived blocks died within 16 allocations: their thread freed them before it had "
        "allocated 16 more. Many of them are churn that one buffer would save.\n\n"
        "A site is a distinct stack. Percentages are of the section's total. Functions that only "
        "pass an allocation on (operator new, zmalloc, all of std::) are left out and their "
        "callers are charged.\n\n"
        "Programs declare heaps and labels through heaptap.h. The memory behind such a heap, its "
        "backing, is in no total; the report shows how full it is.\n\n"
        "A table by thread charges blocks to the thread that allocated them, even if another "
        "thread frees them. If several threads allocate at one site and some free blocks of "
        "others, the live bytes of that site are divided among them in proportion.\n\n"
        "A table by function, line, file or module has two columns: bytes allocated there (self), "
        "and bytes allocated there and in all calls from there (inclusive). In the second each "
        "stack counts once, however often it recurses.",
    .examples = "heaptap report\tthe newest profile here\n"
                "heaptap report 4711\ta running process\n"
                "heaptap report --site 3 app.heaptap\tall about the stack #3\n"
                "heaptap report --by function --peak app.heaptap\tfunctions that held memory at "
                "the peak\n"
                "heaptap report --tree --alloc app.heaptap\tchurn from main downwards\n"
                "heaptap report --by label=tenant app.heaptap\twhat each tenant holds\n"
                "heaptap report --filter 'json_.*' --json app.heaptap\ta part, for a script\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_report,
};
