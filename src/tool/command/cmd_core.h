/* cmd_core.h: run `heaptap core`, for other commands that read a process's memory. */
#ifndef COMMAND_CMD_CORE_H
#define COMMAND_CMD_CORE_H

#include "option/shared_opts.h"

struct core_options {
    struct view_options view;
    uint64_t pid;
    const char *profile, *output, *block, *pointers;
    bool blocks, leaks, check, resident;
};

/* Show the findings that O requests. The process or dump is named by O or by the COUNT ARGUMENTS.
 * Returns the exit code. */
int core_run(const struct core_options *o, int count, char **arguments);

#endif
