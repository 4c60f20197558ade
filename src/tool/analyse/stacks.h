/* stacks.h: the form in which every analysis and exporter reads a profile: one entry per distinct
 * stack of source-level frames, inlined functions expanded, wrappers folded, filtered. Different
 * heaps make separate entries, and so do different labels unless they are merged.
 *
 * P must be symbolised. A frame is an index into P's frames array. Equal functions at different
 * addresses have different indices, so compare profile_frame fields. Stacks with equal text
 * (functions, files, lines and modules, after folding) are one entry, even if their addresses
 * differ. */
#ifndef ANALYSE_STACKS_H
#define ANALYSE_STACKS_H

#include "analyse/tags.h"
#include "profile/profile.h"

struct stack {
    const uint32_t *frames;    // Indices into p->frames, innermost first; depth of them.
    const uint32_t *locations; // Location of each frame; depth of them.
    uint32_t depth;            // 0 for the site "other".
    uint32_t flags;            // enum profile_node_flags of all nodes together.
    uint32_t node;             // Innermost node; any one of several with equal text.
    uint32_t heap;             // Index into p->heaps.
    uint32_t labels;           // Index into p->label_sets, or STACK_LABELS_SEVERAL.
    bool recursion_folded;     // The site's own stack, not only the outer part of its node's.
    uint32_t number;           // Its name for people, from 1 on; 0 before stack_numbers.
    uint32_t folded_depth;     // How many frames folding without options leaves; likewise.
    struct counters counters;  // All size classes of all nodes that read the same.
    struct errors errors;
};

#define STACK_LABELS_SEVERAL UINT32_MAX

struct stacks_options {
    struct tag_filter tags; // Keep only blocks of some heaps or labels.
    bool merge_labels;      // Stacks that only differ in labels are one.
    // Extended regular expressions; a unsymbolized function matches by its substitute
    const char *filter, *fold;
    bool fold_recursion; // Frames that repeat those further in are left out, see stacks.c.
    bool no_fold;        // Not even the built-in list (operator new, xmalloc, std::allocator, …).
    // A filter of the caller's own, or NULL: keeps SITE if true. Asked once per site that --filter
    // keeps. FRAMES are its DEPTH frames before folding, innermost first, seen at LOCATIONS.
    bool (*keep)(void *arg, const struct profile_site *site, const uint32_t *frames,
                 const uint32_t *locations, size_t depth);
    void *keep_arg;
    const bool *only; // By site: false skips the site; NULL = skip none.
};

struct stacks {
    struct stack *v;
    size_t count;
    struct counters total; // Sum over the stacks that the filter kept.
    struct errors errors;  // Share of the total.
    const uint32_t *site_stacks; // By site index: index into v plus 1; 0 = filtered out.
    bool filtered;               // At least one site was left out.
    size_t recorded;             // Stacks before folding and filtering that the tags keep.
    bool filter_matched;         // A recorded stack matched the filter; false without one.
};

/* Build the stacks of P. Everything in *RET is from ARENA. Returns 0, or HEAPTAP_USAGE with ERR set
 * when a regex is invalid. A stack whose frames would all be folded keeps its outermost one. */
int stacks_build(const struct profile *p, const struct stacks_options *options, struct arena *arena,
                 struct stacks *ret, struct err *err);

/* Return the stack of NODE, unfolded and unfiltered, without counters. From ARENA. */
struct stack stack_of_node(const struct profile *p, uint32_t node, struct arena *arena);

/* Return the inner ends of P's stacks, as stacks_build makes them without options or with
 * FOLD_RECURSION. Requires P to be symbolised; does not change it. From ARENA. */
struct stack_ends;
struct stack_ends *stack_ends_new(const struct profile *p, bool fold_recursion,
                                  struct arena *arena);

/* Innermost COUNT frames of the stack of NODE, which has a site, without counters; or the whole
 * stack, and then *RET_WHOLE is true. Valid until the next call. Frames further out cannot change
 * these, and all frames of a partial stack are useful (stack_useful_depth). */
struct stack stack_ends_read(struct stack_ends *e, uint32_t node, uint32_t count, bool *ret_whole);

/* Return true if the CALLS innermost locations alone determine the frames that E read last. */
bool stack_ends_are_known_from(const struct stack_ends *e, size_t calls);

/* Return the frames of S worth showing to people: without the C library's start-up code that calls
 * main or a thread's function. At least 1, unless S has none. */
uint32_t stack_useful_depth(const struct profile *p, const struct stack *s);

/* Return true if FUNCTION, a complete name, is start-up code of the C library, outside of main and
 * of thread functions. */
bool stack_function_is_start_up(const char *function);

/* The metrics of bytes, selected in the same way in every view. */
enum metric {
    METRIC_INUSE,     // Live bytes (at the end, or now).
    METRIC_PEAK,      // Bytes live at the process's peak.
    METRIC_ALLOC,     // Bytes ever allocated.
    METRIC_TEMPORARY, // Short-lived blocks (a count: it has no bytes): counters_within_16.
    METRIC_COUNT,     // Calls that allocated.
};

/* Set *RET to the metric called NAME: "inuse" "peak" "alloc" "temporary" "count". Return false for
 * any other. metric_name is the inverse. */
bool metric_parse(const char *name, enum metric *ret);
const char *metric_name(enum metric m);

/* Return M of C: bytes, or a count for TEMPORARY and COUNT. */
int64_t metric_value(const struct counters *c, enum metric m);

bool metric_is_bytes(enum metric m);

/* Return true if C stores M. A moment has neither a peak nor lifetimes. */
bool metric_is_known(const struct counters *c, enum metric m);

/* Like metric_is_known, for P; its peak stores live amounts only. */
bool metric_is_known_of(const struct profile *p, enum metric m);

/* Return the default metric for C, the totals of P: the peak, unless nearly all of it is still
 * live; then live bytes. Also live bytes for a moment or a stretch of time. */
enum metric metric_first(const struct profile *p, const struct counters *c);

/* Return true if S, built from P, which is valid, keeps the invariants above. Only reads; see
 * util/ensure.h. */
bool stacks_are_valid(const struct profile *p, const struct stacks *s);

#endif
