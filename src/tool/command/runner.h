/* runner.h: the steps common to all commands that show profiles. A command supplies its checks and
 * its way to show one process. */
#ifndef COMMAND_RUNNER_H
#define COMMAND_RUNNER_H

#include "open/names_hint.h"
#include "open/pick_stacks.h"
#include "option/view_opts.h"
#include "text/text_view.h"
#include "util/json_out.h"
#include "view/session.h"

/* How several processes are shown. In JSON each has a document within the session's, except for
 * sums. */
enum runner_session {
    SESSION_TITLES,     // In text, each process appears below its command.
    SESSION_PLAIN,      // In text they follow each other.
    SESSION_TABLE,      // In text a table of them comes first,
    SESSION_TABLE_ONLY, // or is all that is shown.
    SESSION_SUM,        // Shown as one, the sum of all,
    SESSION_SUM_IN_TIME, // including their history.
};

enum runner_stacks {
    STACKS_FOLDED,         // Wrappers are charged to their callers.
    STACKS_FOLDED_IN_TEXT, // In JSON only with --fold: readers expect the recorded stacks.
    STACKS_UNFOLDED,
    STACKS_OF_EACH_LABEL, // Fold, but keep rows apart in text if only their labels differ.
    STACKS_NONE,          // The command builds its own.
};

/* A process being shown. */
struct shown {
    const struct runner *runner;
    const struct view_set *set; // All that are shown.
    struct profile *p;
    struct stacks stacks;
    struct text_view text; // Shows P and the stacks under the common options.
    struct names_hint *hint;  // Printed at the end,
    struct filter_hits *hits; // as is a filter that matched nothing.
    struct json *j;
};

/* Returns 0, or an exit code after printing an error. */
typedef int runner_step(struct shown *s);

struct runner {
    const struct view_options *options;
    const void *own; // The command's, for the steps.
    enum runner_session session;
    enum runner_stacks stacks;
    bool numbered;             // The stacks' numbers are shown; in JSON they never are.
    bool recursion_folded;     // Unless the user disables it.
    const enum metric *metric; // Metric that each process must have; NULL = none.
    const char *output;        // Path of the output; NULL = stdout.
    bool needs_addresses; // Frames without an address are useless: show interpreters.
    bool for_programs;         // The output is a file format: never transliterate it to ASCII like
                               // text.

    // Return why S->p cannot answer the request; NULL = it can. Called before the slow steps, so
    // stacks and text do not exist yet.
    runner_step *check;

    // Show S with --json in its j, else in its text. May also return HEAPTAP_NOT_FOUND, if the
    // process has nothing to show.
    runner_step *show;
};

/* Show WHAT, an argument as for set_open, with R. Returns 0, an exit code, or HEAPTAP_NOT_FOUND if
 * no process has anything to show. The command must then print that. */
int runner_run(const struct runner *r, const char *what);

/* Like runner_run, for P alone, which did not come from a file; it stays the caller's. */
int runner_show(const struct runner *r, struct profile *p);

#endif
