/* cmd_leaks.c: `heaptap leaks`: show blocks still live, without those that suppressions accept.
 *
 * They are called "still live", not "leaked", because nobody has searched for pointers to them.
 * With --fail-over, test suites can use it as a check: the exit code is 1 if more than a limit is
 * live. */
#include "analyse/interval.h"
#include "analyse/stacks.h"
#include "command/leak_rules.h"
#include "command/report_limits.h"
#include "command/runner.h"
#include "json/json.h"
#include "option/shared_opts.h"
#include "text/text.h"

#define NOT_GIVEN UINT64_MAX

enum { CALLERS = 5 };

struct leaks_options {
    struct view_options view;
    const char *suppressions;
    bool no_builtin;
    const char *fail_over;
    bool paths, call_sites, classic;
    uint64_t callers;
};
static const struct leaks_options defaults = {.callers = NOT_GIVEN};

/* Live memory of all processes shown. */
struct live {
    int64_t bytes;
    int64_t least_bytes; // Lower bound of the live bytes; below the value for estimates.
    int64_t most_bytes;  // Upper bound of the live bytes; above the value for estimates.
    int unread;          // As in struct view_set.
    struct profile_losses losses; // If events were lost, more may be live.
    bool may_lag;        // A profile may lack the latest events.
    bool damaged;        // A profile is damaged, and an error was printed.
    bool unrecorded;     // Recording was never on in a profile, and an error was printed.
};

/* State of a command, shared by the runner's steps. */
struct leaks_run {
    const struct leaks_options *options;
    struct live *live; // Sum over all processes shown.
};

/* Return true if an option requests the table of paths, or has a meaning only for that table. */
static bool
wants_paths(const struct leaks_options *o)
{
    return o->paths || o->call_sites || o->classic || o->callers != NOT_GIVEN;
}

/* Read the user's suppressions. They precede the built-in ones, so that blocks matching both are
 * counted for the user's. Returns 0 or an exit code. */
static int
read_suppressions(const struct leaks_options *o, struct suppressions *ret, struct arena *arena)
{
    int rc = o->suppressions ? leak_rules_read(o->suppressions, ret, arena) : 0;

    if (!o->no_builtin)
        suppress_add_builtin(ret, arena);
    return rc;
}

static void
show_paths(struct shown *s, const struct leaks *leaks, const struct suppressions *suppressions)
{
    const struct leaks_run *run = s->runner->own;
    const struct leaks_options *o = run->options;
    struct paths_options options = {.callers = o->callers == NOT_GIVEN ? CALLERS : o->callers,
                                    .call_sites = o->call_sites};
    const struct view *v = &s->text.base;
    struct functions functions;
    struct paths paths;
    struct leak_paths l = {leaks, suppressions, &paths, &functions, o->call_sites};

    functions_init(&functions, v->p, v->arena);
    paths_build(&functions, leaks->v, leaks->count, &options, v->arena, &paths);
    if (o->view.json)
        json_paths(s->j, v, &l, v->limit ? v->limit : SIZE_MAX);
    else if (o->classic)
        classic_paths(&s->text, &l);
    else
        text_paths(&s->text, &l);
    functions_release(&functions);
}

static void
add_live(const struct profile *p, const struct stacks *stacks, struct live *sum)
{
    int64_t bytes = counters_live_bytes(&stacks->total), least_bytes = bytes, most_bytes = bytes;

    if (profile_has_errors(p)) {
        struct interval i = interval_of_metric(&stacks->total, &stacks->errors, METRIC_INUSE);

        least_bytes = interval_rounded(i.low);
        most_bytes = interval_rounded(i.high);
    }
    sum->bytes = counters_sum(sum->bytes, bytes);
    sum->least_bytes = counters_sum(sum->least_bytes, least_bytes);
    sum->most_bytes = counters_sum(sum->most_bytes, most_bytes);
    profile_losses_add(&sum->losses, &p->losses);
    sum->may_lag |= p->may_lag;
}

