/* json.h: the documents of this room, one function each. */
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include "analyse/access_sites.h"
#include "analyse/callgraph.h"
#include "analyse/fields.h"
#include "analyse/group.h"
#include "analyse/leaks.h"
#include "analyse/source.h"
#include "analyse/timeline.h"
#include "analyse/totals.h"
#include "json/json_tables.h"
#include "util/json_out.h"
#include "view/annotated_view.h"
#include "view/memory_view.h"
#include "view/session.h"
#include "view/view.h"

/* --- json_report.c: the report as JSON. */

/* Write one document "heaptap-report" with at most LIMIT sites. */
void json_report(struct json *j, const struct view *v, enum metric metric, size_t limit);

/* Like json_report with all sites. MORE is called at the end and adds members to T's document. */
typedef void json_more(struct json_tables *t, const struct view *v,
                       const struct stack *const *sites, void *arg);
void json_report_more(struct json *j, const struct view *v, enum metric metric, json_more *more,
                      void *arg);

/* Like json_report, with the stacks of D as sites, and a member "numbered" with the amounts of D by
 * size and type. HIGHEST is the largest number of the profile. */
void json_one_stack(struct json *j, const struct view *v, enum metric metric,
                    const struct stack_details *d, uint32_t highest);

/* Like json_report, with "rows" instead of sites. */
void json_groups(struct json *j, const struct view *v, enum group_by by, enum metric metric,
                 size_t limit);

/* Like json_report, with "tree" instead of sites: a list in pre-order with "depth". It has at most
 * V's limit of nodes, and none deeper than DEPTH; 0 = no limit. */
void json_tree(struct json *j, const struct view *v, enum tree_direction direction,
               enum metric metric, size_t depth);

/* --- json_callgraph.c: call graph as JSON. */

/* Write one document "heaptap-callgraph". */
void json_callgraph(struct json *j, const struct view *v, const struct graph_view *gv);

/* --- json_diff.c: comparison as JSON. */

/* Write one document "heaptap-diff". */
void json_diff(struct json *j, const struct diff_view *v);

/* --- json_fields.c: structures and the use of their members, as JSON. docs/json.md is the
 * contract. */

/* Write one document "heaptap-fields": the first LIMIT structures of F. */
void json_fields(struct json *j, const struct view *v, const struct fields *f, size_t limit);

/* --- json_function_totals.c: memory that each function allocates itself, as JSON. */

/* Write one document "heaptap-direct" with at most LIMIT functions. */
void json_function_totals(struct json *j, const struct view *v, struct functions *f,
                          const struct function_totals *d, enum metric metric, size_t limit);

/* --- json_leaks.c: live blocks as JSON. */

/* Write one document "heaptap-leaks" with at most LIMIT sites. */
void json_leaks(struct json *j, const struct view *v, const struct leaks *leaks,
                const struct suppressions *suppressions, size_t limit);

/* Write "shrunk", if the profile is between two moments: the stacks that LEAKS omits because they
 * have fewer live blocks or bytes than before. */
void json_shrunk(struct json *j, const struct view *v, const struct leaks *leaks);

/* Write "suppressed": BLOCKS with BYTES, and those that each suppression hid. */
void json_suppressions(struct json *j, int64_t blocks, int64_t bytes,
                       const struct suppressions *suppressions);

/* --- json_memory.c: facts that only a process's memory has, as JSON. */

/* Write the member "memory": the process or dump that V's profile was read from, and its end.
 * Writes nothing if the profile is a file. */
void json_memory_member(struct json_tables *t, const struct view *v);

/* Write one document "heaptap-memory" with the answers to the queries in M. Lists have at most
 * LIMIT entries. */
void json_memory(struct json *j, const struct view *v, const struct memory_view *m, size_t limit);

/* --- json_heapsnapshot.c: the graph of blocks for DevTools. */

struct retain_view;

/* Write R's graph, of the profile of V, as a heap snapshot of V8. R is by root. */
void json_heapsnapshot(struct json *j, const struct view *v, const struct retain_view *r);

/* --- json_page.c: all data of a profile's page, as JSON. */

struct json_page {
    const struct view *view;   // View of the profile. Its stacks are as recorded, and have numbers.
    const struct view *before; // The first of two profiles, or NULL.
    enum metric metric;        // Metric to show first.
    const struct stacks_options *options; // Filter of the views.
    // Return the text of the source FILE, a path as in frames, or NULL if it cannot be read. Valid
    // until the next call. Called for the files of the largest stacks first. If the pointer is
    // NULL, sources are omitted.
    const char *(*source)(void *arg, const char *file);
    void *source_arg;
};

/* Write one document "heaptap-page". */
void json_page(struct json *j, const struct json_page *page);

/* --- json_paths.c: live blocks by partial path, as JSON. */

/* Write one document "heaptap-leak-paths" with at most LIMIT paths. */
void json_paths(struct json *j, const struct view *v, const struct leak_paths *l, size_t limit);

/* --- json_rawdump.c: blocks found in copies of memory, as JSON. */

/* Write the member "memory" of a report. FOUND is a struct annotated_view. */
void json_rawdump(const void *found, const struct view *v, struct json_tables *t);

/* --- json_session.c: a session as JSON. */

/* Begin a document about SET. Its list "profiles" stays open for the documents of its processes.
 * Temporary data is from ARENA. */
void json_session_begin(struct json *j, const struct view_set *set, struct arena *arena);

/* Close the list and the document. */
void json_session_end(struct json *j);

/* --- json_size_totals.c: allocation bins as JSON. */

/* Write the number of allocations from P's own heaps, which no size includes. */
void json_calls_of_heaps(struct json *j, const struct profile *p);

/* Write one document "heaptap-bins", with the bins selected and sorted as in text. */
void json_size_totals(struct json *j, const struct view *v, size_t top);

/* Write Lisp objects by class and type, in such a document. */
void json_lisp_size_totals(struct json *j, const struct view *v);

/* --- json_source.c: source lines as JSON. */

/* Write one document "heaptap-source". */
void json_source(struct json *j, const struct view *v, const struct source *source);

/* --- json_timeline.c: live bytes of stacks over time, as JSON. */

/* Write one document "heaptap-timeline". */
void json_timeline(struct json *j, const struct view *v, const struct timeline *t);

/* --- json_access.c: accesses as JSON. docs/json.md is the contract. */

/* Write one document "heaptap-access": the first LIMIT of the rows of T that PICK selects. */
void json_access(struct json *j, const struct view *v, const struct access_table *t,
                 enum access_pick pick, size_t limit);

/* Write the member "counting": how P's accesses were counted, and their losses; null if they were
 * not counted. */
void json_counting(struct json *j, const struct profile *p);

#endif
