/* cmd_check.c: `heaptap check`: search a running process for corrupted blocks. `heaptap core
 * --check` does the same for dumps (command/cmd_core.h). */
#include <stdlib.h>

#include "command/cmd_core.h"
#include "option/opts.h"
#include "view/messages.h"

static const struct core_options defaults = {.check = true};

static int
cmd_check_run(const void *given, int count, char **arguments)
{
    struct core_options o = *(const struct core_options *)given;
    char *end;

    o.pid = strtoull(arguments[0], &end, 10);
    if (*end != '\0' || o.pid == 0 || o.pid > INT32_MAX) {
        message_error("'%.60s' is no process id; for a dump, use heaptap core --check",
                      arguments[0]);
        return EXIT_USAGE;
    }
    return core_run(&o, count - 1, arguments + 1);
}

static const struct opt options[] = {
    {OPT_STRING, 0, "profile", &defaults.profile, "FILE",
     "Take stacks and names from the profile FILE, not from the one being recorded.",
     NULL},
    {OPT_COUNT, 'n', "limit", &defaults.view.limit, "N",
     "Show at most N damaged blocks. The default is 10, and all in JSON.", NULL},
    {OPT_COUNT, 0, "depth", &defaults.view.depth, "N", "Show at most N frames of a stack.", NULL},
    CORE_STOP_OPTIONS(defaults),
    VIEW_FOLD_OPTIONS(defaults.view),
    SYMBOL_OPTIONS(defaults.view.symbols),
    VIEW_OUTPUT_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_check = {
    .name = "check",
    .arguments = "PID",
    .summary = "find overrun blocks in a running process, and the likely culprits",
    .description =
        "Checks all blocks of a recorded process for writes past their end or before their "
        "beginning. Shows how many bytes were overwritten, the bytes written, the site of the "
        "block that most likely overran, and its neighbour. The process is stopped meanwhile, for "
        "some milliseconds.\n\n"
        "With heaptap run --annotate every block is checked on its own. Without it, only the words "
        "that glibc keeps between blocks can be checked, which a short overflow does not "
        "reach.\n\n"
        "The exit status is 1 if there is corruption, and 0 if there is none.",
    .examples = "heaptap check 4711\n"
                "heaptap core --check core.4711\tthe same in a dump\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = cmd_check_run,
};
