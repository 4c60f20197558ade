/* view_tables.h: the tables of mprof: leaks by path, direct allocation, and the call graph. Each as
 * text for people, in the layout of the paper of 1988 (classic), and as JSON (docs/json.md). They
 * write into a buffer and print nothing.
 */
#ifndef CLI_VIEW_TABLES_H
#define CLI_VIEW_TABLES_H

#include "analyse/callgraph.h"
#include "analyse/direct.h"
#include "analyse/paths.h"
#include "util/json_out.h"
#include "view/view_text.h"

struct leak_paths {
    const struct leaks *leaks;
    const struct suppressions *suppressions;
    const struct paths *paths;
    struct functions *functions;
    bool call_sites;
};

void text_paths(struct text_view *v, const struct leak_paths *l);
void classic_paths(struct text_view *v, const struct leak_paths *l);
void json_paths(struct json *j, const struct text_view *v, const struct leak_paths *l,
                size_t limit);

void text_direct(struct text_view *v, const struct functions *f, const struct direct *d,
                 enum metric metric);
void classic_direct(struct text_view *v, const struct functions *f, const struct direct *d);
void json_direct(struct json *j, const struct text_view *v, const struct functions *f,
                 const struct direct *d, enum metric metric, size_t limit);

/* What to show of a call graph. */
struct graph_view {
    const struct callgraph *g;
    enum metric metric;
    const uint32_t *nodes; // Of the entries.
    size_t count;
    size_t arcs; // At most that many callers and callees of each.
};

void text_callgraph(struct text_view *v, const struct graph_view *gv);
void classic_callgraph(struct text_view *v, const struct graph_view *gv);
void json_callgraph(struct json *j, const struct text_view *v, const struct graph_view *gv);

/* A graph for Graphviz of the functions among GV's nodes. */
void dot_callgraph(struct text_view *v, const struct graph_view *gv);

/* "name", "name <cycle 1>" or "<cycle 1 as a whole>", cut to WIDTH unless the view is wide. */
const char *text_node(const struct text_view *v, const struct callgraph *g, uint32_t node,
                      size_t width);

// A name gets that many columns, however narrow the terminal is.
enum { TEXT_NAME_MIN = 12 };

/* A bar of at most WIDTH letters for PART of WHOLE, each of the class of size that it stands for:
 * "ssmmmx". From ARENA. */
const char *text_classes(struct arena *arena, const struct amount *part, int64_t whole,
                         size_t width);

/* What the letters mean, on a line of its own. */
void text_classes_legend(struct text_view *v);

/* Four members s, m, l and x. */
void json_classes(struct json *j, const char *key, const struct amount *a);

/* The name of FUNCTION, clean, and cut to WIDTH unless the view is wide. */
const char *text_function(const struct text_view *v, const struct functions *f, uint32_t function,
                          size_t width);

/* "… 12 more rows; --limit shows more", if there are. */
void text_more(struct text_view *v, size_t shown, size_t count, const char *noun);

/* VALUE of a metric in as little room as possible. */
const char *text_short(struct arena *arena, int64_t value, enum metric metric);

#endif
