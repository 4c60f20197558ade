/* view.h: contents of a profile for display, independent of the output format. */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include "analyse/callgraph.h"
#include "analyse/leaks.h"
#include "analyse/limit_check.h"
#include "analyse/stacks.h"
#include "analyse/totals.h"

struct json_tables;
struct view;

/* Facts from the command that the profile lacks. */
struct view_extra {
    const void *arg;
    // Return a line about S, one of the view's stacks, from the view's arena; NULL = none.
    const char *(*about)(const void *arg, const struct view *v, const struct stack *s);
    // Add members to the open object of the report in JSON.
    void (*members)(const void *arg, const struct view *v, struct json_tables *t);
};

struct view {
    const struct profile *p;
    const struct stacks *stacks;
    const char *filter;     // Text of the filter, or NULL.
    struct tag_filter tags; // As given, or empty.
    const char *label;      // Key of the label, for tables by the values of one label.
    // Memory that P was read from (image/examined.h); NULL if P is from a file.
    const struct examined *memory;
    struct arena *arena;    // Memory for data made for display.
    size_t limit;           // Maximum number of rows or sites; 0 = the view's default.
    const struct view_extra *extra; // NULL = none.
};

/* Contents of a comparison, for display. */

struct diff_view {
    const struct profile *before, *after;
    const struct diff *diff;
    enum diff_by by;
    enum metric metric;
    struct arena *arena;
    size_t limit; // Maximum number of rows.
    const struct limit_results *checked; // Results of limits; NULL = no limits.
};

/* Contents of a call graph, for display. */

struct graph_view {
    const struct callgraph *g;
    enum metric metric;
    const uint32_t *nodes; // Nodes with an entry.
    size_t count;
    size_t arcs; // Maximum number of callers and callees shown for each.
};

/* Live blocks by path, for display. */

struct leak_paths {
    const struct leaks *leaks;
    const struct suppressions *suppressions;
    const struct paths *paths;
    struct functions *functions;
    bool call_sites; // Show the places of calls.
};

/* --- backing.c: blocks that back the program's own heaps. */

/* Return the backings of the heaps in PICKS, most live bytes first. From the view's arena. */
const struct profile_backing **backing_sorted(const struct view *v, const struct tag_picks *picks,
                                              size_t *ret_count);

/* Return the share of HEAP's backing that its objects occupy, by METRIC: "62 % of 4.0 MiB". Return
 * "" if no backing is known, or if V shows only a part of the heap. */
const char *backing_fullness(const struct view *v, const struct profile_heap *heap,
                             enum metric metric);

#endif
