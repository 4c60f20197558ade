/* structures.h: the members of the types that blocks of a profile are. */
#ifndef TYPE_STRUCTURES_H
#define TYPE_STRUCTURES_H

#include "symbol/symbol.h"

/* Add to P the structures called NAMES (ids of strings), those that debug information knows. P must
 * be symbolised. What is not found is left out; that is no failure. To be called once. */
void symbol_structures(struct profile *p, const struct symbol_options *options,
                       const uint32_t *names, size_t count);

#endif