static int
cmd_leaks_show(struct shown *s)
{
    const struct leaks_run *run = s->runner->own;
    const struct leaks_options *o = run->options;
    struct stacks_options options =
        pick_options(&o->view, !o->view.json || wants_paths(o) || o->view.fold);
    struct suppressions suppressions = {0};
    struct view *v = &s->text.base;
    struct err err = {""};
    struct leaks leaks;
    int rc = read_suppressions(o, &suppressions, v->arena);

    if (rc != 0)
        return rc;
    rc = leaks_find(s->p, &options, &suppressions, v->arena, &leaks, &err);
    if (rc != 0) {
        message_error("%s", err.text);
        return exit_code(rc);
    }
    pick_check(s->p, &options, &leaks.stacks, v->arena, s->hits);
    if (!o->view.json || view_json_version(&o->view) == JSON_VERSION_TABLES)
        stack_numbers(s->p, &leaks.stacks);
    v->stacks = &leaks.stacks;
    if (wants_paths(o))
        show_paths(s, &leaks, &suppressions);
    else if (o->view.json)
        json_leaks(s->j, v, &leaks, &suppressions, v->limit ? v->limit : SIZE_MAX);
    else
        text_leaks(&s->text, &leaks, &suppressions);
    add_live(s->p, &leaks.stacks, run->live);
    if (s->p->damage != NULL && o->fail_over != NULL) {
        report_damaged("fail-over", s->p);
        run->live->damaged = true;
    }
    if (!profile_was_recorded(s->p) && o->fail_over != NULL) {
        report_unrecorded("fail-over", s->p->path);
        run->live->unrecorded = true;
    }
    run->live->unread = s->set->unread;
    return 0;
}

/* Return the exit code for recorded bytes within the limits: 0, or EXIT_BAD_INPUT if events are
 * missing. */
static int
check_within(const struct live *live)
{
    return report_incomplete("fail-over", &live->losses, live->may_lag) || live->unrecorded
               ? EXIT_BAD_INPUT
               : 0;
}

/* Return the words for BYTES that the options V select: "20 KiB are still live". */
static const char *
cmd_leaks_live_text(struct arena *a, const struct view_options *v, const char *bytes)
{
    if (v->between)
        return arena_printf(a, "live bytes grew by %s in %s", bytes, v->between);
    return v->at ? arena_printf(a, "%s were live at %s", bytes, v->at)
                 : arena_printf(a, "%s are still live", bytes);
}

/* Print the upper bound of the live memory, of the options V, if it exceeds the limit L although
 * LIVE does not. */
static void
cmd_leaks_hint_at_most(const struct limit *l, const struct live *live, const struct view_options *v)
{
    struct arena arena = {0};

    if (live->most_bytes > 0 && (uint64_t)live->most_bytes > l->value)
        message_hint("%s; but the samples permit up to %s, more than the %s that "
                     "--fail-over allows; this is no failure",
                     cmd_leaks_live_text(&arena, v, style_bytes(&arena, live->bytes)),
                     style_bytes(&arena, live->most_bytes),
                     style_bytes_beside(&arena, (int64_t)l->value, live->most_bytes));
    arena_release(&arena);
}

/* Return 1 if more is live than LIMITS allow. If that is unknown, return the exit code for the
 * reason. */
static int
cmd_leaks_check_limits(const struct limits *limits, const struct live *live,
                       const struct view_options *v)
{
    const struct limit *l = &limits->v[LIMIT_LEAKS];
    struct arena arena = {0};
    bool exceeded = live->least_bytes > 0 && (uint64_t)live->least_bytes > l->value;
    const char *text;

    if (!l->given)
        return 0;
    if (live->damaged)
        return EXIT_BAD_INPUT;
    if (live->unread != 0)
        return live->unread;
    if (live->bytes <= 0 || (uint64_t)live->bytes <= l->value) {
        cmd_leaks_hint_at_most(l, live, v);
        return check_within(live);
    }
    text = cmd_leaks_live_text(&arena, v,
                               style_bytes_beside(&arena, live->bytes, (int64_t)l->value));
    if (exceeded)
        leak_rules_exceeded(l, text, live->bytes);
    else
        message_hint("%s, more than the %s that --fail-over allows; but the samples permit as "
                     "little as %s, so this is no failure",
                     text, style_bytes_beside(&arena, (int64_t)l->value, live->bytes),
                     style_bytes(&arena, live->least_bytes));
    arena_release(&arena);
    return exceeded ? EXIT_FINDINGS : check_within(live);
}

