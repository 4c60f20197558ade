/* graph_view.h: what to show of a call graph. */
#ifndef VIEW_GRAPH_VIEW_H
#define VIEW_GRAPH_VIEW_H

#include "analyse/callgraph.h"

struct graph_view {
    const struct callgraph *g;
    enum metric metric;
    const uint32_t *nodes; // Of the entries.
    size_t count;
    size_t arcs; // At most that many callers and callees of each.
};

#endif
