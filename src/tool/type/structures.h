/* structures.h: find the members of the structures that a profile's blocks have as types. */
#ifndef TYPE_STRUCTURES_H
#define TYPE_STRUCTURES_H

#include "symbol/symbol.h"

/* Add the structures NAMES (string ids) to P if debug information has them. Missing ones are not a
 * failure. P must be symbolised. Call once. */
void symbol_structures(struct profile *p, const struct symbol_options *options,
                       const uint32_t *names, size_t count);

#endif