static int
run_leaks(const void *given, int count, char **arguments)
{
    const struct leaks_options *o = given;
    struct live live = {0};
    const struct leaks_run run = {o, &live};
    const struct runner r = {
        .options = &o->view,
        .own = &run,
        .stacks = STACKS_NONE,
        .keeps_native = o->suppressions != NULL || o->fail_over != NULL,
        .show = cmd_leaks_show,
    };
    struct limits limits = {0};
    int rc = leak_rules_limits(o->fail_over, &limits);

    if (rc == 0)
        rc = runner_run(&r, count > 0 ? arguments[0] : NULL);
    return rc ? rc : cmd_leaks_check_limits(&limits, &live, &o->view);
}

static const struct opt options[] = {
    {OPT_STRING, 0, "suppressions", &defaults.suppressions, "FILE",
     "Leave out stacks that FILE names, in LeakSanitizer's syntax: lines leak:PATTERN, where "
     "PATTERN is looked for in the function, file and module of each frame and may contain * ^ "
     "and $.",
     NULL},
    {OPT_FLAG, 0, "no-builtin-suppressions", &defaults.no_builtin, NULL,
     "Also show blocks that the C and C++ libraries keep on purpose.", NULL},
    {OPT_STRING, 0, "fail-over", &defaults.fail_over, "BYTES",
     "Exit with code 1 when more than BYTES are still live and not suppressed; 0 allows none. With "
     "samples, the excess must be certain. With --between, BYTES limits the growth of all stacks "
     "together, those that shrank included. The default never fails.",
     NULL},
    {OPT_FLAG, 0, "paths", &defaults.paths, NULL,
     "Add up by path: the functions of the last callers, as in || > main > load > read_line.",
     NULL},
    {OPT_COUNT_0, 0, "callers", &defaults.callers, "N",
     "Keep the N innermost functions of a path. The default is 5; 0 keeps all. Turns on --paths.",
     NULL},
    {OPT_FLAG, 0, "call-sites", &defaults.call_sites, NULL,
     "Separate calls from different lines of one function. Turns on --paths.", NULL},
    {OPT_FLAG, 0, "classic", &defaults.classic, NULL,
     "Print the paths in the layout of the paper on mprof (1988). Turns on --paths.", NULL},
    {OPT_COUNT, 'n', "limit", &defaults.view.limit, "N",
     "Show at most N sites or paths. The default is 10, and all in JSON and with --classic.", NULL},
    {OPT_COUNT, 0, "depth", &defaults.view.depth, "N", "Show at most N frames of a stack.", NULL},
    VIEW_STACK_OPTIONS(defaults.view),
    VIEW_SHOW_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_leaks = {
    .name = "leaks",
    .arguments = "[PROFILE|PID|DIRECTORY]",
    .summary = "show blocks that are still live, largest first",
    .description =
        "Lists the blocks that were not freed, by the stack that allocated them. They are called "
        "still live, not leaked: whether anything still points to them has not been checked.\n"
        "\n"
        "Blocks of the program's own heaps appear among malloc's blocks, with the heap's name in "
        "brackets.\n"
        "\n"
        "Blocks that the C and C++ libraries keep on purpose are suppressed, and so are those that "
        "a file of --suppressions names. The output shows the bytes that each suppression has "
        "hidden.\n"
        "\n"
        "--paths merges stacks with the same innermost functions, whatever their lines, and shows "
        "these functions from the outside in. \"...\" replaces callers that were cut, here or by "
        "`run --frames`.",
    .examples = "heaptap leaks app.heaptap\tblocks that are left\n"
                "heaptap leaks --paths app.heaptap\tthe functions they came through\n"
                "heaptap leaks --fail-over 0 app.heaptap\tfail when anything is left\n"
                "heaptap leaks --suppressions lsan.supp --json app.heaptap\tfor a script\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 0,
    .max_arguments = 1,
    .offered = leak_rules_offered,
    .run = run_leaks,
};
