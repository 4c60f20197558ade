/* dot_callgraph.h: the call graph for Graphviz. */
#ifndef TEXT_DOT_CALLGRAPH_H
#define TEXT_DOT_CALLGRAPH_H

#include "text/text_view.h"
#include "view/graph_view.h"

/* Write a graph of the functions among GV's nodes. */
void dot_callgraph(struct text_view *v, const struct graph_view *gv);

#endif
