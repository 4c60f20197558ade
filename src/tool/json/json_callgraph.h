/* json_callgraph.h: call graph as JSON. */
#ifndef JSON_JSON_CALLGRAPH_H
#define JSON_JSON_CALLGRAPH_H

#include "util/json_out.h"
#include "view/graph_view.h"
#include "view/view.h"

/* Write one document "heaptap-callgraph". */
void json_callgraph(struct json *j, const struct view *v, const struct graph_view *gv);

#endif
