/* flamegraph.h: interactive flame graph of a profile, or of the difference between two. */
#ifndef SVG_FLAMEGRAPH_H
#define SVG_FLAMEGRAPH_H

#include "export/exporter.h"
#include "svg/flame_tree.h"
#include "util/strbuf.h"

/* Writes all metrics, the chosen one first. */
export_fn export_flamegraph;

/* Append an SVG of the changes from BEFORE to AFTER, showing METRIC first. The width of a box is
 * the sum, over its stacks, of the larger of both values. Red boxes grew, blue ones shrank. */
void flamegraph_diff(const struct flame_side *before, const struct flame_side *after,
                     enum metric metric, struct strbuf *out);

#endif
