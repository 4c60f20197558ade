/* cmd_leaks.c: `heaptap leaks`, what is still live, without what is known and accepted.
 *
 * It says "still live", not "leaked": nobody has looked for pointers to the blocks. With
 * --fail-over it is a gate for test suites: exit code 1 when more than a budget is left.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "option/opts.h"
#include "view/view.h"
#include "view/view_json.h"
#include "view/view_tables.h"

#define NEVER_FAILS UINT64_MAX
#define NOT_GIVEN UINT64_MAX

enum { CALLERS = 5 };

static struct {
    const char *suppressions;
    bool no_builtin;
    uint64_t fail_over_bytes;
    bool paths, call_sites, classic;
    uint64_t callers;
} opts = {.fail_over_bytes = NEVER_FAILS, .callers = NOT_GIVEN};

static int64_t live_bytes; // Of all processes shown.

/* What only a table of paths has asks for it. */
static bool
wants_paths(void)
{
    return opts.paths || opts.call_sites || opts.classic || opts.callers != NOT_GIVEN;
}

static int
read_file(const char *path, struct strbuf *ret)
{
    char chunk[4096];
    FILE *f = fopen(path, "r");
    size_t n;
    bool failed;

    if (f == NULL) {
        say_error("%s: the suppressions cannot be read: %s", path, strerror(errno));
        return EXIT_BAD_INPUT;
    }
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        strbuf_add(ret, chunk, n);
    failed = ferror(f) != 0;
    fclose(f);
    if (failed)
        say_error("%s: the suppressions cannot be read: %s", path, strerror(errno));
    return failed ? EXIT_BAD_INPUT : 0;
}

/* The user's suppressions first: what they match is counted for them. */
static int
read_suppressions(struct suppressions *ret, struct arena *arena)
{
    struct strbuf text = {0};
    struct err err = {""};
    int rc = 0;

    if (opts.suppressions)
        rc = read_file(opts.suppressions, &text);
    if (rc == 0 && opts.suppressions) {
        rc = suppress_parse(ret, strbuf_text(&text), text.length, opts.suppressions, arena, &err);
        if (rc != 0) {
            say_error("%s", err.text);
            rc = exit_code(rc);
        }
    }
    strbuf_release(&text);
    if (!opts.no_builtin)
        suppress_add_builtin(ret, arena);
    return rc;
}

static void
show_paths(struct text_view *v, const struct leaks *leaks, const struct suppressions *suppressions,
           struct json *j)
{
    struct paths_options options = {.callers = opts.callers == NOT_GIVEN ? CALLERS : opts.callers,
                                    .call_sites = opts.call_sites};
    struct functions functions;
    struct paths paths;
    struct leak_paths l = {leaks, suppressions, &paths, &functions, opts.call_sites};

    functions_init(&functions, v->p, v->arena);
    paths_build(&functions, leaks->v, leaks->count, &options, v->arena, &paths);
    if (view_options.json)
        json_paths(j, v, &l, v->limit ? v->limit : SIZE_MAX);
    else if (opts.classic)
        classic_paths(v, &l);
    else
        text_paths(v, &l);
    functions_release(&functions);
}

static int
leaks_one(struct profile *p, struct arena *arena, struct json *j, struct strbuf *out)
{
    struct stacks_options options =
        view_stacks_options(!view_options.json || wants_paths() || view_options.fold);
    struct suppressions suppressions = {0};
    struct err err = {""};
    struct text_view v;
    struct leaks leaks;
    int rc = view_symbolise(p);

    if (rc == 0)
        rc = read_suppressions(&suppressions, arena);
    if (rc != 0)
        return rc;
    rc = leaks_find(p, &options, &suppressions, arena, &leaks, &err);
    if (rc != 0) {
        say_error("%s", err.text);
        return exit_code(rc);
    }
    view_warn_of_tags(p, arena);
    v = view_text(p, &leaks.stacks, arena, out);
    if (wants_paths())
        show_paths(&v, &leaks, &suppressions, j);
    else if (view_options.json)
        json_leaks(j, &v, &leaks, &suppressions, v.limit ? v.limit : SIZE_MAX);
    else
        text_leaks(&v, &leaks, &suppressions);
    live_bytes = counters_sum(live_bytes, counters_live_bytes(&leaks.stacks.total));
    return 0;
}

