/* timeline_flame.h: flame chart of stacks' memory over time. It needs no script and no network. */
#ifndef SVG_TIMELINE_FLAME_H
#define SVG_TIMELINE_FLAME_H

#include "analyse/timeline.h"
#include "util/strbuf.h"

/* Append a flame chart of STACKS, of P, to OUT: the call tree as nested boxes over time. Uses only
 * `by` and `window` of OPTIONS. Temporary data is from ARENA. */
void timeline_flame(const struct profile *p, const struct stacks *stacks,
                    const struct timeline_options *options, struct arena *arena,
                    struct strbuf *out);

#endif
