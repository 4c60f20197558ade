/* cmd_top.c: `heaptap top`: watch recorded programs, on a screen or in lines.
 *
 * A batch needs no terminal: each new reading is a tick. It ends after the given number of ticks,
 * or when the process has ended and its last reading is printed. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "command/sink.h"
#include "json/json.h"
#include "live/terminal.h"
#include "live/top.h"
#include "live/top_screen.h"
#include "open/symbolise.h"
#include "option/shared_opts.h"
#include "profile/origin.h"
#include "profile/processes.h"
#include "util/pattern.h"

#define NS_PER_S UINT64_C(1000000000)

enum { INTERVAL_S_MAX = 3600, BATCH_ROWS = 20, BATCH_WIDTH = 80 };

struct top_command_options {
    struct view_options view;
    const char *interval;
    int by, sort;
    bool batch;
    uint64_t count;
};
static const struct top_command_options defaults;

static const struct opt options[] = {
    {OPT_STRING, 0, "interval", &defaults.interval, "SECONDS",
     "Read that often, 1 by default. A large profile is read more rarely: its reader rests 20 "
     "times as long as it read.",
     NULL},
    {OPT_CHOICE, 0, "by", &defaults.by, "WHAT", "Show a row for each WHAT, function by default.",
     top_by_names},
    {OPT_CHOICE, 0, "sort", &defaults.sort, "COLUMN", "Sort by COLUMN, live bytes by default.",
     top_sort_names},
    {OPT_FLAG, 'b', "batch", &defaults.batch, NULL,
     "Print each reading instead of showing a screen.", NULL},
    {OPT_COUNT, 'n', "count", &defaults.count, "N",
     "End after N readings. The screen ends then too.", NULL},
    {OPT_COUNT, 0, "limit", &defaults.view.limit, "N", "Print at most N rows of a reading, 20 by "
     "default.", NULL},
    VIEW_FOLD_OPTIONS(defaults.view),
    SYMBOL_OPTIONS(defaults.view.symbols),
    VIEW_OUTPUT_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

/* State of a batch. */
struct batch {
    struct top *top;
    const struct top_command_options *options;
    uint64_t printed; // Number of the latest reading printed.
    uint64_t ticks;
};

static int
print_tick(const struct batch *b)
{
    struct sink sink = {.is_text = !b->options->view.json};
    struct strbuf out = sink_begin(&sink);
    struct style style = style_for(STDOUT_FILENO, b->options->view.wide);
    size_t width = style.width == STYLE_NO_LIMIT ? BATCH_WIDTH : style.width;
    size_t limit = b->options->view.limit ? b->options->view.limit : BATCH_ROWS;
    struct top_shown shown = {0};
    struct arena arena = {0};
    struct json j;

    if (top_opened(b->top) != NULL)
        top_show(b->top, &shown);
    json_begin(&j, &out, JSON_VERSION_TABLES);
    if (b->options->view.json && top_opened(b->top) != NULL)
        top_json(&j, &shown, limit, &arena);
    else if (b->options->view.json)
        top_json_processes(&j, b->top->processes, b->top->count);
    else if (top_opened(b->top) != NULL)
        top_batch(&shown, &style, width, limit, &arena, &out);
    else
        top_batch_processes(b->top->processes, b->top->count, &style, width, &arena, &out);
    arena_release(&arena);
    return sink_end(&out);
}

/* Return true if a tick is due: the opened process has a new reading, or all processes
 * have one. */
static bool
has_news(struct batch *b)
{
    const struct watched *w = top_opened(b->top);
    uint64_t sum = 0;

    for (size_t i = 0; i < b->top->count; i++) {
        if (b->top->processes[i].latest == NULL && b->top->processes[i].trouble == NULL)
            return false;
        if (b->top->processes[i].latest != NULL)
            sum += b->top->processes[i].latest->number;
    }
    // The first reading may have begun before its rows were wished for.
    if (w != NULL)
        sum = w->latest != NULL && w->latest->digest != NULL ? w->latest->number : 0;
    if (sum == b->printed)
        return false;
    b->printed = sum;
    return true;
}

static bool
all_ended(const struct top *t)
{
    size_t ended = 0;

    for (size_t i = 0; i < t->count; i++)
        ended += t->processes[i].ended || t->processes[i].trouble != NULL;
    return ended == t->count && t->settings.what != NULL;
}