/* 1 if more is live than --fail-over allows. */
static int
judge(void)
{
    struct arena arena = {0};

    if (opts.fail_over_bytes == NEVER_FAILS || live_bytes <= 0 ||
        (uint64_t)live_bytes <= opts.fail_over_bytes)
        return 0;
    say_error("%s are still live, more than the %s that --fail-over allows",
              style_bytes(&arena, live_bytes), style_bytes(&arena, (int64_t)opts.fail_over_bytes));
    arena_release(&arena);
    return EXIT_FINDINGS;
}

static int
run_leaks(int count, char **arguments)
{
    int rc = view_each(count > 0 ? arguments[0] : NULL, VIEW_SESSION, leaks_one);

    return rc ? rc : judge();
}

static const struct opt options[] = {
    {OPT_STRING, 0, "suppressions", &opts.suppressions, "FILE",
     "Leave out stacks that FILE names, in LeakSanitizer's syntax: lines leak:PATTERN, where "
     "PATTERN is looked for in the function, file and module of each frame and may contain * ^ "
     "and $.",
     NULL},
    {OPT_FLAG, 0, "no-builtin-suppressions", &opts.no_builtin, NULL,
     "Show also what the C and C++ libraries keep on purpose.", NULL},
    {OPT_SIZE, 0, "fail-over", &opts.fail_over_bytes, "BYTES",
     "Exit with code 1 when more than BYTES are still live and not suppressed. By default that "
     "never fails.",
     NULL},
    {OPT_FLAG, 0, "paths", &opts.paths, NULL,
     "Add up by path: the functions of the last callers, as in || > main > load > read_line.",
     NULL},
    {OPT_COUNT, 0, "callers", &opts.callers, "N",
     "Keep the N innermost functions of a path. The default is 5; 0 keeps all. Turns on --paths.",
     NULL},
    {OPT_FLAG, 0, "call-sites", &opts.call_sites, NULL,
     "Tell calls from different lines of one function apart. Turns on --paths.", NULL},
    {OPT_FLAG, 0, "classic", &opts.classic, NULL,
     "Print the paths in the layout of the paper on mprof (1988). Turns on --paths.", NULL},
    {OPT_COUNT, 'n', "limit", &view_options.limit, "N",
     "Show at most N sites or paths. The default is 10, and all in JSON and with --classic.", NULL},
    {OPT_COUNT, 0, "depth", &view_options.depth, "N", "Show at most N frames of a stack.", NULL},
    VIEW_STACK_OPTIONS,
    VIEW_SHOW_OPTIONS,
    {.kind = OPT_END},
};

const struct command command_leaks = {
    .name = "leaks",
    .arguments = "[PROFILE|PID|DIRECTORY]",
    .summary = "show what is still live, largest first",
    .description =
        "Lists the blocks that were not freed, by the stack that allocated them. They are called "
        "still live, not leaked: whether anything still points to them has not been checked.\n\n"
        "Blocks of heaps of the program's own stand among those of malloc, with the heap's name in "
        "brackets.\n\n"
        "Blocks that the C and C++ libraries keep on purpose are suppressed; so is what a file "
        "given with --suppressions names. What each suppression has hidden is shown.\n\n"
        "--paths merges stacks whose innermost functions are the same, whatever the lines, and "
        "shows those functions from the outside in. \"...\" stands for callers that were cut.",
    .examples = "heaptap leaks app.heaptap\twhat is left\n"
                "heaptap leaks --paths app.heaptap\twhich functions it came through\n"
                "heaptap leaks --fail-over 0 app.heaptap\tfail when anything is left\n"
                "heaptap leaks --suppressions lsan.supp --json app.heaptap\tfor a script\n",
    .options = options,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_leaks,
};
