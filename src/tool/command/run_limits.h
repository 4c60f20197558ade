/* run_limits.h: `run --fail-on`, limits for the processes of a run. */
#ifndef COMMAND_RUN_LIMITS_H
#define COMMAND_RUN_LIMITS_H

#include "analyse/limit_check.h"

struct run_limits {
    struct limits limits;
    size_t judged; // Processes.
    bool exceeded;
    bool unknown;     // The limits cannot be checked for some process.
    const char *view; // The command that shows the cause in the first process that exceeded a
                      // limit,
    size_t first;     // and which it was.
};

/* Parse TEXT, the option's value; NULL = not given. Returns 0 or HEAPTAP_USAGE. */
int run_limits_parse(struct run_limits *r, const char *text, struct err *err);

/* Compare P with the limits if its process has ended, and print those that it exceeds. NUMBER is
 * the caller's number of the process. */
void run_limits_check(struct run_limits *r, struct profile *p, size_t number);

/* Print the command that shows the cause in process R->first, whose profile is at PATH. Print
 * nothing if no limit was exceeded. */
void run_limits_hint(const struct run_limits *r, const char *path);

/* Return the exit status that replaces the program's 0, or 0. Call after all processes. */
int run_limits_status(const struct run_limits *r);

#endif
