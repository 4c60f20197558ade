/* types.h: the types of the blocks of a profile. */
#ifndef TYPE_TYPES_H
#define TYPE_TYPES_H

#include "symbol/symbol.h"

/* Fill in P's types of the sizes that occurred, and the type of each site's blocks. P must be
 * symbolised. Types without debug information stay unknown; that is no failure. A second call has
 * no effect; neither has one for a profile with types. */
void symbol_types(struct profile *p, const struct symbol_options *options);

#endif
