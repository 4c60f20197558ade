/* run_limits.h: `run --fail-on`, limits for the processes of a run. */
#ifndef COMMAND_RUN_LIMITS_H
#define COMMAND_RUN_LIMITS_H

#include "analyse/limit_check.h"

struct run_limits {
    struct limits limits;
    size_t judged; // Number of processes checked.
    bool exceeded;
    bool unknown;     // Some process could not be checked.
    const char *view; // Command that shows the cause in the first process over a limit.
    size_t first;     // Number of that process.
};

/* Parse TEXT, the option's value; NULL = not given. Returns 0, or HEAPTAP_USAGE with ERR set. */
int run_limits_parse(struct run_limits *r, const char *text, struct err *err);

/* Compare P with the limits, if its process has ended, and print exceeded limits. NUMBER is the
 * caller's number of the process. */
void run_limits_check(struct run_limits *r, struct profile *p, size_t number);

/* Print the command that shows the cause in process R->first, whose profile is at PATH. Prints
 * nothing if no limit was exceeded. */
void run_limits_hint(const struct run_limits *r, const char *path);

/* Return the exit status to use instead of the program's 0; 0 if no limit was exceeded. Call after
 * all processes were checked. */
int run_limits_status(const struct run_limits *r);

#endif
