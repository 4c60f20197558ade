/* stacks.h: the stacks of a profile, in the form that every analysis and exporter reads. Each
 * distinct stack of source-level frames is one entry; inlined functions are expanded, wrappers
 * folded, filters applied. Different heaps make separate entries, and so do different labels unless
 * they are merged.
 *
 * P must be symbolised. A frame is an index into P's frames array. Equal functions at different
 * addresses have different indices, so compare profile_frame fields. Stacks with equal text
 * (functions, files, lines and modules, after folding) are one entry, even if their addresses
 * differ. */
#ifndef ANALYSE_STACKS_H
#define ANALYSE_STACKS_H

#include "analyse/tags.h"
#include "profile/profile.h"
#include "profile/raw.h"

struct stack_ends;

struct stack {
    const uint32_t *frames;    // Indices into p->frames, innermost first; depth entries.
    const uint32_t *locations; // Location of each frame; depth entries.
    uint32_t depth;            // 0 for the site "other".
    uint32_t useful_depth;     // Result of stack_useful_depth, if it is known; else 0.
    uint32_t flags;            // Bitwise or of enum profile_node_flags over its nodes.
    // Innermost node of the stack; any of them if several have equal texts.
    uint32_t node;
    uint32_t heap;             // Index into p->heaps.
    uint32_t labels;           // Index into p->label_sets, or STACK_LABELS_SEVERAL.
    uint32_t site_depth; // Number of innermost frames that belong to the recorded site: what is
                         // inside them does not depend on callers, and is exact.
    bool site_matched;         // The filter matched one of these.
    bool by_language;          // Callers decide whether views show the innermost frame.
    bool recursion_folded;     // Folding recursion removed frames.
    uint32_t number;           // Number that users see, from 1; 0 until stack_numbers sets it.
    uint32_t folded_depth;     // Depth if folded without options; 0 until stack_numbers sets it.
    struct counters counters;  // Sum over all sites with equal stacks.
    struct errors *errors;     // NULL = all zero: the counts are exact. It is as large as four
                               // other stacks.
};

#define STACK_LABELS_SEVERAL UINT32_MAX

/* Decisions on a site. Dropping by a caller leaves its recorded site in part. */
enum stacks_keep { STACKS_KEEP, STACKS_DROP, STACKS_DROP_BY_CALLER };

struct stacks_options {
    struct tag_filter tags; // Keep only blocks of some heaps or labels.
    bool merge_labels;      // Merge stacks that differ only in labels.
    // Extended regular expressions; NULL = none. Unsymbolized functions are matched by their
    // substitute names.
    const char *filter, *fold;
    bool fold_recursion; // Drop frames that repeat frames further in, see stacks.c.
    bool no_fold;        // Ignore the built-in list as well (operator new, xmalloc, …).
    // The caller's filter, or NULL. It decides on SITE, and is called once per site that passes
    // `filter`. FRAMES are the site's DEPTH frames before folding, innermost first, at LOCATIONS.
    enum stacks_keep (*keep)(void *arg, const struct profile_site *site, const uint32_t *frames,
                             const uint32_t *locations, size_t depth);
    void *keep_arg;
    const bool *only; // By site: false skips the site; NULL = skip none.
};

struct stacks {
    struct stack *v;
    size_t count;
    struct counters total; // Sum over the stacks that passed the filter.
    struct errors errors;  // Errors of total.
    const uint32_t *site_stacks; // By site: index into v plus 1; 0 = filtered out.
    bool filtered;               // At least one site was left out.
    // Amounts of the blocks with the selected tags whose callers are unknown; and whether there are
    // any.
    double callerless[SHARES];
    bool has_callerless;
    size_t recorded;             // Stacks with the selected tags, before folding and filtering.
    bool filter_matched;         // A recorded stack matched `filter`; false without a filter.
};

/* Build the stacks of P by OPTIONS. Everything in *RET is from ARENA. Returns 0, or HEAPTAP_USAGE
 * with ERR set if a regex is invalid. A stack whose frames would all be folded keeps its outermost
 * one. */
int stacks_build(const struct profile *p, const struct stacks_options *options, struct arena *arena,
                 struct stacks *ret, struct err *err);

/* The stacks that stacks_build makes with merge_labels alone, in the same order, without their
 * frames and counters. */
struct plain_stacks {
    const uint32_t *of_site; // By site: index of its stack.
    const uint32_t *depths;  // By stack: number of its frames.
    size_t count;
};

/* Find the plain stacks of P, which must be symbolised, in a tenth of the memory. From ARENA. */
void stacks_plain(const struct profile *p, struct arena *arena, struct plain_stacks *ret);

/* Add the errors of S, one of STACKS, to *SUM, for a row of the frame with index FRAME of S. If S
 * has errors or STACKS have blocks without callers, a *SUM of NULL is replaced by a new one from
 * ARENA. */
