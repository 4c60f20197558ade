/* flamegraph.h: the interactive flame graph of one profile (export_flamegraph in export.h) or of
 * the difference between two.
 */
#ifndef EXPORT_FLAMEGRAPH_H
#define EXPORT_FLAMEGRAPH_H

#include "flame/flame_tree.h"
#include "util/strbuf.h"

/* Append an SVG of what changed from BEFORE to AFTER: a box is as wide as the larger of its two
 * values, summed over stacks; red grew, blue shrank. Shows METRIC first. */
void flamegraph_diff(const struct flame_side *before, const struct flame_side *after,
                     enum metric metric, struct strbuf *out);

#endif
