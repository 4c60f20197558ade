/* estimate.h: a sentence about estimates, for formats that have no place for errors. */
#ifndef EXPORT_ESTIMATE_H
#define EXPORT_ESTIMATE_H

#include "analyse/stacks.h"

/* "", or a sentence that the values are estimates, how they came about, and how far the allocated
 * and the live bytes of STACKS may be off. For the places where a format has comments. */
const char *export_estimate(const struct profile *p, const struct stacks *stacks,
                            struct arena *arena);

#endif
