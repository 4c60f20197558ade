/* svg.h: the pictures of this room, one function each. */
#ifndef SVG_SVG_H
#define SVG_SVG_H

#include "analyse/fields.h"
#include "analyse/timeline.h"
#include "export/exporter.h"
#include "svg/flame_tree.h"
#include "util/strbuf.h"

/* --- flamegraph.c: interactive flame graph of a profile, or of the difference between two. */

/* Writes all metrics, the chosen one first. */
export_fn export_flamegraph;

/* Append an SVG of the changes from BEFORE to AFTER, showing METRIC first. The width of a box is
 * the sum, over its stacks, of the larger of both values. Red boxes grew, blue ones shrank. */
void flamegraph_diff(const struct flame_side *before, const struct flame_side *after,
                     enum metric metric, struct strbuf *out);

/* --- fields_svg.c: structures as heat maps of their cache lines, in one SVG file. */

/* Append the picture of the first LIMIT structures of F, of P, to OUT. */
void fields_svg(const struct profile *p, const struct fields *f, size_t limit, struct strbuf *out);

/* --- timeline_flame.c: flame chart of stacks' memory over time. It needs no script and no
 * network. */

/* Append a flame chart of STACKS, of P, to OUT: the call tree as nested boxes over time. Uses only
 * `by` and `window` of OPTIONS. Temporary data is from ARENA. */
void timeline_flame(const struct profile *p, const struct stacks *stacks,
                    const struct timeline_options *options, struct arena *arena,
                    struct strbuf *out);

/* --- timeline_svg.c: stacked areas of rows over time. The picture needs no script and no
 * network. */

/* Append a picture of T, a timeline of STACKS of P, to OUT: its rows, and the rest, as stacked
 * areas. Temporary data is from ARENA. */
void timeline_svg(const struct profile *p, const struct stacks *stacks, const struct timeline *t,
                  struct arena *arena, struct strbuf *out);

#endif
