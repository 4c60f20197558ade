/* timeline_svg.h: a picture of rows over time. It needs no script and no network. */
#ifndef FLAME_TIMELINE_SVG_H
#define FLAME_TIMELINE_SVG_H

#include "analyse/timeline.h"
#include "util/strbuf.h"

/* Append a picture of the rows of T, and of the rest, as stacked areas. */
void timeline_svg(const struct profile *p, const struct timeline *t, struct arena *arena,
                  struct strbuf *out);

#endif
