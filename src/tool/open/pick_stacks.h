/* pick_stacks.h: select stacks by the common options. */
#ifndef OPEN_PICK_STACKS_H
#define OPEN_PICK_STACKS_H

#include "analyse/stacks.h"
#include "option/shared_opts.h"
#include "view/session.h"

/* Return 0 if P, which may be cut by --at or --between, has METRIC. Otherwise print an error and
 * return EXIT_USAGE. */
int pick_metric(const struct profile *p, enum metric metric);

/* Reduce the stacks of a symbolised P to the frames that OPTIONS select: without the interpreter's,
 * or only the frames of the program's language. If OPTIONS leave the choice, a view FOR_PEOPLE of
 * an interpreter's profile has only the latter. Programs and gates rely on the others. */
void pick_frames(struct profile *p, const struct view_options *options, bool for_people);

/* Return the stack options for OPTIONS. FOLD charges allocations in common wrappers to their
 * callers. For text, stacks that differ only in labels are merged. */
struct stacks_options pick_options(const struct view_options *options, bool fold);

enum { PICK_HEAPS_LISTED = 10 };

/* Matches of --filter, --heap and --label in all profiles of a view. All zero = nothing yet. */
struct filter_hits {
    size_t stacks; // Recorded stacks compared with --filter.
    bool matched;  // At least one of these stacks matched.
    // At least one profile has the requested heap, or the requested label.
    bool has_heap, has_label;
    bool has_labels;          // At least one profile has any labels.
    size_t profiles;
    uint32_t pid; // Process id of the only profile; 0 for a merged one.
    const char *heaps[PICK_HEAPS_LISTED]; // Names of heaps, from the profiles, each once.
    size_t heap_count;                    // Number of names; it may exceed the array.
};

/* Add S, built from P under OPTIONS, to HITS. P must live until pick_print_hits. ARENA is for
 * temporary data. */
void pick_check(const struct profile *p, const struct stacks_options *options,
                const struct stacks *s, struct arena *arena, struct filter_hits *hits);

/* Warn if no profile had a stack that matches the filter of OPTIONS, or its heap or label. Call
 * after the output. */
void pick_print_hits(const struct filter_hits *hits, const struct view_options *options);

/* Build the stacks of P under OPTIONS, and add them to HITS like pick_check. P must be symbolised.
 * From ARENA. Returns 0, or the exit code after printing the error. */
int pick_stacks(const struct profile *p, const struct stacks_options *options, struct arena *arena,
                struct filter_hits *hits, struct stacks *ret);

/* If OPTIONS filter stacks, symbolise the profiles of SET, a session. Set the session's totals to
 * those of the stacks that pass, and sort its profiles by them. Add the filter's matches to HITS,
 * like pick_check. Return 0; or print the reason for a failure and return the exit code. */
int pick_totals(struct view_set *set, const struct view_options *options, struct filter_hits *hits);

#endif
