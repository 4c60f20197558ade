/* estimate.h: a sentence about estimates, for formats that have no place for errors. */
#ifndef EXPORT_ESTIMATE_H
#define EXPORT_ESTIMATE_H

#include "analyse/stacks.h"

/* Return "" if the values are exact. Otherwise return a sentence for a format's comments: how the
 * estimates were made, and the error bounds of the allocated and live bytes of STACKS. */
const char *export_estimate(const struct profile *p, const struct stacks *stacks,
                            struct arena *arena);

#endif
