/* cmd_core.h: run `heaptap core`, for other commands that read a process's memory. */
#ifndef COMMAND_CMD_CORE_H
#define COMMAND_CMD_CORE_H

#include "option/shared_opts.h"

struct core_options {
    struct view_options view;
    uint64_t pid;
    const char *profile, *output, *block, *pointers;
    bool blocks, leaks, check, resident, retain;
    bool no_fork, force;
    int retain_by; // enum retain_by
    int resident_by; // enum resident_by
    const char *snapshot; // Path of a heap snapshot to write; NULL = none.
    const char *suppressions, *fail_over; // With `leaks`.
    uint64_t again, every_s; // With `leaks`: further readings, and seconds between two.
};

/* Options of commands that stop a process for a search. DEFAULTS is a struct core_options. */
#define CORE_STOP_OPTIONS(defaults)                                                                \
    {OPT_FLAG, 0, "no-fork", &(defaults).no_fork, NULL,                                            \
     "Stop a process during the whole search. By default it is stopped for some milliseconds, "   \
     "while its memory is copied by fork.", NULL},                                                 \
    {OPT_FLAG, 0, "force", &(defaults).force, NULL,                                                \
     "Stop a process even if that takes more than a second.", NULL}

/* Show the findings that O requests. The process or dump is named by O or by the COUNT ARGUMENTS.
 * Returns the exit code. */
int core_run(const struct core_options *o, int count, char **arguments);

#endif
