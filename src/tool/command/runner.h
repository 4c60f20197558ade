/* runner.h: steps common to all commands that show profiles. A command supplies its checks and the
 * function that shows one process. */
#ifndef COMMAND_RUNNER_H
#define COMMAND_RUNNER_H

#include "open/pick_stacks.h"
#include "open/symbolise.h"
#include "option/shared_opts.h"
#include "text/text_view.h"
#include "util/json_out.h"
#include "view/session.h"

/* Forms of showing several processes. In JSON each has its own document within the session's,
 * except for sums. */
enum runner_session {
    SESSION_TITLES,     // Text: show each process below its command line.
    SESSION_PLAIN,      // Text: show one process after another.
    SESSION_TABLE,      // Text: show a table of the processes, then each process.
    SESSION_TABLE_ONLY, // Text: show only the table of the processes.
    SESSION_SUM,        // Sum of all processes, shown as one.
    // Sum of all processes, shown as one, with the sum of their histories.
    SESSION_SUM_IN_TIME,
};

enum runner_stacks {
    STACKS_FOLDED,         // Wrappers are charged to their callers.
    // Wrappers are folded in text. In JSON they are folded only with --fold, because scripts expect
    // recorded stacks.
    STACKS_FOLDED_IN_TEXT,
    STACKS_UNFOLDED,
    STACKS_OF_EACH_LABEL, // Wrappers are folded; text has a row per label set.
    STACKS_NONE,          // No stacks are built, because the command builds them itself.
};

/* A process being shown. */
struct shown {
    const struct runner *runner;
    const struct view_set *set; // All processes that are shown.
    struct profile *p;
    struct stacks stacks;
    struct text_view text; // Prints P and its stacks under the common options.
    struct names_hint *hint;  // Printed at the end.
    struct filter_hits *hits; // For a message if the filter matched nothing.
    struct json *j;
};

/* Step of a command. Returns 0, or an exit code after printing an error. */
typedef int runner_step(struct shown *s);

struct runner {
    const struct view_options *options;
    const void *own; // The command's own data, for its steps.
    enum runner_session session;
    enum runner_stacks stacks;
    bool numbered;             // Show the stacks' numbers in text; JSON never has them.
    bool recursion_folded;     // Fold recursion unless the user disables it.
    const enum metric *metric; // Metric that each process must have; NULL = any.
    const char *output;        // Path of the output; NULL = stdout.
    bool keeps_native;         // Programs rely on C frames: keep them unless the user decides.
    bool needs_addresses; // The output needs addresses: keep interpreters' C frames.
    bool for_programs;         // The output is a file format: never transliterate it to ASCII.

    // Return 0 if S->p can answer the request. Called before the slow steps, so stacks and text do
    // not exist yet. NULL = no check.
    runner_step *check;

    // Show S: with --json in its j, else in its text. Returns as every step, or HEAPTAP_NOT_FOUND
    // if the process has nothing to show.
    runner_step *show;
};

/* Show WHAT, an argument of set_open, with R. Returns 0, an exit code, or HEAPTAP_NOT_FOUND if no
 * process has anything to show; the command must then print a message. */
int runner_run(const struct runner *r, const char *what);

/* Like runner_run, for P alone, which need not come from a file. The caller keeps P. */
int runner_show(const struct runner *r, struct profile *p);

#endif
