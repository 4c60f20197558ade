/* estimate.h: sentence about estimates, for formats without a place for errors. */
#ifndef EXPORT_ESTIMATE_H
#define EXPORT_ESTIMATE_H

#include "analyse/stacks.h"

/* Return "" if the values are exact, else a sentence for the comments of a format. It names the
 * recording mode and the error bounds of the allocated and live bytes of STACKS. From ARENA. */
const char *export_estimate(const struct profile *p, const struct stacks *stacks,
                            struct arena *arena);

#endif