static int
run_batch(struct batch *b)
{
    struct pollfd ready = {watch_descriptor(b->top->watch), POLLIN, 0};
    int rc = 0;

    for (;;) {
        top_refresh(b->top);
        if (top_failure(b->top) != NULL) {
            message_error("%s", top_failure(b->top));
            return EXIT_BAD_INPUT;
        }
        if (has_news(b)) {
            rc = print_tick(b);
            b->ticks++;
        }
        if (rc != 0 || (b->options->count != 0 && b->ticks >= b->options->count) ||
            (all_ended(b->top) && b->ticks > 0))
            return rc;
        if (poll(&ready, 1, -1) < 0 && errno != EINTR)
            return EXIT_BUG;
    }
}

/* Set *RET_NS to the time in TEXT, seconds with an optional fraction. */
static int
parse_interval(const char *text, uint64_t *ret_ns, struct err *err)
{
    char *end;
    double seconds;

    *ret_ns = NS_PER_S;
    if (text == NULL)
        return 0;
    seconds = strtod(text, &end);
    if (*end != '\0' || !(seconds >= 0.1) || seconds > INTERVAL_S_MAX)
        return err_set(err, HEAPTAP_USAGE,
                       "option '--interval': '%s' is no number of seconds from 0.1 to %d", text,
                       INTERVAL_S_MAX);
    *ret_ns = (uint64_t)(seconds * (double)NS_PER_S);
    return 0;
}

static int
check_options(const struct top_command_options *o, uint64_t *ret_interval_ns, struct err *err)
{
    int rc = parse_interval(o->interval, ret_interval_ns, err);
    regex_t regex;

    for (int i = 0; i < 2 && rc == 0; i++) {
        const char *pattern = i == 0 ? o->view.filter : o->view.fold;

        if (pattern == NULL)
            continue;
        rc = pattern_compile(&regex, pattern, i == 0 ? "filter" : "fold", err);
        if (rc == 0)
            regfree(&regex);
    }
    return rc;
}

/* Name the remedy if WHAT is a process that is not recorded. */
static void
hint_at_attach(const char *what)
{
    struct arena arena = {0};
    struct mapped mapped;
    uint32_t pid;

    if (what != NULL && origin_is_pid(what, &pid) && processes_start(pid) != 0 &&
        mapped_profile(pid, &arena, &mapped) == MAPPED_NONE && !mapped_recorder(pid))
        message_hint("heaptap attach %u records it from now on", pid);
    arena_release(&arena);
}

static int
cmd_top_run(const void *given, int count, char **arguments)
{
    struct top_command_options o = *(const struct top_command_options *)given;
    struct top_settings settings = {.what = count > 0 ? arguments[0] : NULL,
                                    .by = o.by,
                                    .sort = (enum top_sort)o.sort,
                                    .view = &o.view};
    struct err err = {""};
    struct top top;
    int rc = check_options(&o, &settings.interval_ns, &err);
    bool batch = o.batch || o.view.json;

    if (rc == 0 && !batch)
        rc = terminal_check(&err);
    if (rc == 0 && !symbolise_can_use(&o.view.symbols))
        return EXIT_USAGE;
    if (rc == 0)
        rc = top_begin(&top, &settings, &err);
    if (rc != 0) {
        message_error("%s", err.text);
        hint_at_attach(settings.what);
        return exit_code(rc);
    }
    top_refresh(&top);
    if (top.count == 1 && top_is_single(settings.what))
        top_open(&top, top.processes[0].id);
    rc = batch ? run_batch(&(struct batch){.top = &top, .options = &o})
               : top_screen_run(&top, o.count);
    if (!top_end(&top)) {
        // The thread is reading; waiting for it would delay the end by as long.
        fflush(NULL);
        _exit(rc);
    }
    return rc;
}

const struct command command_top = {
    .name = "top",
    .arguments = "[PID|PROFILE|DIRECTORY]",
    .summary = "watch recorded programs while they run",
    .description =
        "Shows which functions have memory now, how fast each allocates, and all changes. A "
        "directory, or no argument, shows the recorded processes; Enter opens one. Reading the "
        "profile costs the program nothing.\n"
        "\n"
        "The key ? or F1 shows all keys. Only S, which takes a snapshot, and R, which changes the "
        "way of recording, affect the program; both ask first.\n"
        "\n"
        "With --batch or --json there is no screen: each reading is printed, with --json on one "
        "line. It ends with the program.",
    .examples = "heaptap top 1234\ta running program\n"
                "heaptap top\tall recorded processes of this machine\n"
                "heaptap top --batch -n 3 --by line 1234\tthree readings as text\n"
                "heaptap top --json 1234\ta line of JSON for each reading",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .max_arguments = 1,
    .run = cmd_top_run,
};
