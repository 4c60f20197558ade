/* graph_view.h: contents of a call graph, for display. */
#ifndef VIEW_GRAPH_VIEW_H
#define VIEW_GRAPH_VIEW_H

#include "analyse/callgraph.h"

struct graph_view {
    const struct callgraph *g;
    enum metric metric;
    const uint32_t *nodes; // Nodes with an entry.
    size_t count;
    size_t arcs; // Maximum number of callers and callees shown for each.
};

#endif
