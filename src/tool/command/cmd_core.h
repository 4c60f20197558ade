/* cmd_core.h: run `heaptap core`, for other commands that look into a process's memory. */
#ifndef COMMAND_CMD_CORE_H
#define COMMAND_CMD_CORE_H

#include "option/view_opts.h"

struct core_options {
    struct view_options view;
    uint64_t pid;
    const char *profile, *output, *block, *pointers;
    bool blocks, leaks, check;
};

/* Show the findings that O requests about the process or the dump that O or the COUNT ARGUMENTS
 * name. Returns the exit code. */
int core_run(const struct core_options *o, int count, char **arguments);

#endif