void stack_errors_add(struct errors **sum, const struct stacks *stacks, const struct stack *s,
                      uint32_t frame, struct arena *arena);

/* Return the stack of NODE, unfolded and unfiltered, without counters. From ARENA. */
struct stack stack_of_node(const struct profile *p, uint32_t node, struct arena *arena);

/* Create a reader of the inner ends of P's stacks. The ends are those that stacks_build makes
 * without options, or with FOLD_RECURSION only. Requires P to be symbolised; does not change it.
 * From ARENA. */
struct stack_ends *stack_ends_new(const struct profile *p, bool fold_recursion,
                                  struct arena *arena);

/* Return the innermost COUNT frames of the stack of NODE, which has a site, without counters.
 * Returns the whole stack, and *RET_WHOLE true, if the stack is short or frames further out could
 * change these; otherwise *RET_WHOLE is false. All frames of a partial stack are useful
 * (stack_useful_depth). Valid until the next call. */
struct stack stack_ends_read(struct stack_ends *e, uint32_t node, uint32_t count, bool *ret_whole);

/* Return true if the CALLS innermost locations alone determine the frames that E read last. */
bool stack_ends_are_known_from(const struct stack_ends *e, size_t calls);

/* Return the number of innermost frames of S that views show. It excludes the C library's start-up
 * code that calls main or a thread's function. At least 1, unless S has no frames. */
uint32_t stack_useful_depth(const struct profile *p, const struct stack *s);

/* Return the number of innermost frames of S that are in a static constructor; the loader called
 * it. For other stacks it is stack_useful_depth. S must have frames. */
uint32_t stack_depth_in_loader(const struct profile *p, const struct stack *s);

/* Return the name to show as the outermost caller of S: FRAME_NAME_OTHER if S has no frames,
 * FRAME_NAME_CALLERLESS if its callers were not recorded, FRAME_NAME_TRUNCATED if a limit of the
 * recorder has cut its outer frames or its walk broke off, NULL for others. Frames that were cut on
 * request (frames_kept) do not count. */
const char *stack_root(const struct profile *p, const struct stack *s);

/* Set *RET to the sum over the stacks of S that have a stack_root. Their callers are missing, so
 * inclusive values of these callers lack this amount. Return the root's name of most of these
 * stacks; NULL if there are none. */
const char *stacks_truncated(const struct profile *p, const struct stacks *s, struct counters *ret);

/* Return true if FUNCTION, a complete name, is start-up code of the C library: a caller of main or
 * of a thread's function. */
bool stack_function_is_start_up(const char *function);

/* Quantities that every view can rank stacks by. */
enum metric {
    METRIC_INUSE,     // Live bytes (at the end, or now).
    METRIC_PEAK,      // Bytes live at the process's peak.
    METRIC_ALLOC,     // Bytes ever allocated.
    METRIC_TEMPORARY, // Number of short-lived blocks, not bytes: counters_within_16.
    METRIC_COUNT,     // Calls that allocated.
};

/* Set *RET to the metric called NAME: "inuse", "peak", "alloc", "temporary" or "count". Return
 * false for any other name. metric_name is the inverse. */
bool metric_parse(const char *name, enum metric *ret);
const char *metric_name(enum metric m);

/* Return M of C: bytes, or a count for TEMPORARY and COUNT. */
int64_t metric_value(const struct counters *c, enum metric m);

bool metric_is_bytes(enum metric m);

/* Return true if C stores M. A moment has neither a peak nor lifetimes. */
bool metric_is_known(const struct counters *c, enum metric m);

/* Return true if P stores M. A profile cut to its peak stores live amounts only. */
bool metric_is_known_of(const struct profile *p, enum metric m);

/* Return the default metric for C, the totals of P: the peak, or live bytes if nearly all of the
 * peak is still live. For a moment or a period it is live bytes. */
enum metric metric_first(const struct profile *p, const struct counters *c);

/* Return true if S, built from P, keeps the invariants above. Requires P to be valid. Only reads;
 * see util/ensure.h. */
bool stacks_are_valid(const struct profile *p, const struct stacks *s);

/* --- site_node.c: stack of a site without live blocks, which the model does not have. */

/* Return the node in P of SITE, an id in P's file, whose tables are RAW; 0 = none. Takes time
 * proportional to the number of nodes. */
uint32_t site_node(const struct raw_file *raw, const struct profile *p, uint32_t site);

/* --- stack_numbers.c: the same number for a stack in all views. */

/* Set number and folded_depth of each of STACKS, built from P with any options. Number 1 has the
 * largest share of the peak, or of all allocated bytes, of the whole run. Numbers are unique within
 * a view, unless options split one default stack into several. Return the largest number that P
 * has; a filter may have left out its stack. */
uint32_t stack_numbers(const struct profile *p, struct stacks *stacks);

#endif
