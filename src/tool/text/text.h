/* text.h: the views of this room for people. */
#ifndef TEXT_TEXT_H
#define TEXT_TEXT_H

#include "analyse/access_sites.h"
#include "analyse/callgraph.h"
#include "analyse/fields.h"
#include "analyse/group.h"
#include "analyse/leaks.h"
#include "analyse/source.h"
#include "analyse/timeline.h"
#include "analyse/totals.h"
#include "text/text_view.h"
#include "view/annotated_view.h"
#include "view/memory_view.h"
#include "view/session.h"
#include "view/style.h"
#include "view/view.h"

/* --- text_overview.c: the full report as text. */

/* Write the header, the totals, the recorder's losses and cost, and the sections. */
void text_overview(struct text_view *v);

/* --- text_brief.c: the first screen of a report. */

/* Write a summary of a profile in about 25 lines: totals, the one or two most informative metrics
 * with their functions, growing stacks, losses, further commands. The view's limit is the number of
 * functions per metric. */
void text_brief(struct text_view *v);

/* --- classic_callgraph.c: the call graph in the layout of the paper on mprof (1988). */

/* Write an entry for each of GV's nodes in the layout of the paper. */
void classic_callgraph(struct text_view *v, const struct graph_view *gv);

/* --- dot_callgraph.c: the call graph for Graphviz. */

/* Write a graph of the functions among GV's nodes. */
void dot_callgraph(struct text_view *v, const struct graph_view *gv);

/* --- text_callgraph.c: the call graph as text. */

/* Write an entry for each of GV's nodes, between its callers and callees. */
void text_callgraph(struct text_view *v, const struct graph_view *gv);

/* Return the name of NODE, "name", "name <cycle 1>" or "<cycle 1 as a whole>", cut to WIDTH unless
 * the view is wide. */
const char *text_node(const struct text_view *v, const struct callgraph *g, uint32_t node,
                      size_t width);

/* --- text_access.c: the use of blocks, as text. */

/* Write the accesses T of the view's profile: the rows that PICK selects. ACCESS_PICK_ALL selects
 * the first few hot, cold and unread rows. */
void text_access(struct text_view *v, const struct access_table *t, enum access_pick pick);

/* --- text_diff.c: a comparison as text. */

/* Append the comparison D to OUT, with at most DEPTH frames of each stack. */
void text_diff(const struct diff_view *d, const struct style *style, size_t depth,
               struct strbuf *out);

/* --- text_fields.c: structures and the use of their members, as text. */

/* Write the first structures of F, each as a picture of the cache lines with advice below. */
void text_fields(struct text_view *v, const struct fields *f);

/* --- text_function_totals.c: the memory that each function allocates itself, as text. */

/* Write a line for each function of D, up to the view's limit, with METRIC and live bytes. */
void text_function_totals(struct text_view *v, struct functions *f,
                          const struct function_totals *d, enum metric metric);

/* Write the functions of D in the layout of the paper on mprof (1988). */
void classic_function_totals(struct text_view *v, struct functions *f,
                             const struct function_totals *d);

/* --- text_groups.c: groupings as text. */

/* Write a table of the groups by BY, sorted by METRIC, up to the view's limit. */
void text_groups(struct text_view *v, enum group_by by, enum metric metric);

/* Append a sentence on the amount that inclusive values lack, if callers of some stacks are not
 * known. */
void text_truncated(struct text_view *v);

/* --- text_leaks.c: live blocks, as text. */

/* Write the sites with live blocks, up to the view's limit, and the bytes that SUPPRESSIONS
 * hide. */
void text_leaks(struct text_view *v, const struct leaks *leaks,
                const struct suppressions *suppressions);

/* Write the lines above the live blocks, of which there are COUNT, called NOUN; then the bytes that
 * shrinking stacks have lost, if there are any; and the BLOCKS with BYTES that suppressions
 * hide. */
void text_leaks_head(struct text_view *v, const struct leaks *leaks, size_t count,
                     const char *noun);
void text_leaks_shrunk(struct text_view *v, const struct leaks *leaks);
void text_suppressions(struct text_view *v, int64_t blocks, int64_t bytes,
                       const struct suppressions *suppressions);

/* --- text_memory.c: facts that only a process's memory has, as text. */

/* Write the answer to the question of M. */
void text_memory(struct text_view *v, const struct memory_view *m);

/* --- text_one_stack.c: one stack with all its amounts, as text. */

/* Write all amounts of D, which has at least one stack, and the stacks with their modules. HIGHEST
 * is the largest number of the profile. */
void text_one_stack(struct text_view *v, const struct stack_details *d, uint32_t highest);

/* --- text_paths.c: live blocks by partial path, as text. */

/* Write a line for each path, up to the view's limit, and the bytes that suppressions hide. */
void text_paths(struct text_view *v, const struct leak_paths *l);

/* Write the paths in the layout of the paper on mprof (1988). */
void classic_paths(struct text_view *v, const struct leak_paths *l);

/* --- text_rawdump.c: blocks found in copies of memory, as text. */

/* Write the whole view: memory read, rejected candidates, blocks by stack, corruptions. */
void text_rawdump(struct text_view *v, const struct annotated_view *found);

/* Return a line about the sizes and allocation times of the blocks of S, one of V's stacks. */
const char *text_rawdump_sizes(const void *found, const struct view *v, const struct stack *s);

/* --- text_session.c: a session as text. */

/* Write the totals over all processes of SET, and a line for each process, at most LIMIT (0 = the
 * default). */
void text_session(const struct view_set *set, const struct style *style, size_t limit,
                  struct arena *arena, struct strbuf *out);

/* --- text_size_totals.c: the allocation bins of a profile, as text. */

/* Write a histogram and the TOP bins with most bytes, largest first. If there are at most TOP bins,
 * write all by size. */
void text_size_totals(struct text_view *v, size_t top);

/* Write the table in mprof's layout: all bins by size, with whole percentages. */
void classic_size_totals(struct text_view *v);

/* Write Lisp objects by class and type. */
void text_lisp_size_totals(struct text_view *v);

/* --- text_source.c: source files with the memory that each line allocated, as text. */

struct source_text {
    const struct source *source;
    bool self; // Show values without callees.

    // Read the text of the file PATH into RET, which is empty. Return false if there is none.
    // Temporary data is from ARENA. The text may have any bytes: the shown part is cleaned.
    bool (*read)(void *arg, const char *path, struct arena *arena, struct strbuf *ret);
    void *read_arg;
};

/* Write the files of T, each line with its numbers. If a file has no text, write only the
 * numbers. */
void text_source(struct text_view *v, const struct source_text *t);

/* --- text_timeline.c: live memory of stacks over time, for a terminal. */

/* Write the total as a chart, with the peak and named snapshots, and a line with a sparkline for
 * each row. */
void text_timeline(struct text_view *v, const struct timeline *t);

/* --- text_tree.c: the tree of functions as text. */

/* Write the functions as a tree that branches in DIRECTION, with METRIC of each, and not deeper
 * than DEPTH (0 = no limit). The limit of V, if it has one, is the number of rows. */
void text_tree(struct text_view *v, enum tree_direction direction, enum metric metric,
               size_t depth);

#endif
