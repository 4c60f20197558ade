/* cmd_rss.c: `heaptap rss`: divide the resident memory of a running process by use. */
#include <stdlib.h>

#include "command/cmd_core.h"
#include "option/opts.h"
#include "view/messages.h"

static const struct core_options defaults = {.resident = true};
static const char *const by_names[] = {"all", "site", "type", NULL};

static int
cmd_rss_run(const void *given, int count, char **arguments)
{
    struct core_options o = *(const struct core_options *)given;
    char *end;

    o.pid = strtoull(arguments[0], &end, 10);
    if (*end != '\0' || o.pid == 0 || o.pid > INT32_MAX) {
        message_error("'%.60s' is no process id; no other process has resident memory",
                      arguments[0]);
        return EXIT_USAGE;
    }
    return core_run(&o, count - 1, arguments + 1);
}

static const struct opt options[] = {
    {OPT_CHOICE, 0, "by", &defaults.resident_by, "BY",
     "Also show the live blocks with most resident memory, by site or by type. Needs a recorded "
     "process. The default is all: the parts, the arenas and the heaps of the program.", by_names},
    {OPT_STRING, 0, "profile", &defaults.profile, "FILE",
     "Take stacks and names from the profile FILE, not from the one being recorded.",
     NULL},
    {OPT_COUNT, 'n', "limit", &defaults.view.limit, "N",
     "Show at most N stacks that keep freed memory. The default is 3, and all in JSON.", NULL},
    {OPT_COUNT, 0, "depth", &defaults.view.depth, "N", "Show at most N frames of a stack.", NULL},
    VIEW_FOLD_OPTIONS(defaults.view),
    SYMBOL_OPTIONS(defaults.view.symbols),
    VIEW_OUTPUT_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_rss = {
    .name = "rss",
    .arguments = "PID",
    .summary = "divide the resident memory of a running process by use",
    .description =
        "Shows what the resident memory (RSS) of a process is used for: live blocks, memory that "
        "was freed but is not with the system, code, stacks, memory mapped without malloc. The "
        "parts add up to the RSS. Shows how much malloc_trim(0) would return and, if the process "
        "is recorded, which blocks keep more from going back. The process is stopped meanwhile.",
    .examples = "heaptap rss 4711\n"
                "heaptap rss --by site 4711\tthe stacks whose blocks are resident\n"
                "heaptap rss --json 4711\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = cmd_rss_run,
};
