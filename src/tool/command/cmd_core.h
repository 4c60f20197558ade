/* cmd_core.h: what `heaptap core` does, for other commands that look into a process' memory. */
#ifndef COMMAND_CMD_CORE_H
#define COMMAND_CMD_CORE_H

#include "option/view_opts.h"

struct core_options {
    struct view_options view;
    uint64_t pid;
    const char *profile, *output, *block, *pointers;
    bool blocks, leaks, check;
};

/* Show what O asks for of the process or the dump that is named by O or the COUNT ARGUMENTS;
 * returns the exit code. */
int core_run(const struct core_options *o, int count, char **arguments);

#endif
