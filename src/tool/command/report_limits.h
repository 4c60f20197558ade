/* report_limits.h: messages about exceeded limits. */
#ifndef COMMAND_REPORT_LIMITS_H
#define COMMAND_REPORT_LIMITS_H

#include "analyse/limit_check.h"
#include "command/budget_gate.h"
#include "format/unrecorded_counts.h"
#include "launch/run.h"

/* Print one line on stderr for each entry of J that exceeds, or may exceed, its limit of --OPTION.
 * If WHO is NULL, lines state by how much each value grew. Otherwise lines state the value itself,
 * and begin with WHO, the name of the process. Return true if a limit is exceeded. */
bool report_limits(const struct limit_results *j, const char *option, const char *who);

/* Report that --OPTION cannot check a profile or a sum of profiles with LOSSES that lacks events:
 * the missing events may exceed the limit. MAY_LAG as in struct profile. Returns true if events are
 * missing; otherwise reports nothing. */
bool report_incomplete(const char *option, const struct profile_losses *losses, bool may_lag);

/* Report that --OPTION cannot check P because P is damaged. */
void report_damaged(const char *option, const struct profile *p);

/* Print that OPTION judges nothing in the profile at PATH, because recording was never on. */
void report_unrecorded(const char *option, const char *path);

/* Print that OPTION cannot judge corruption in the profile at PATH, because its blocks carry no
 * annotations. */
void report_unannotated(const char *option, const char *path);

/* --- run_limits.c: `run --fail-on` and `run --budget`, limits for the processes of a run. */

struct run_limits {
    struct limits limits;
    struct budget_gate *budget; // NULL = none.
    const char *option;         // Option that messages name: "fail-on" or "budget".
    bool has_hooks;    // The run has --hook, so it records other functions than malloc.
    bool starts_early; // Recording starts without an event, so a profile does not prove an event.
    size_t checked;    // Number of processes checked.
    bool exceeded;
    bool unknown;     // Some process could not be checked.
    const char *view; // Command that shows the cause in the first process over a limit.
    size_t first;     // Number of that process.
};

/* Parse TEXT, the option's value; NULL = not given. Returns 0, or HEAPTAP_USAGE with ERR set. */
int run_limits_parse(struct run_limits *r, const char *text, struct err *err);

/* Return the Ith name of a limit that the option takes; NULL after the last one. */
const char *run_limits_offered(size_t i);

/* Compare P with the limits, if its process has ended, and print exceeded limits. NUMBER is the
 * caller's number of the process. */
void run_limits_check(struct run_limits *r, struct profile *p, size_t number);

/* Print the numbers of processes that C counts: those executed without the recorder, those whose
 * recorder could not start, and those with their own malloc that are not among the COUNT recorded
 * PROCESSES make the gate fail. C is NULL without limits. */
void run_limits_unrecorded(struct run_limits *r, const struct unrecorded_counts *c,
                           const struct run_process *processes, size_t count);

/* Print the number of lost recordings in L. Those of processes that have ended make the gate
 * fail. */
void run_limits_lost(struct run_limits *r, const struct run_lost *l);

/* Print the command that shows the cause in process R->first, whose profile is at PATH. Prints
 * nothing if no limit was exceeded. */
void run_limits_hint(const struct run_limits *r, const char *path);

/* Complete the results of the budget, write them, and print its findings. Call after all processes
 * were checked. */
void run_limits_finish_budget(struct run_limits *r);

/* Return the exit status to use instead of the program's 0; 0 if no limit was exceeded. Call after
 * all processes were checked. */
int run_limits_status(const struct run_limits *r);

#endif
