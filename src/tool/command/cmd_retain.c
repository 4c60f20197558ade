/* cmd_retain.c: `heaptap retain`: find what keeps the blocks of a process or a core dump alive. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "command/cmd_core.h"
#include "option/opts.h"
#include "view/messages.h"
#include "view/retain_view.h"

static const struct core_options defaults = {.retain = true, .retain_by = -1};

static int
cmd_retain_run(const void *given, int count, char **arguments)
{
    struct core_options o = *(const struct core_options *)given;
    bool is_pid = strspn(arguments[0], "0123456789") == strlen(arguments[0]);

    if ((o.block != NULL) + (o.retain_by >= 0) + (o.snapshot != NULL) > 1) {
        message_error("--block, --by and -o exclude each other");
        return EXIT_USAGE;
    }
    o.retain_by = o.retain_by < 0 ? RETAIN_BY_ROOT : o.retain_by;
    if (!is_pid)
        return core_run(&o, count, arguments);
    o.pid = strtoull(arguments[0], NULL, 10);
    if (o.pid == 0 || o.pid > INT32_MAX) {
        message_error("'%.60s' is no process id", arguments[0]);
        return EXIT_USAGE;
    }
    return core_run(&o, count - 1, arguments + 1);
}

static const struct opt options[] = {
    {OPT_STRING, 0, "block", &defaults.block, "ADDRESS",
     "Show a shortest path from a root to the block that contains ADDRESS, and the bytes that "
     "would be lost without the block.", NULL},
    {OPT_CHOICE, 0, "by", &defaults.retain_by, "WHAT",
     "Show a table of the largest amounts that each root (the default), site or type keeps. Roots "
     "are variables, functions on stacks, registers and memory mapped without malloc. Bytes that "
     "several roots keep are in separate rows.", retain_by_names},
    {OPT_STRING, 'o', "output", &defaults.snapshot, "FILE",
     "Write all blocks, roots and pointers to FILE, as a heap snapshot for the Memory panel "
     "of Chromium's DevTools. It opens files whose names end in .heapsnapshot.", NULL},
    {OPT_STRING, 0, "profile", &defaults.profile, "FILE",
     "Take stacks and names from the profile FILE, as for heaptap core.", NULL},
    {OPT_COUNT, 'n', "limit", &defaults.view.limit, "N",
     "Show at most N rows, or N blocks of a path. The default is 10 rows or 20 blocks, and all in "
     "JSON.", NULL},
    {OPT_COUNT, 0, "depth", &defaults.view.depth, "N", "Show at most N frames of a stack.", NULL},
    CORE_STOP_OPTIONS(defaults),
    VIEW_FOLD_OPTIONS(defaults.view),
    SYMBOL_OPTIONS(defaults.view.symbols),
    VIEW_OUTPUT_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_retain = {
    .name = "retain",
    .arguments = "PID|CORE",
    .summary = "show what keeps blocks alive",
    .description =
        "Searches the memory of a process or a core dump for pointers to its blocks. Shows which "
        "variable or stack alone keeps how much, or the path from a root to a block with the "
        "members of structures that lead there.\n"
        "\n"
        "Every word that may be a pointer counts as one, as for heaptap core --leaks. A running "
        "process is stopped while its memory is copied.",
    .examples = "heaptap retain 4711\twhich roots keep how much\n"
                "heaptap retain --by type core.4711\n"
                "heaptap retain --block 0x55d0c8e012a0 4711\twhy the block is still alive\n"
                "heaptap retain -o server.heapsnapshot 4711\tfor DevTools\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = cmd_retain_run,
};
