/* run_limits.h: `run --fail-on`, limits for the processes of a run. */
#ifndef COMMAND_RUN_LIMITS_H
#define COMMAND_RUN_LIMITS_H

#include "analyse/judge.h"

struct run_limits {
    struct limits limits;
    size_t judged; // Processes.
    bool exceeded;
    bool unknown;     // Some process cannot be judged.
    const char *view; // The command that shows the cause in the first process that exceeded a
                      // limit,
    size_t first;     // and which it was.
};

/* Read TEXT, the option's value; NULL = it was not given. Returns 0 or HEAPTAP_USAGE. */
int run_limits_parse(struct run_limits *r, const char *text, struct err *err);

/* Hold the limits against P, the caller's process of that NUMBER, if it has ended; say what exceeds
 * them. */
void run_limits_judge(struct run_limits *r, struct profile *p, size_t number);

/* Say how to look at the process R->first, whose profile is at PATH; nothing if all were within. */
void run_limits_hint(const struct run_limits *r, const char *path);

/* When all are judged: the exit status instead of 0, the program's, or 0. */
int run_limits_status(const struct run_limits *r);

#endif
