/* flamegraph.h: the interactive flame graph of one profile or of the difference between two. */
#ifndef FLAME_FLAMEGRAPH_H
#define FLAME_FLAMEGRAPH_H

#include "export/exporter.h"
#include "flame/flame_tree.h"
#include "util/strbuf.h"

/* All metrics; the chosen one is shown first. */
export_fn export_flamegraph;

/* Append an SVG of the changes from BEFORE to AFTER: a box is as wide as the larger of its two
 * values, summed over stacks; red grew, blue shrank. Shows METRIC first. */
void flamegraph_diff(const struct flame_side *before, const struct flame_side *after,
                     enum metric metric, struct strbuf *out);

#endif
