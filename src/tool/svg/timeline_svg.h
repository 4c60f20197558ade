/* timeline_svg.h: stacked areas of rows over time. The picture needs no script and no network. */
#ifndef SVG_TIMELINE_SVG_H
#define SVG_TIMELINE_SVG_H

#include "analyse/timeline.h"
#include "util/strbuf.h"

/* Append a picture of T, a timeline of P, to OUT: its rows, and the rest, as stacked areas.
 * Temporary data is from ARENA. */
void timeline_svg(const struct profile *p, const struct timeline *t, struct arena *arena,
                  struct strbuf *out);

#endif
