/* types.h: which types the blocks of a profile are. */
#ifndef TYPE_TYPES_H
#define TYPE_TYPES_H

#include "symbol/symbol.h"

/* Fill in P's types of the sizes that occurred, and what the blocks of each site are. P must be
 * symbolised. What has no debug information stays unknown; that is no failure. A second call does
 * nothing, and neither does one for a profile that came with types. */
void symbol_types(struct profile *p, const struct symbol_options *options);

#endif
