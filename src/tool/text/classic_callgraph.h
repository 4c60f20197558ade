/* classic_callgraph.h: the call graph in the layout of the paper on mprof (1988). */
#ifndef TEXT_CLASSIC_CALLGRAPH_H
#define TEXT_CLASSIC_CALLGRAPH_H

#include "text/text_view.h"
#include "view/graph_view.h"

/* Write an entry for each of GV's nodes in the layout of the paper. */
void classic_callgraph(struct text_view *v, const struct graph_view *gv);

#endif
