/* types.h: find the types of a profile's blocks. */
#ifndef TYPE_TYPES_H
#define TYPE_TYPES_H

#include "symbol/symbol.h"

/* Fill in P's types of the sizes that occurred, and the type of each site's blocks. P must be
 * symbolised. Types without debug information stay unknown; that is not a failure. A call has no
 * effect if P already has types. */
void symbol_types(struct profile *p, const struct symbol_options *options);

#endif
