/* timeline_svg.h: pictures of what stacks held over time. They need no script and no network. */
#ifndef EXPORT_TIMELINE_SVG_H
#define EXPORT_TIMELINE_SVG_H

#include "analyse/timeline.h"
#include "util/strbuf.h"

/* The rows of T upon each other, and the rest. */
void timeline_svg(const struct profile *p, const struct timeline *t, struct arena *arena,
                  struct strbuf *out);

/* A flame chart: the call tree as nested boxes over time. Of OPTIONS, by and window count. */
void timeline_flame(const struct profile *p, const struct stacks *stacks,
                    const struct timeline_options *options, struct arena *arena,
                    struct strbuf *out);

#endif
