/* text_callgraph.h: the call graph as text. */
#ifndef TEXT_TEXT_CALLGRAPH_H
#define TEXT_TEXT_CALLGRAPH_H

#include "text/text_view.h"
#include "view/graph_view.h"

/* Write an entry for each of GV's nodes, between its callers and callees. */
void text_callgraph(struct text_view *v, const struct graph_view *gv);

/* Return the name of NODE, "name", "name <cycle 1>" or "<cycle 1 as a whole>", cut to WIDTH unless
 * the view is wide. */
const char *text_node(const struct text_view *v, const struct callgraph *g, uint32_t node,
                      size_t width);

#endif
